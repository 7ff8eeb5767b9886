//! Schemas of responses, with the format in which the server writes each field.

use charter_model::TextPattern;
use serde_json::json;

use super::example::Examples;
use super::node::{Node, reference};
use super::{english, pattern};
use charter_core::catalog::{Catalog, Entry};
use charter_core::meta::{FieldMeta, IncludeMeta, IncludeTarget, Kind, Shown};
use charter_core::ops::input::embedded;

/// The schema of a field of a record, with its description and an example.
pub(super) fn field(catalog: &Catalog, entry: &Entry, field: &'static FieldMeta) -> Node {
    let described = english::field(catalog, entry.meta.fields, field);
    let schema = match field.kind {
        Kind::Derived { .. } => {
            let source = entry.source(field);
            match source.labels {
                Some(labels) => Node::object().with("type", "string").with("enum", labels_of(labels)),
                None => value(catalog, source.field),
            }
        }
        _ => value(catalog, field),
    };
    let example = Examples { catalog }.of_field(entry, field);
    titled(finish(or_null(schema, may_be_null(entry, field)), described, example), field)
}

/// True if a field can be null in a response. The target of a required reference exists, but a deleted record can refer to deleted
/// records.
fn may_be_null(entry: &Entry, field: &'static FieldMeta) -> bool {
    let source = entry.source(field);
    let Some(join) = &source.join else { return field.nullable };
    let via = source.via().and_then(|via| entry.field(via));
    let may_be_deleted = entry.meta.keeps_deleted() && (join.meta.soft_delete || join.required_parents.is_some());
    source.field.nullable || may_be_deleted || via.is_none_or(|via| via.nullable)
}

/// Adds the label of a field as its title.
pub(super) fn titled(schema: Node, field: &FieldMeta) -> Node {
    schema.with_some("title", (!field.label.is_empty()).then_some(field.label))
}

/// The schema of a field of an action's output.
pub(super) fn output(catalog: &Catalog, fields: &'static [FieldMeta], field: &'static FieldMeta) -> Node {
    let example = Examples { catalog }.of_parameter(field);
    let schema = or_null(value(catalog, field), field.nullable);
    titled(finish(schema, english::field(catalog, fields, field), example), field)
}

/// The time of deletion, which is not null if it is shown.
pub(super) fn mark(catalog: &Catalog, entry: &Entry, field: &'static FieldMeta) -> Node {
    let described = "When it was deleted; only with `deleted=only`.";
    finish(value(catalog, field), described.into(), Examples { catalog }.of_field(entry, field))
}

fn labels_of(labels: &[(i32, &str)]) -> Node {
    let mut names: Vec<&str> = labels.iter().map(|(_, label)| *label).collect();
    names.dedup();
    json!(names).into()
}

fn finish(schema: Node, description: String, example: serde_json::Value) -> Node {
    schema.with("description", description).with("examples", vec![example])
}

/// A schema that also allows null.
pub(super) fn or_null(schema: Node, nullable: bool) -> Node {
    if !nullable {
        return schema;
    }
    match (schema.get("type").cloned(), schema.get("enum").cloned()) {
        (Some(Node::Value(kind)), None) if kind.is_string() => schema.with("type", [Node::Value(kind), "null".into()]),
        (Some(Node::Value(kind)), Some(Node::List(mut words))) if kind.is_string() => {
            words.push(serde_json::Value::Null.into());
            schema.with("type", [Node::Value(kind), "null".into()]).with("enum", words)
        }
        _ => Node::object().with("anyOf", [schema, Node::object().with("type", "null")]),
    }
}

/// The schema of a value.
pub(super) fn value(catalog: &Catalog, field: &FieldMeta) -> Node {
    let text = || Node::object().with("type", "string");
    let number = |format: &str| Node::object().with("type", "integer").with("format", format);
    if let Some(schema) = field.schema {
        return schema().into();
    }
    match field.kind {
        Kind::String { max } => text().with("maxLength", i64::from(max)),
        Kind::Integer => number("int32"),
        Kind::BigInt | Kind::Ref { .. } | Kind::PolymorphicRef { .. } => number("int64"),
        Kind::Boolean => Node::object().with("type", "boolean"),
        Kind::Decimal { places: 0, .. } => text().with("format", "decimal").with("pattern", "^-?[0-9]+$"),
        Kind::Decimal { places, .. } => {
            text().with("format", "decimal").with("pattern", format!("^-?[0-9]+\\.[0-9]{{{places}}}$"))
        }
        Kind::Timestamp { form } => text().with("format", "date-time").with("pattern", pattern::timestamp(form)),
        Kind::Enum { values } => text().with("enum", json!(values)),
        Kind::PolymorphicType { type_names } => text().with("enum", json!(type_names)),
        Kind::Code { values } => {
            let codes: Vec<i32> = values.iter().map(|(code, _)| *code).collect();
            Node::object().with("type", "integer").with("enum", json!(codes))
        }
        Kind::StringList { max } => list(text().with("maxLength", i64::from(max))),
        Kind::RefList { .. } | Kind::Links { .. } => list(number("int64")),
        Kind::Json => any_json(),
        Kind::CustomFields => custom_values(),
        Kind::Embedded { resource, by } => list(of_embedded(catalog, catalog.linked(resource), by)),
        kind => formatted(kind, |pattern| pattern.written).unwrap_or_else(text),
    }
}

/// The schema of a type whose JSON is text of one form, with the pattern of what the server accepts or returns.
pub(super) fn formatted(kind: Kind, pattern: fn(&TextPattern) -> &'static str) -> Option<Node> {
    let format = kind.facts().format.as_ref()?;
    let schema = Node::object().with("type", "string").with("format", format.name);
    Some(schema.with_some("pattern", format.pattern.as_ref().map(pattern)))
}

