//! Deterministic example values that satisfy the kind and the rules of a field.

use charter_model::naming;
use charter_model::sequence::SequenceFormat;
use serde_json::{Map, Value, json};

use super::request_schema::{Write, can_set, literal};
use super::sample_text::{self, Length};
use super::{english, number_pattern};
use charter_core::catalog::{Catalog, Entry};
use charter_core::meta::{DefaultValue, FieldMeta, Kind, Rule, Shown, TimestampForm};
use charter_core::number;

/// Examples for the resources of a catalog.
#[derive(Debug, Clone, Copy)]
pub(super) struct Examples<'a> {
    pub catalog: &'a Catalog,
}

impl Examples<'_> {
    /// A record with the fields that `wanted` selects.
    pub(super) fn record(self, entry: &Entry, wanted: impl Fn(&FieldMeta) -> bool) -> Value {
        let fields = entry.meta.fields.iter().filter(|field| field.shown != Shown::Never && wanted(field));
        Value::Object(fields.map(|field| (field.name.to_string(), self.of_field(entry, field))).collect())
    }

    /// A body of a write.
    pub(super) fn body(self, entry: &Entry, write: Write) -> Value {
        let parent = entry.meta.under.map(|under| under.field);
        let fields = entry.meta.fields.iter().filter(|field| can_set(field, write) && Some(field.name) != parent);
        // One field suffices as an example of a change.
        let max = if write == Write::Update { 1 } else { usize::MAX };
        Value::Object(
            fields.take(max).map(|field| (field.name.to_string(), self.request_value(entry, field))).collect(),
        )
    }

    /// A field in a response.
    pub(super) fn of_field(self, entry: &Entry, field: &'static FieldMeta) -> Value {
        match field.kind {
            Kind::Derived { .. } if field.example.is_empty() => {
                let source = entry.source(field);
                match source.labels {
                    Some(labels) => labels.first().map_or(Value::Null, |(_, label)| json!(label)),
                    None => self.value(source.field),
                }
            }
            Kind::Embedded { resource, by } => {
                let target = self.catalog.linked(resource);
                let shown = |f: &FieldMeta| f.shown == Shown::Always && f.name != by && !f.name.ends_with("ed_at");
                json!([self.record(target, shown)])
            }
            // A value that equals another field has the example of that field.
            _ => match field.rules.iter().find_map(|rule| matched(entry, rule)) {
                Some(other) => self.value(other),
                None => self.value(field),
            },
        }
    }

    /// A field in a request.
    pub(super) fn request_value(self, entry: &Entry, field: &'static FieldMeta) -> Value {
        match field.kind {
            Kind::Embedded { resource, by } => {
                let target = self.catalog.linked(resource);
                let fields = target.meta.fields.iter().filter(|f| can_set(f, Write::Create) && f.name != by);
                let item: Map<_, _> = fields.map(|f| (f.name.to_string(), self.request_value(target, f))).collect();
                json!([item])
            }
            _ => self.of_field(entry, field),
        }
    }

    /// A parameter of an action, or a field of its output.
    pub(super) fn of_parameter(self, field: &'static FieldMeta) -> Value {
        self.value(field)
    }

    /// The output of an action.
    pub(super) fn output(self, fields: &'static [FieldMeta]) -> Value {
        Value::Object(fields.iter().map(|field| (field.name.to_string(), self.of_parameter(field))).collect())
    }

    fn value(self, field: &'static FieldMeta) -> Value {
        let later = field.rules.iter().any(|rule| matches!(rule, Rule::After(_) | Rule::NotBefore(_)));
        let default = match field.default {
            DefaultValue::Literal(text) => text,
            _ => "",
        };
        let text = if field.example.is_empty() { default } else { field.example };
        match field.kind {
            Kind::Decimal { places, .. } => json!(decimal(field, text, u32::from(places))),
            Kind::Timestamp { form } if field.example.is_empty() => json!(time(form, later)),
            kind if !text.is_empty() => literal(kind, text),
            Kind::String { max } => json!(self.text(field, Some(max))),
            Kind::Text => json!(self.text(field, None)),
            Kind::Integer | Kind::BigInt => {
                let bounds = number_pattern::bounds(field);
                json!(bounds.least.unwrap_or(1).max(1).min(bounds.most.unwrap_or(i64::MAX)))
            }
            Kind::Ref { .. } | Kind::PolymorphicRef { .. } => json!(1),
            Kind::Boolean => json!(true),
            Kind::Enum { values } => values.first().map_or(Value::Null, |word| json!(word)),
            Kind::PolymorphicType { type_names } => type_names.first().map_or(Value::Null, |name| json!(name)),
            Kind::Code { values } => values.first().map_or(Value::Null, |(code, _)| json!(code)),
            Kind::StringList { max } => {
                let one = sample_text::words(&english::words(field.name), Length { least: 1, most: max as usize });
                json!(vec![one.to_lowercase(); elements(field)])
            }
            Kind::RefList { .. } | Kind::Links { .. } => json!((1..=elements(field)).collect::<Vec<_>>()),
            Kind::Json | Kind::CustomFields => json!({}),
            Kind::Computed { .. } => json!("https://example.com/files/1"),
            kind => match &kind.facts().format {
                Some(format) => json!(if later { format.later } else { format.example }),
                None => Value::Null,
            },
        }
    }

    fn text(self, field: &FieldMeta, max: Option<u32>) -> String {
        if let (false, Ok(format)) = (field.sequence.is_empty(), SequenceFormat::read(field.sequence)) {
            return format.frame(2026, 3).text(1);
        }
        let length = Length::of(field, max);
        for rule in field.rules {
            match rule {
                Rule::Url => return sample_text::url(length),
                Rule::Email => return sample_text::email(length),
                Rule::Pattern(pattern) => return sample_text::matching(pattern, length),
                Rule::Exists { resource, field } => {
                    let target = self.catalog.linked(resource);
                    if let Some(field) = target.field(field) {
                        return self.value(field).as_str().unwrap_or_default().to_string();
                    }
                }
                _ => {}
            }
        }
        if let Some(name) = self.resource_name(field.name) {
            return name.to_string();
        }
        sample_text::words(&english::words(field.name), length)
    }
}

