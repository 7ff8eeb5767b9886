//! Examples: for every field a value that fits its kind and its rules, the same at every start.

use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::{Map, Value, json};

use super::given::{Write, is_given, literal};
use super::{digits, prose};
use crate::catalog::{Catalog, Entry, snake_case};
use crate::meta::{DefaultValue, FieldMeta, Kind, Rule, Shown, TimestampForm};
use crate::number;

/// Makes examples for the resources of a catalog.
#[derive(Debug, Clone, Copy)]
pub struct Examples<'a> {
    pub catalog: &'a Catalog,
}

impl Examples<'_> {
    /// A whole record with the fields that `wanted` picks.
    pub fn record(self, entry: &Entry, wanted: impl Fn(&FieldMeta) -> bool) -> Value {
        let fields = entry.meta.fields.iter().filter(|field| field.shown != Shown::Never && wanted(field));
        Value::Object(fields.map(|field| (field.name.to_string(), self.of_field(entry, field))).collect())
    }

    /// A body of a write.
    pub fn body(self, entry: &Entry, write: Write) -> Value {
        let parent = entry.meta.under.map(|under| under.field);
        let fields = entry.meta.fields.iter().filter(|field| is_given(field, write) && Some(field.name) != parent);
        // A change names what it changes; one field shows that.
        let most = if write == Write::Update { 1 } else { usize::MAX };
        Value::Object(fields.take(most).map(|field| (field.name.to_string(), self.given(entry, field))).collect())
    }

    /// A field as the server writes it.
    pub fn of_field(self, entry: &Entry, field: &'static FieldMeta) -> Value {
        match field.kind {
            Kind::Derived { .. } if field.example.is_empty() => {
                let source = entry.source(field);
                match source.labels {
                    Some(labels) => labels.first().map_or(Value::Null, |(_, label)| json!(label)),
                    None => self.value(source.field),
                }
            }
            Kind::Embedded { resource, by } => {
                let target = self.catalog.get(resource);
                let shown = |f: &FieldMeta| f.shown == Shown::Always && f.name != by && !f.name.ends_with("ed_at");
                json!([self.record(target, shown)])
            }
            _ => self.value(field),
        }
    }

    /// A field as a client gives it.
    pub fn given(self, entry: &Entry, field: &'static FieldMeta) -> Value {
        match field.kind {
            Kind::Embedded { resource, by } => {
                let target = self.catalog.get(resource);
                let fields = target.meta.fields.iter().filter(|f| is_given(f, Write::Create) && f.name != by);
                let item: Map<_, _> = fields.map(|f| (f.name.to_string(), self.given(target, f))).collect();
                json!([item])
            }
            _ => self.of_field(entry, field),
        }
    }

    /// A parameter of an action, or a field of its answer.
    pub fn of_parameter(self, field: &'static FieldMeta) -> Value {
        self.value(field)
    }

    /// The answer of an action that has fields of its own.
    pub fn output(self, fields: &'static [FieldMeta]) -> Value {
        Value::Object(fields.iter().map(|field| (field.name.to_string(), self.of_parameter(field))).collect())
    }

    fn value(self, field: &'static FieldMeta) -> Value {
        let later = field.rules.iter().any(|rule| matches!(rule, Rule::After(_) | Rule::NotBefore(_)));
        let default = match field.default {
            DefaultValue::Literal(text) => text,
            _ => "",
        };
        let said = if field.example.is_empty() { default } else { field.example };
        match field.kind {
            Kind::Decimal { places, .. } => json!(decimal(field, said, u32::from(places))),
            Kind::Timestamp { form } if field.example.is_empty() => json!(time(form, later)),
            Kind::Date if field.example.is_empty() => json!(if later { "2026-03-22" } else { "2026-03-21" }),
            kind if !said.is_empty() => literal(kind, said),
            Kind::String { max } => json!(self.text(field, Some(max))),
            Kind::Text => json!(self.text(field, None)),
            Kind::Integer => json!(
                digits::bounds(field).least.unwrap_or(1).max(1).min(digits::bounds(field).most.unwrap_or(i64::MAX))
            ),
            Kind::BigInt | Kind::Ref { .. } | Kind::PolymorphicRef { .. } => json!(1),
            Kind::Boolean => json!(true),
            Kind::Enum { values } => values.first().map_or(Value::Null, |word| json!(word)),
            Kind::PolymorphicType { type_names } => type_names.first().map_or(Value::Null, |name| json!(name)),
            Kind::Code { values } => values.first().map_or(Value::Null, |(code, _)| json!(code)),
            Kind::StringList { .. } => json!([prose::words(field.name)]),
            Kind::RefList { .. } => json!([1]),
            Kind::Uuid => json!("0f8fad5b-d9cb-469f-a165-70867728950e"),
            Kind::Json | Kind::CustomFields => json!({}),
            Kind::Computed { .. } => json!("https://example.com/files/1"),
            Kind::Timestamp { .. } | Kind::Date | Kind::Derived { .. } | Kind::Embedded { .. } => Value::Null,
        }
    }

    fn text(self, field: &FieldMeta, max: Option<u32>) -> String {
        for rule in field.rules {
            match rule {
                Rule::Url => return "https://example.com/hook".into(),
                Rule::Email => return "ada@example.com".into(),
                Rule::Pattern(pattern) => return matching(pattern),
                Rule::Exists { resource, field } => {
                    let target = self.catalog.get(resource);
                    if let Some(field) = target.field(field) {
                        return self.value(field).as_str().unwrap_or_default().to_string();
                    }
                }
                _ => {}
            }
        }
        if let Some(name) = self.of_resource(field.name) {
            return name.to_string();
        }
        let words = prose::capital(&prose::words(field.name));
        words.chars().take(max.map_or(usize::MAX, |max| max as usize)).collect::<String>().trim_end().to_string()
    }
}

