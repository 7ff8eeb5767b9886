//! Schemas of request bodies, with all accepted formats of each field.
//!
//! Null leaves a field as it is, and `""` sets a nullable field to null (specification, "Update semantics"). Numbers and booleans are
//! also accepted as text, for forms.

use serde_json::{Value, json};

use super::example::Examples;
use super::node::{Node, reference};
use super::{english, number_pattern, pattern, response_schema};
use charter_core::catalog::{Catalog, Entry};
use charter_core::meta::{Access, DefaultValue, FieldMeta, Kind, Rule, Shown};
use charter_core::ops::action::rule::first_state;
use charter_core::ops::input::{self, embedded};
use charter_core::query::MAX_LIST_ELEMENTS;

/// Name of the schema of a boolean as text.
pub(super) const BOOLEAN_WORD: &str = "BooleanWord";
/// Name of the schema of a custom field's value.
pub(super) const CUSTOM_VALUE: &str = "CustomFieldValue";

/// The kind of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Write {
    Create,
    Update,
    /// The parameters of an action.
    Action,
}

/// True if clients can set the field in such a write.
pub(super) fn can_set(field: &FieldMeta, write: Write) -> bool {
    let fits = match field.access {
        Access::Writable | Access::WriteOnly | Access::Secret => true,
        Access::Immutable => write != Write::Update,
        Access::ReadOnly | Access::Internal => false,
    };
    fits && !matches!(field.kind, Kind::Derived { .. } | Kind::Computed { .. })
}

/// The body of a write.
pub(super) fn body(catalog: &Catalog, entry: &Entry, write: Write) -> Node {
    let (mut properties, mut required) = (Node::object(), Vec::new());
    let parent = entry.meta.under.map(|under| under.field);
    for meta in entry.meta.fields.iter().filter(|field| can_set(field, write) && Some(field.name) != parent) {
        if meta.required && write == Write::Create {
            required.push(meta.name);
        }
        properties.set(meta.name, field(catalog, entry.meta.fields, meta, write, Some(entry)));
    }
    let others = entry.meta.fields.iter().filter(|field| field.shown != Shown::Never);
    add_read_only(catalog, entry, others, &mut properties);
    object(properties, &required)
}

/// Adds the read-only fields, which are accepted and ignored so that a record can be sent back as it was read.
fn add_read_only(
    catalog: &Catalog,
    entry: &Entry,
    fields: impl Iterator<Item = &'static FieldMeta>,
    properties: &mut Node,
) {
    for meta in fields {
        if properties.get(meta.name).is_none() {
            properties.set(meta.name, response_schema::field(catalog, entry, meta).with("readOnly", true));
        }
    }
}

/// An object with these properties only.
pub(super) fn object(properties: Node, required: &[&str]) -> Node {
    let schema = Node::object().with("type", "object");
    let schema = if required.is_empty() { schema } else { schema.with("required", required.to_vec()) };
    schema.with("additionalProperties", false).with("properties", properties)
}

/// A field in a write.
pub(super) fn field(
    catalog: &Catalog,
    fields: &'static [FieldMeta],
    field: &'static FieldMeta,
    write: Write,
    entry: Option<&Entry>,
) -> Node {
    let first_state =
        entry.filter(|entry| entry.meta.state_field() == Some(field.name)).and_then(|_| first_state(field));
    let mut forms = match first_state {
        Some(first) => vec![json!({ "type": "string", "enum": [first] }).into()],
        None => forms(catalog, field, write),
    };
    if accepts_empty_text(field) {
        forms.push(json!({ "const": "" }).into());
    }
    // A required field cannot be null.
    if !(field.required && write != Write::Update) {
        forms.push(json!({ "type": "null" }).into());
    }
    let examples = Examples { catalog };
    let example = match entry {
        Some(_) if first_state.is_some() => first_state.into(),
        Some(entry) => examples.request_value(entry, field),
        None => examples.of_parameter(field),
    };
    let description = english::field(catalog, fields, field);
    response_schema::titled(merged(forms), field)
        .with_some("default", default(field).filter(|_| write != Write::Update))
        .with_some("writeOnly", matches!(field.access, Access::WriteOnly | Access::Secret).then_some(true))
        .with("description", description)
        .with("examples", vec![example])
}