impl Examples<'_> {
    /// The value of a field that names a resource with custom fields or attachments.
    fn resource_name(self, field: &str) -> Option<&'static str> {
        match field {
            "entity_type" => self.catalog.entries().iter().find(|e| e.meta.custom_fields).map(|e| e.meta.plural),
            "attachable_type" => self.catalog.attachables().next().map(|e| e.meta.type_name),
            _ => None,
        }
    }
}

/// The field that a rule says this one equals.
fn matched(entry: &Entry, rule: &Rule) -> Option<&'static FieldMeta> {
    match rule {
        Rule::MatchesField(other) => entry.field(other),
        _ => None,
    }
}

/// Number of elements of an example list: one, or the nearest number that the rules allow.
fn elements(field: &FieldMeta) -> usize {
    field.rules.iter().fold(1, |count, rule| match rule {
        Rule::MinLength(least) => count.max(*least as usize),
        Rule::MaxLength(most) => count.min(*most as usize),
        _ => count,
    })
}

/// The example or a default other than zero, else one, within the bounds.
fn decimal(field: &FieldMeta, text: &str, places: u32) -> String {
    let one = 10_i64.pow(places);
    let given = match number::scale(text, places) {
        Some(number::Scaled::Exact(number)) if number != 0 || !field.example.is_empty() => Some(number),
        _ => None,
    };
    let bounds = number_pattern::bounds(field);
    let limit = number_pattern::limit(field.kind);
    let least = given.unwrap_or(one).max(bounds.least.unwrap_or(-limit));
    let mut text = String::new();
    number::write(&mut text, least.min(bounds.most.unwrap_or(limit)), places);
    text
}

fn time(form: TimestampForm, later: bool) -> String {
    let time = english::timestamp(form);
    if later { time.replacen("03-21", "03-22", 1) } else { time.to_string() }
}

/// The key of an include in a record.
pub(super) fn include_key(name: &str) -> String {
    naming::snake(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: Kind, rules: &'static [Rule]) -> Value {
        let field = Box::leak(Box::new(FieldMeta { rules, ..FieldMeta::new("some_words", kind) }));
        Examples { catalog: &Catalog::link(Vec::new()).unwrap() }.of_parameter(field)
    }

    #[test]
    fn examples_satisfy_the_rules_of_their_fields() {
        let share = Kind::Decimal { precision: 2, places: 2 };
        assert_eq!(of(share, &[]), json!("0.99"));
        assert_eq!(of(share, &[Rule::Max("0.5")]), json!("0.50"));
        assert_eq!(of(Kind::Decimal { precision: 18, places: 18 }, &[]), json!("0.999999999999999999"));
        assert_eq!(of(Kind::BigInt, &[Rule::Above("5000000000")]), json!(5_000_000_001_i64));
        assert_eq!(of(Kind::BigInt, &[Rule::Max("-3")]), json!(-3));
        assert_eq!(of(Kind::String { max: 12 }, &[Rule::Url]), json!("http://a.eu"));
        assert_eq!(of(Kind::String { max: 4 }, &[Rule::Email]), json!("a@b"));
        assert_eq!(of(Kind::Text, &[Rule::MinLength(22)]), json!("Some words some words some words"));
        assert_eq!(of(Kind::StringList { max: 2 }, &[Rule::MinLength(3)]), json!(["so", "so", "so"]));
        assert_eq!(of(Kind::RefList { resource: "user" }, &[Rule::MaxLength(0)]), json!([]));
        assert_eq!(of(Kind::RefList { resource: "user" }, &[Rule::MinLength(2)]), json!([1, 2]));
    }
}