impl Examples<'_> {
    /// What a field holds that names a resource which has custom fields, or attachments.
    fn of_resource(self, field: &str) -> Option<&'static str> {
        match field {
            "entity_type" => self.catalog.entries().iter().find(|e| e.meta.custom_fields).map(|e| e.meta.plural),
            "attachable_type" => self.catalog.attachables().next().map(|e| e.meta.type_name),
            _ => None,
        }
    }
}

/// The default where it is something, else one, within the bounds.
fn decimal(field: &FieldMeta, said: &str, places: u32) -> String {
    let one = 10_i64.pow(places);
    let said = match number::scale(said, places) {
        Some(number::Scaled::Exact(number)) if number != 0 || !field.example.is_empty() => Some(number),
        _ => None,
    };
    let bounds = digits::bounds(field);
    let least = said.unwrap_or(one).max(bounds.least.unwrap_or(i64::MIN));
    let mut text = String::new();
    number::write(&mut text, least.min(bounds.most.unwrap_or(i64::MAX)), places);
    text
}

fn time(form: TimestampForm, later: bool) -> String {
    let time = prose::timestamp(form);
    if later { time.replacen("03-21", "03-22", 1) } else { time.to_string() }
}

/// The first text that a regular expression matches.
fn matching(pattern: &str) -> String {
    let mut text = String::new();
    if let Ok(hir) = regex_syntax::parse(pattern) {
        write(&hir, &mut text);
    }
    text
}

fn write(hir: &Hir, text: &mut String) {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(Class::Unicode(class)) => text.extend(class.ranges().first().map(|range| range.start())),
        HirKind::Class(Class::Bytes(class)) => {
            text.extend(class.ranges().first().map(|range| char::from(range.start())))
        }
        HirKind::Repetition(repetition) => (0..repetition.min).for_each(|_| write(&repetition.sub, text)),
        HirKind::Capture(capture) => write(&capture.sub, text),
        HirKind::Concat(parts) => parts.iter().for_each(|part| write(part, text)),
        HirKind::Alternation(parts) => parts.iter().take(1).for_each(|part| write(part, text)),
    }
}

/// The name under which an include stands in a record.
pub fn include_key(name: &str) -> String {
    snake_case(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_matches_its_pattern() {
        for pattern in ["[A-Z]{3}", "[0-9]{13}", "[a-z][a-z0-9_]*", "(red|blue)-[0-9]+", "[A-Za-z][A-Za-z0-9_+-]*(/x)*"]
        {
            let text = matching(pattern);
            assert!(regex::Regex::new(&format!("^(?:{pattern})$")).unwrap().is_match(&text), "{pattern}: {text}");
        }
    }
}