/// True if an empty text is accepted as no value although the schema does not allow it as a text.
pub(super) fn accepts_empty_text(field: &FieldMeta) -> bool {
    match field.kind {
        Kind::Text | Kind::String { .. } => field.nullable && field.rules.iter().any(narrows_text),
        Kind::StringList { .. } | Kind::RefList { .. } | Kind::Links { .. } => {
            !field.rules.iter().any(|rule| matches!(rule, Rule::MinLength(n) if *n > 0))
        }
        Kind::Embedded { .. } => true,
        Kind::Json => field.nullable || field.default == DefaultValue::Literal("[]"),
        _ => field.nullable,
    }
}

/// The default, as a JSON value.
pub(super) fn default(field: &FieldMeta) -> Option<Value> {
    let DefaultValue::Literal(text) = field.default else { return None };
    Some(literal(field.kind, text))
}

/// Converts a text of the metadata into a JSON value.
pub(super) fn literal(kind: Kind, text: &str) -> Value {
    match kind {
        Kind::Boolean => json!(text == "true"),
        Kind::Integer | Kind::BigInt | Kind::Code { .. } | Kind::Ref { .. } | Kind::PolymorphicRef { .. } => {
            text.trim().parse::<i64>().map_or_else(|_| json!(text), |number| json!(number))
        }
        Kind::Json => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        Kind::StringList { .. } => json!(text.split(',').map(str::trim).collect::<Vec<_>>()),
        Kind::RefList { .. } | Kind::Links { .. } => {
            json!(text.split(',').filter_map(|id| id.trim().parse::<i64>().ok()).collect::<Vec<_>>())
        }
        _ => json!(text),
    }
}

/// Merges alternative schemas into one: a list of types if possible, else `anyOf`.
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

/// True if a rule excludes the empty text.
fn narrows_text(rule: &Rule) -> bool {
    matches!(rule, Rule::Pattern(_) | Rule::Url | Rule::Email | Rule::MinLength(_))
}

/// The accepted formats of a field, without null.
fn forms(catalog: &Catalog, field: &FieldMeta, write: Write) -> Vec<Node> {
    if let Some(schema) = field.schema {
        return vec![schema().into()];
    }
    let bounds = number_pattern::bounds(field);
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
        Kind::String { max } => vec![text(field, write).with("maxLength", i64::from(max))],
        Kind::Text => vec![text(field, write)],
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
        Kind::StringList { max } => {
            let element =
                Node::object().with("type", "string").with("minLength", 1).with("pattern", pattern::NOT_BLANK);
            vec![list(field, element.with("maxLength", i64::from(max)))]
        }
        Kind::RefList { .. } => vec![list(field, id())],
        Kind::Links { .. } => vec![list(field, id()).with("uniqueItems", true)],
        Kind::Json => vec![response_schema::any_json()],
        Kind::CustomFields => {
            vec![Node::object().with("type", "object").with("additionalProperties", reference("schemas", CUSTOM_VALUE))]
        }
        Kind::Embedded { resource, by } => vec![list(field, embedded(catalog, catalog.linked(resource), by, write))],
        kind => vec![response_schema::formatted(kind, |pattern| pattern.read).unwrap_or_else(Node::object)],
    }
}

/// The formats of a boolean. They are separate schemas, because client generators cannot derive a type from a mixed one.
pub(super) fn boolean() -> Vec<Node> {
    let digit = json!({ "type": "integer", "minimum": 0, "maximum": 1 });
    vec![json!({ "type": "boolean" }).into(), reference("schemas", BOOLEAN_WORD), digit.into()]
}

/// The id of a record, at least 1.
pub(super) fn id() -> Node {
    let id = Node::object().with("type", ["integer", "string"]).with("format", "int64");
    id.with("minimum", 1).with("maximum", i64::MAX).with("pattern", "^0*[1-9][0-9]{0,17}$")
}

