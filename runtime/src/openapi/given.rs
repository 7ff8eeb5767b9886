//! Schemas of what clients send: each field with every form in which the server reads it.
//!
//! Null leaves a field as it is, and `""` clears one that may be null (the specification, "Update semantics"). Numbers
//! and booleans are also read from text, as forms and query strings send them.

use serde_json::{Value, json};

use super::digits;
use super::example::Examples;
use super::node::{Node, reference};
use super::{prose, shown};
use crate::catalog::{Catalog, Entry};
use crate::meta::{Access, DefaultValue, FieldMeta, Kind, Rule, Shown};
use crate::ops::input::embedded;
use crate::query::MAX_LIST_ELEMENTS;

/// A boolean in words or as a digit.
pub const BOOLEAN_WORD: &str = "BooleanWord";
/// What a custom field can be given.
pub const CUSTOM_VALUE: &str = "CustomFieldValue";

/// Which write it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Write {
    Create,
    Update,
    /// The parameters of an action.
    Action,
}

/// Whether clients give the field at all in such a write.
pub fn is_given(field: &FieldMeta, write: Write) -> bool {
    let fits = match field.access {
        Access::Writable | Access::WriteOnly | Access::Secret => true,
        Access::Immutable => write != Write::Update,
        Access::ReadOnly | Access::Internal => false,
    };
    fits && !matches!(field.kind, Kind::Derived { .. } | Kind::Computed { .. })
}

/// The body of a write: an object of the fields that clients give.
pub fn body(catalog: &Catalog, entry: &Entry, write: Write) -> Node {
    let (mut properties, mut required) = (Node::object(), Vec::new());
    let parent = entry.meta.under.map(|under| under.field);
    for meta in entry.meta.fields.iter().filter(|field| is_given(field, write) && Some(field.name) != parent) {
        if meta.required && write == Write::Create {
            required.push(meta.name);
        }
        properties.set(meta.name, field(catalog, entry.meta.fields, meta, write, Some(entry)));
    }
    let others = entry.meta.fields.iter().filter(|field| field.shown != Shown::Never);
    send_back(catalog, entry, others, &mut properties);
    object(properties, &required)
}

/// What is shown of a record and not given: it is taken with the rest, because what was read may be sent back.
fn send_back(
    catalog: &Catalog,
    entry: &Entry,
    fields: impl Iterator<Item = &'static FieldMeta>,
    properties: &mut Node,
) {
    for meta in fields {
        if properties.get(meta.name).is_none() {
            properties.set(meta.name, shown::field(catalog, entry, meta).with("readOnly", true));
        }
    }
}

/// An object that has these properties and no others.
pub fn object(properties: Node, required: &[&str]) -> Node {
    let schema = Node::object().with("type", "object");
    let schema = if required.is_empty() { schema } else { schema.with("required", required.to_vec()) };
    schema.with("additionalProperties", false).with("properties", properties)
}

/// A field as a write gives it.
pub fn field(
    catalog: &Catalog,
    fields: &'static [FieldMeta],
    field: &'static FieldMeta,
    write: Write,
    entry: Option<&Entry>,
) -> Node {
    let mut forms = forms(catalog, field, write);
    if clears(field) {
        forms.push(json!({ "const": "" }).into());
    }
    // What must be given is not given by null.
    if !(field.required && write != Write::Update) {
        forms.push(json!({ "type": "null" }).into());
    }
    let examples = Examples { catalog };
    let example = match entry {
        Some(entry) => examples.given(entry, field),
        None => examples.of_parameter(field),
    };
    let description = prose::field(catalog, fields, field);
    shown::titled(merged(forms), field)
        .with_some("default", default(field).filter(|_| write != Write::Update))
        .with_some("writeOnly", matches!(field.access, Access::WriteOnly | Access::Secret).then_some(true))
        .with("description", description)
        .with("examples", vec![example])
}

/// Whether the empty text stands for no value, and is not allowed as text anyway.
fn clears(field: &FieldMeta) -> bool {
    match field.kind {
        Kind::Text | Kind::String { .. } => field.nullable && field.rules.iter().any(narrows_text),
        Kind::StringList { .. } | Kind::RefList { .. } => {
            !field.rules.iter().any(|rule| matches!(rule, Rule::MinLength(n) if *n > 0))
        }
        Kind::Embedded { .. } => true,
        Kind::Json => field.nullable || field.default == DefaultValue::Literal("[]"),
        _ => field.nullable,
    }
}

/// The default as a value of its type.
fn default(field: &FieldMeta) -> Option<Value> {
    let DefaultValue::Literal(text) = field.default else { return None };
    Some(literal(field.kind, text))
}

