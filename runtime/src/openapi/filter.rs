//! Filters of lists: one object `q` for each resource, or a parameter for each filter.

use serde_json::{Value, json};

use super::english;
use super::example::Examples;
use super::node::{Node, reference};
use super::parameter::{query, separated, text, value};
use super::request_schema::BOOLEAN_WORD;
use charter_core::catalog::{Catalog, Entry};
use charter_core::meta::{Deprecated, FieldMeta, Kind};
use charter_core::query::{self, Predicate, Reads};

/// How the document describes the filters of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterForm {
    /// One parameter `q` for each resource, whose object has a property for each filter.
    Once,
    /// A parameter for each filter of each list: hundreds in one operation.
    Each,
}

impl FilterForm {
    /// The value of `filters` that requests [`FilterForm::Each`].
    pub const EACH: &'static str = "each";
}

/// The name of the component with all filters of a resource.
pub(super) fn component_name(entry: &Entry) -> String {
    format!("q_{}", entry.meta.plural)
}

/// The filters of a resource: each key in `q`, with its parameter.
pub(super) fn filters_of(catalog: &Catalog, entry: &Entry) -> Vec<(String, Node)> {
    let mut filters = Vec::new();
    for field in entry.meta.fields.iter().filter(|field| query::is_filterable(field)) {
        let source = entry.source(field);
        let kind = source.kind();
        let example = Examples { catalog }.of_field(entry, field);
        for predicate in Predicate::ALL.iter().filter(|asked| query::allows(field, **asked, kind)) {
            let key = format!("{}_{}", field.name, predicate.name());
            let deprecation = entry.meta.deprecation(Deprecated::Filter, &key);
            let deprecation = deprecation.or_else(|| entry.meta.deprecation(Deprecated::Field, field.name));
            let schema = with_words(source.field, kind);
            let parameter = english::deprecated(filter(field, kind, schema, *predicate, &example), deprecation);
            filters.push((key, parameter));
        }
    }
    filters
}

/// The parameter `q` of each resource that has a list, as components.
pub(super) fn components(catalog: &Catalog) -> Vec<(String, Node)> {
    // Attachments have lists below other records only, so their operations say nothing.
    let has_list = |entry: &&Entry| entry.is_served() && !entry.meta.singleton;
    catalog
        .entries()
        .iter()
        .filter(has_list)
        .map(|entry| (component_name(entry), all_filters(catalog, entry)))
        .collect()
}

/// The filters of a resource as one object, `q[name_cont]=lamp&q[id_in]=1,2`. A list is text with commas: `deepObject`
/// defines no arrays (OpenAPI 3.1, "Style Values"). `x-items` is the schema of its elements.
fn all_filters(catalog: &Catalog, entry: &Entry) -> Node {
    let (mut properties, mut example) = (Node::object(), Node::object());
    for (key, parameter) in filters_of(catalog, entry) {
        let part = |name: &str| parameter.get(name).cloned();
        let is_list = parameter.get("explode").is_some();
        let schema = part("schema").unwrap_or_else(Node::object);
        let schema = if is_list { text(None).with_some("x-items", schema.get("items").cloned()) } else { schema };
        if example.is_empty() && !is_list {
            example.set(key.clone(), part("example").unwrap_or_else(Node::object));
        }
        let described = match part("description") {
            Some(Node::Value(Value::String(said))) if is_list => Node::from(format!("{said} Separated by commas.")),
            described => described.unwrap_or_else(Node::object),
        };
        properties.set(key, schema.with("description", described).with_some("deprecated", part("deprecated")));
    }
    let schema = Node::object()
        .with("type", "object")
        .with("properties", properties)
        .with("additionalProperties", json!({ "type": "string" }));
    let described = format!(
        "Filters of {}, as `q[<field>_<predicate>]`, joined by \"and\". `openapi.json?filters={}` describes each as a parameter.",
        english::records(entry.meta),
        FilterForm::EACH
    );
    let described = format!("{described}{}", over_relations(entry));
    Node::object()
        .with("name", "q")
        .with("in", "query")
        .with("description", described)
        .with("style", "deepObject")
        .with("explode", true)
        .with("schema", schema)
        .with("example", example)
}

/// The sentence about the relations to several records; empty without one.
fn over_relations(entry: &Entry) -> String {
    let names: Vec<String> = query::to_many_names(entry.meta).map(|name| format!("`{name}`")).collect();
    let Some(first) = names.first().map(|name| name.trim_matches('`')) else { return String::new() };
    format!(
        " `q[<relation>.<field>_<predicate>]` is true if one record of the relation matches ({}), \
         `q[{first}.some][<field>_<predicate>]` if one matches all conditions in brackets, and `q[{first}.none][…]` if none does.",
        names.join(", ")
    )
}

/// `q[name_cont]`
fn filter(field: &FieldMeta, kind: Kind, schema: Node, predicate: Predicate, example: &Value) -> Node {
    let name = format!("q[{}_{}]", field.name, predicate.name());
    let description = format!("Only records whose `{}` {}.", field.name, predicate.meaning());
    let example = &query_value(kind, example);
    match predicate.reads() {
        Reads::Value => query(&name, &description, schema, example.clone()),
        Reads::Text => query(&name, &description, text(None), prefix(example)),
        Reads::Switch => query(&name, &description, reference("schemas", BOOLEAN_WORD), json!("true")),
        Reads::List => {
            let items = match kind {
                Kind::String { .. } | Kind::Text => text(Some("^[^,]+$")),
                _ => schema,
            };
            let most = i64::try_from(query::max_elements(predicate)).unwrap_or(i64::MAX);
            let list =
                Node::object().with("type", "array").with("items", items).with("minItems", 1).with("maxItems", most);
            separated(query(&name, &description, list, json!([example])))
        }
    }
}

/// The values of a condition: those of the kind, and the words that stand for one.
fn with_words(field: &FieldMeta, kind: Kind) -> Node {
    let words = match kind {
        Kind::Date => text(Some(query::DATE_PATTERN)),
        Kind::Timestamp { .. } => text(Some(query::TIMESTAMP_PATTERN)),
        _ if query::refers_to_user(field) => Node::from(json!({ "type": "string", "const": query::ME })),
        // A 64-bit number that is no id: a client may have to send it as a text.
        Kind::BigInt if field.name != "id" => return value(kind).with("format", "int64"),
        _ => return value(kind),
    };
    Node::object().with("anyOf", vec![value(kind), words])
}

/// An example as a query parameter.
fn query_value(kind: Kind, example: &Value) -> Value {
    match (kind, example) {
        (Kind::Boolean, Value::Bool(value)) => json!(value.to_string()),
        (Kind::Decimal { .. }, Value::String(text)) => text.parse::<f64>().map_or(Value::Null, |number| json!(number)),
        // A comma would separate list elements.
        (_, Value::String(text)) if text.contains(',') => json!("text"),
        (_, example) => example.clone(),
    }
}

/// The first characters of an example text.
fn prefix(example: &Value) -> Value {
    json!(example.as_str().unwrap_or("text").chars().take(3).collect::<String>().trim())
}