/// An embedded record: its fields, and the id of an existing one, whose missing fields stay as they are.
fn embedded(catalog: &Catalog, target: &Entry, by: &str, write: Write) -> Node {
    let (mut properties, mut required) = (Node::object(), Vec::new());
    let id = id().with("type", ["integer", "string", "null"]).with("examples", json!([null]));
    properties
        .set("id", id.with("description", "The id of an existing element of this record; other ids are ignored."));
    for meta in target.meta.fields.iter().filter(|field| can_set(field, Write::Create) && field.name != by) {
        if meta.required {
            required.push(meta.name);
        }
        properties.set(meta.name, field(catalog, target.meta.fields, meta, Write::Create, Some(target)));
    }
    add_read_only(catalog, target, embedded::shown(target, by), &mut properties);
    if write != Write::Update || required.is_empty() {
        return object(properties, &required);
    }
    let id = json!({ "type": ["integer", "string"], "description": "The id of an existing element of this record." });
    let known = json!({ "required": ["id"], "properties": { "id": id } });
    object(properties, &[]).with("anyOf", vec![known.into(), Node::object().with("required", required)])
}

fn text(field: &FieldMeta, write: Write) -> Node {
    let mut schema = Node::object().with("type", "string");
    // The server assigns the number of a new record that is blank.
    let is_assigned = !field.sequence.is_empty() && write == Write::Create;
    if !field.nullable && !is_assigned {
        schema.set("minLength", 1);
    }
    if input::refuses_blank(field) && !is_assigned {
        schema.set("pattern", pattern::NOT_BLANK);
    }
    for rule in field.rules {
        match rule {
            Rule::MinLength(least) => schema.set("minLength", i64::from((*least).max(1))),
            Rule::Pattern(rule) => {
                if let Some(translated) = pattern::of_rule(rule) {
                    schema.set("pattern", translated);
                }
            }
            Rule::Url => {
                schema.set("format", "uri");
                schema.set("pattern", pattern::URL);
            }
            Rule::Email => {
                schema.set("format", "email");
                schema.set("pattern", pattern::EMAIL);
            }
            _ => {}
        }
    }
    schema
}

fn with_text(schema: Node, field: &FieldMeta) -> Node {
    match number_pattern::pattern(field) {
        Some(pattern) => schema.with("type", ["integer", "string"]).with("pattern", pattern),
        None => schema,
    }
}

fn decimal(field: &FieldMeta, precision: u8, places: u8) -> Node {
    let unit = 10_f64.powi(i32::from(places));
    let limit = 10_f64.powi(i32::from(precision - places));
    // The quotient is the float that is nearest to the decimal; a product with 10^-places would not be.
    #[expect(clippy::cast_precision_loss, reason = "bounds of metadata are small")]
    let scaled = |number: i64| json!(number as f64 / unit);
    let bounds = number_pattern::bounds(field);
    let schema = Node::object().with("type", ["string", "number"]).with("format", "decimal");
    let schema = match bounds.least {
        Some(least) => schema.with("minimum", scaled(least)),
        None => schema.with("exclusiveMinimum", json!(-limit)),
    };
    let schema = match bounds.most {
        Some(most) => schema.with("maximum", scaled(most)),
        None => schema.with("exclusiveMaximum", json!(limit)),
    };
    schema.with("multipleOf", scaled(1)).with_some("pattern", number_pattern::pattern(field))
}

fn list(field: &FieldMeta, items: Node) -> Node {
    let mut max = i64::try_from(MAX_LIST_ELEMENTS).unwrap_or(i64::MAX);
    let mut schema = Node::object().with("type", "array").with("items", items);
    for rule in field.rules {
        match rule {
            Rule::MinLength(least) => schema.set("minItems", i64::from(*least)),
            Rule::MaxLength(count) => max = i64::from(*count),
            _ => {}
        }
    }
    schema.with("maxItems", max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_decimals_are_exact_numbers() {
        for (text, number) in [("0.57", 0.57), ("0.29", 0.29), ("1.15", 1.15), ("8.41", 8.41), ("100", 100.0)] {
            let rules = vec![Rule::Min(text), Rule::Max(text)].leak();
            let field = FieldMeta { rules, ..FieldMeta::new("rate", Kind::Decimal { precision: 6, places: 2 }) };
            let schema = serde_json::to_value(decimal(&field, 6, 2)).unwrap();
            assert_eq!((&schema["minimum"], &schema["maximum"]), (&json!(number), &json!(number)));
            assert_eq!(schema["multipleOf"], json!(0.01));
        }
    }
}