/// Text of the metadata as the value that clients see.
pub fn literal(kind: Kind, text: &str) -> Value {
    match kind {
        Kind::Boolean => json!(text == "true"),
        Kind::Integer | Kind::BigInt | Kind::Code { .. } | Kind::Ref { .. } | Kind::PolymorphicRef { .. } => {
            text.trim().parse::<i64>().map_or_else(|_| json!(text), |number| json!(number))
        }
        Kind::Json => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        Kind::StringList { .. } => json!(text.split(',').map(str::trim).collect::<Vec<_>>()),
        Kind::RefList { .. } => {
            json!(text.split(',').filter_map(|id| id.trim().parse::<i64>().ok()).collect::<Vec<_>>())
        }
        _ => json!(text),
    }
}

/// One schema that allows what each of several allows. Where they are plain types it is one list of types.
fn merged(mut forms: Vec<Node>) -> Node {
    let null: Node = json!({ "type": "null" }).into();
    if forms.len() == 2 && forms[1] == null {
        let (first, kind) = (forms[0].clone(), forms[0].get("type").cloned());
        let kinds = match kind {
            Some(Node::Value(kind)) if kind.is_string() => Some(vec![Node::Value(kind)]),
            Some(Node::List(kinds)) => Some(kinds),
            _ => None,
        };
        if let (Some(mut kinds), None) = (kinds, first.get("enum")) {
            kinds.push("null".into());
            return first.with("type", kinds);
        }
    }
    if forms.len() == 1 { forms.remove(0) } else { Node::object().with("anyOf", forms) }
}

/// Whether a rule leaves out texts that the kind allows, the empty one among them.
fn narrows_text(rule: &Rule) -> bool {
    matches!(rule, Rule::Pattern(_) | Rule::Url | Rule::Email | Rule::MinLength(_))
}

/// The forms in which a value of a field is read, null apart.
fn forms(catalog: &Catalog, field: &FieldMeta, write: Write) -> Vec<Node> {
    if let Some(schema) = field.schema {
        return vec![schema().into()];
    }
    let bounds = digits::bounds(field);
    let integer = |least: i64, most: i64, format: &str| {
        vec![with_text(
            Node::object()
                .with("type", "integer")
                .with("format", format)
                .with("minimum", bounds.least.unwrap_or(least))
                .with("maximum", bounds.most.unwrap_or(most)),
            field,
        )]
    };
    match field.kind {
        Kind::String { max } => vec![text(field).with("maxLength", i64::from(max))],
        Kind::Text => vec![text(field)],
        Kind::Integer => integer(i64::from(i32::MIN), i64::from(i32::MAX), "int32"),
        Kind::BigInt => integer(i64::MIN, i64::MAX, "int64"),
        Kind::Ref { .. } | Kind::PolymorphicRef { .. } => {
            vec![id()]
        }
        Kind::Decimal { precision, places } => vec![decimal(field, precision, places)],
        Kind::Boolean => boolean(),
        Kind::Code { values } => {
            let codes: Vec<i32> = values.iter().map(|(code, _)| *code).collect();
            let words: Vec<String> = codes.iter().map(ToString::to_string).collect();
            vec![
                Node::object().with("type", "integer").with("enum", json!(codes)),
                Node::object().with("type", "string").with("enum", json!(words)),
            ]
        }
        Kind::Enum { values } => vec![Node::object().with("type", "string").with("enum", json!(values))],
        Kind::PolymorphicType { type_names } => {
            vec![Node::object().with("type", "string").with("enum", json!(type_names))]
        }
        Kind::Timestamp { .. } => vec![Node::object().with("type", "string").with("format", "date-time")],
        Kind::Date => vec![Node::object().with("type", "string").with("format", "date")],
        Kind::Uuid => vec![Node::object().with("type", "string").with("format", "uuid")],
        Kind::StringList { max } => {
            let element = Node::object().with("type", "string").with("minLength", 1).with("pattern", NOT_BLANK);
            vec![list(field, element.with("maxLength", i64::from(max)))]
        }
        Kind::RefList { .. } => vec![list(field, id())],
        Kind::Json => vec![shown::any_json()],
        Kind::CustomFields => {
            vec![Node::object().with("type", "object").with("additionalProperties", reference("schemas", CUSTOM_VALUE))]
        }
        Kind::Embedded { resource, by } => vec![list(field, embedded(catalog, catalog.linked(resource), by, write))],
        Kind::Derived { .. } | Kind::Computed { .. } => vec![Node::object()],
    }
}

/// A boolean in each of its forms: words and digits apart from it, because types made of one schema with both are none.
pub fn boolean() -> Vec<Node> {
    let digit = json!({ "type": "integer", "minimum": 0, "maximum": 1 });
    vec![json!({ "type": "boolean" }).into(), reference("schemas", BOOLEAN_WORD), digit.into()]
}