fn list(items: Node) -> Node {
    Node::object().with("type", "array").with("items", items)
}

/// Any JSON object or list.
pub(super) fn any_json() -> Node {
    json!({ "anyOf": [{ "type": "object" }, { "type": "array", "items": {} }] }).into()
}

/// Values of custom fields, whose types depend on their definitions.
fn custom_values() -> Node {
    let values = json!({
        "type": ["string", "integer", "boolean"],
        "description": "Decimals, dates and times are text.",
    });
    Node::object().with("type", "object").with("additionalProperties", values)
}

/// An embedded record, without the reference to its owner.
fn of_embedded(catalog: &Catalog, target: &Entry, by: &str) -> Node {
    object(catalog, target, embedded::shown(target, by), true)
}

/// An object with these fields of a resource.
pub(super) fn object(
    catalog: &Catalog,
    entry: &Entry,
    fields: impl Iterator<Item = &'static FieldMeta>,
    required: bool,
) -> Node {
    let (mut properties, mut names) = (Node::object(), Vec::new());
    for meta in fields {
        properties.set(meta.name, field(catalog, entry, meta));
        // Callers without the right of a field get records without it.
        if entry.read_right(meta).is_empty() {
            names.push(meta.name);
        }
    }
    let schema = Node::object().with("type", "object");
    let schema = if required && !names.is_empty() { schema.with("required", names) } else { schema };
    schema.with("properties", properties)
}

/// The property that an include adds to a record.
pub(super) fn include(catalog: &Catalog, entry: &Entry, include: &IncludeMeta) -> Node {
    let record = |resource: &str| {
        let target = catalog.linked(resource);
        if include.fields.is_empty() && target.is_served() {
            return reference("schemas", &item_name(target));
        }
        let chosen = |f: &&FieldMeta| match include.fields {
            [] => f.shown == Shown::Always,
            names => names.contains(&f.name),
        };
        object(catalog, target, target.meta.fields.iter().filter(chosen), true)
    };
    let null = || Node::object().with("type", "null");
    let (schema, what) = match include.target {
        IncludeTarget::Many { resource, .. } => {
            (list(record(resource)), format!("Its {}", english::records(catalog.linked(resource).meta)))
        }
        IncludeTarget::Links { field } => {
            let Some(Kind::Links { resource, .. }) = entry.field(field).map(|field| field.kind) else {
                return Node::object();
            };
            (list(record(resource)), format!("Its {}", english::records(catalog.linked(resource).meta)))
        }
        IncludeTarget::CustomFieldValues => {
            (list(custom_field_value()), "The definitions and values of its custom fields".to_string())
        }
        IncludeTarget::AllowedActions => {
            let names: Vec<&str> = entry.meta.ruled_actions().map(|(action, _)| action.name).collect();
            (
                list(allowed_action(&names)),
                "Its actions that have a condition or a permission, or set values, and which of them the caller may run".to_string(),
            )
        }
        IncludeTarget::One { via } => {
            let targets: Vec<Node> = match entry.field(via).map(|field| field.kind) {
                Some(Kind::Ref { resource }) => vec![record(resource)],
                Some(Kind::PolymorphicRef { type_field }) => match entry.field(type_field).map(|field| field.kind) {
                    Some(Kind::PolymorphicType { type_names }) => {
                        let known = type_names.iter().filter_map(|name| catalog.by_type(name));
                        known.map(|target| record(target.meta.name)).collect()
                    }
                    _ => Vec::new(),
                },
                _ => Vec::new(),
            };
            let schema = Node::object().with("anyOf", targets.into_iter().chain([null()]).collect::<Vec<_>>());
            (schema, format!("The record that `{via}` references"))
        }
    };
    schema.with("description", format!("{what}, with `include={}`.", include.name))
}

fn allowed_action(names: &[&str]) -> Node {
    json!({
        "type": "object",
        "description": "An action, and whether the caller may run it on this record.",
        "required": ["action", "allowed", "why"],
        "properties": {
            "action": { "type": "string", "enum": names, "description": "The name of the action.", "examples": [names[0]] },
            "allowed": { "type": "boolean", "description": "True if the caller may run it.", "examples": [false] },
            "why": {
                "type": ["string", "null"],
                "description": "The reason why it is not allowed, for people; null if it is.",
                "examples": ["No role of this user grants the ability."],
            },
        },
    })
    .into()
}

fn custom_field_value() -> Node {
    json!({
        "type": "object",
        "description": "A custom field with its value for this record.",
        "required": ["name", "label", "field_type", "value"],
        "properties": {
            "name": { "type": "string", "description": "The name of the custom field.", "examples": ["colour"] },
            "label": { "type": "string", "description": "Its label.", "examples": ["Colour"] },
            "field_type": { "type": "string", "description": "The type of its values.", "examples": ["string"] },
            "value": {
                "type": ["string", "integer", "boolean", "null"],
                "description": "The value; null if the record has none.",
                "examples": ["red"],
            },
        },
    })
    .into()
}

/// Name of the schema of a single record.
pub(super) fn record_name(entry: &Entry) -> String {
    english::camel(entry.meta.name)
}

/// Name of the schema of a record in a list, which is that of a single record if they are equal.
pub(super) fn item_name(entry: &Entry) -> String {
    let has_detail = entry.meta.fields.iter().any(|field| field.shown == Shown::Detail);
    if has_detail { format!("{}ListItem", record_name(entry)) } else { record_name(entry) }
}