/// The id of a record. None has one below 1.
pub fn id() -> Node {
    let id = Node::object().with("type", ["integer", "string"]).with("format", "int64");
    id.with("minimum", 1).with("maximum", i64::MAX).with("pattern", "^0*[1-9][0-9]{0,17}$")
}

/// An embedded record: what it is given, and the id of one that is there already, which keeps what is left out.
fn embedded(catalog: &Catalog, target: &Entry, by: &str, write: Write) -> Node {
    let (mut properties, mut required) = (Node::object(), Vec::new());
    let id = id().with("type", ["integer", "string", "null"]).with("examples", json!([null]));
    properties.set("id", id.with("description", "The id of one that the record has already; another is ignored."));
    for meta in target.meta.fields.iter().filter(|field| is_given(field, Write::Create) && field.name != by) {
        if meta.required {
            required.push(meta.name);
        }
        properties.set(meta.name, field(catalog, target.meta.fields, meta, Write::Create, Some(target)));
    }
    send_back(catalog, target, embedded::shown(target, by), &mut properties);
    if write != Write::Update || required.is_empty() {
        return object(properties, &required);
    }
    let id = json!({ "type": ["integer", "string"], "description": "The id of one that the record has already." });
    let known = json!({ "required": ["id"], "properties": { "id": id } });
    object(properties, &[]).with("anyOf", vec![known.into(), Node::object().with("required", required)])
}

/// A character that is no white space. It is spelt out, because what `\s` means differs from engine to engine.
const NOT_BLANK: &str = "[^\\t-\\r \\u0085\\u00A0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000]";

fn text(field: &FieldMeta) -> Node {
    let mut schema = Node::object().with("type", "string");
    if !field.nullable {
        schema.set("minLength", 1);
    }
    // What is required is more than white space.
    if field.required {
        schema.set("pattern", NOT_BLANK);
    }
    for rule in field.rules {
        match rule {
            Rule::MinLength(least) => schema.set("minLength", i64::from((*least).max(1))),
            Rule::Pattern(pattern) => schema.set("pattern", format!("^(?:{pattern})$")),
            Rule::Url => {
                schema.set("format", "uri");
                schema.set("pattern", "^https?://[A-Za-z0-9]");
            }
            Rule::Email => {
                schema.set("format", "email");
                schema.set("pattern", "^[^\\s@]+@[^\\s@]+$");
            }
            _ => {}
        }
    }
    schema
}

fn with_text(schema: Node, field: &FieldMeta) -> Node {
    match digits::pattern(field) {
        Some(pattern) => schema.with("type", ["integer", "string"]).with("pattern", pattern),
        None => schema,
    }
}

fn decimal(field: &FieldMeta, precision: u8, places: u8) -> Node {
    let unit = 10_f64.powi(i32::from(places));
    let limit = 10_f64.powi(i32::from(precision - places));
    // Exact in text; as a number it is read by its digits, and divided it is the nearest to them, where a product is not.
    #[expect(clippy::cast_precision_loss, reason = "bounds of metadata are small")]
    let scaled = |number: i64| json!(number as f64 / unit);
    let bounds = digits::bounds(field);
    let schema = Node::object().with("type", ["string", "number"]).with("format", "decimal");
    let schema = match bounds.least {
        Some(least) => schema.with("minimum", scaled(least)),
        None => schema.with("exclusiveMinimum", json!(-limit)),
    };
    let schema = match bounds.most {
        Some(most) => schema.with("maximum", scaled(most)),
        None => schema.with("exclusiveMaximum", json!(limit)),
    };
    schema.with("multipleOf", scaled(1)).with_some("pattern", digits::pattern(field))
}

fn list(field: &FieldMeta, items: Node) -> Node {
    let mut most = i64::try_from(MAX_LIST_ELEMENTS).unwrap_or(i64::MAX);
    let mut schema = Node::object().with("type", "array").with("items", items);
    for rule in field.rules {
        match rule {
            Rule::MinLength(least) => schema.set("minItems", i64::from(*least)),
            Rule::MaxLength(count) => most = i64::from(*count),
            _ => {}
        }
    }
    schema.with("maxItems", most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimals_bound_is_the_number_that_its_text_says() {
        for (text, number) in [("0.57", 0.57), ("0.29", 0.29), ("1.15", 1.15), ("8.41", 8.41), ("100", 100.0)] {
            let rules = vec![Rule::Min(text), Rule::Max(text)].leak();
            let field = FieldMeta { rules, ..FieldMeta::new("rate", Kind::Decimal { precision: 6, places: 2 }) };
            let schema = serde_json::to_value(decimal(&field, 6, 2)).unwrap();
            assert_eq!((&schema["minimum"], &schema["maximum"]), (&json!(number), &json!(number)));
            assert_eq!(schema["multipleOf"], json!(0.01));
        }
    }
}
