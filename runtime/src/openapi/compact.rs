//! Short schemas of writes and filters, without references, for clients that pay for each byte, such as language models.
//!
//! They are those of the OpenAPI document without titles, examples, alternative forms for HTML forms, maximum lengths and
//! bounds of the types. Fields that the caller may not use are left out.

use serde_json::{Value, json};

use super::node::Node;
use super::request_schema::{self, can_set};
use super::{english, pattern};
use charter_core::catalog::{Catalog, Entry};
use charter_core::meta::{Access, FieldMeta, Kind, Shown};
use charter_core::ops::field_access::missing_write_right;
use charter_core::principal::Principal;
use charter_core::query::{self, Predicate};

pub(crate) use super::request_schema::Write;

/// Members of a schema that say nothing to a client which writes JSON.
const LEFT_OUT: &[&str] = &[
    "title",
    "examples",
    "description",
    "readOnly",
    "writeOnly",
    "multipleOf",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "maxItems",
    "maxLength",
    "contentMediaType",
];

/// The properties of an object, and those that are required.
pub(crate) struct Properties {
    pub properties: Node,
    pub required: Vec<&'static str>,
}

/// The fields that the caller may set in a write. `parent` is a field that the path sets.
pub(crate) fn write(
    catalog: &Catalog,
    entry: &Entry,
    write: Write,
    parent: Option<&str>,
    caller: &Principal,
) -> Properties {
    let may_set = |field: &&'static FieldMeta| {
        can_set(field, write)
            && Some(field.name) != parent
            && entry.may_read_field(field, caller)
            && missing_write_right(caller, field).is_none()
    };
    properties(catalog, entry.meta.fields, entry.meta.fields.iter().filter(may_set), write, caller)
}

/// The parameters of an action.
pub(crate) fn parameters(catalog: &Catalog, fields: &'static [FieldMeta], caller: &Principal) -> Properties {
    properties(catalog, fields, fields.iter(), Write::Action, caller)
}

fn properties(
    catalog: &Catalog,
    all: &'static [FieldMeta],
    selected: impl Iterator<Item = &'static FieldMeta>,
    write: Write,
    caller: &Principal,
) -> Properties {
    let (mut properties, mut required) = (Node::object(), Vec::new());
    for field in selected {
        if field.required && write != Write::Update {
            required.push(field.name);
        }
        let described = english::short_field(catalog, all, field);
        let schema = field_schema(catalog, all, field, write, caller);
        properties.set(field.name, schema.with_some("description", Some(described).filter(|text| !text.is_empty())));
    }
    Properties { properties, required }
}

fn field_schema(
    catalog: &Catalog,
    all: &'static [FieldMeta],
    field: &'static FieldMeta,
    write: Write,
    caller: &Principal,
) -> Node {
    match field.kind {
        // The values have the types of their definitions.
        Kind::CustomFields => Node::object().with("type", "object"),
        Kind::Embedded { resource, by } => {
            let target = catalog.linked(resource);
            let Properties { properties, required } = self::write(catalog, target, Write::Create, Some(by), caller);
            let properties = properties.with("id", json!({ "type": "integer" }));
            let items = Node::object().with("type", "object").with("properties", properties);
            let items = items.with_some("required", (write == Write::Create).then_some(required));
            Node::object().with("type", "array").with("items", items)
        }
        _ => match field.schema {
            Some(schema) => own_schema(schema().into(), field, write),
            None => compact(request_schema::field(catalog, all, field, write, None), write),
        },
    }
}

/// A schema of the application, which can have any keyword. Its alternatives are not forms of one value.
fn own_schema(schema: Node, field: &FieldMeta, write: Write) -> Node {
    let schema = without_texts(schema);
    match write == Write::Update && request_schema::accepts_empty_text(field) {
        true => Node::object().with("anyOf", vec![schema, json!({ "const": "" }).into()]),
        false => schema.with_some("default", request_schema::default(field).filter(|_| write != Write::Update)),
    }
}

/// A schema, and those in it, without what says nothing to a client that writes JSON.
fn without_texts(schema: Node) -> Node {
    match schema {
        Node::List(schemas) => Node::List(schemas.into_iter().map(without_texts).collect()),
        Node::Object(entries) => {
            let entries = entries.into_iter().filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()));
            Node::Object(entries.map(|(name, value)| (name.clone(), without_texts_of_member(&name, value))).collect())
        }
        value => value,
    }
}

fn without_texts_of_member(name: &str, value: Node) -> Node {
    match (name, value) {
        // The names of properties are no keywords.
        ("properties" | "patternProperties" | "$defs", Node::Object(properties)) => {
            Node::Object(properties.into_iter().map(|(name, schema)| (name, without_texts(schema))).collect())
        }
        ("default" | "enum" | "const" | "required", value) => value,
        (_, value) => without_texts(value),
    }
}

/// Shortens a schema.
fn compact(schema: Node, write: Write) -> Node {
    let Node::Object(entries) = schema else { return schema };
    let mut out = Node::object();
    let mut alternatives = Vec::new();
    for (name, value) in entries {
        match (name.as_str(), value) {
            ("anyOf", Node::List(forms)) => alternatives = forms,
            ("items", items) => out.set("items", compact(items, write)),
            (name, _) if LEFT_OUT.contains(&name) => {}
            (_, value) => out.set(name, value),
        }
    }
    if !alternatives.is_empty() {
        out = join(alternatives, out, write);
    }
    one_type(out)
}

/// The alternatives of a field without those for HTML forms. An empty text clears a field in an update, and null never
/// does.
fn join(alternatives: Vec<Node>, others: Node, write: Write) -> Node {
    let is = |node: &Node, name: &str, value: Value| node.get(name) == Some(&Node::Value(value));
    let clears = alternatives.iter().any(|form| is(form, "const", json!("")));
    let mut forms: Vec<Node> = alternatives
        .into_iter()
        .filter(|form| form.get("$ref").is_none() && form.get("const").is_none() && !is(form, "type", json!("null")))
        .map(|form| compact(form, write))
        .collect();
    if let Some(boolean) = forms.iter().find(|form| is(form, "type", json!("boolean"))).cloned() {
        forms = vec![boolean];
    }
    // The numbers of a code are accepted as text, too.
    if forms.len() == 2 && forms.iter().all(|form| form.get("enum").is_some()) {
        forms.truncate(1);
    }
    let takes_text =
        |form: &Node| is(form, "type", json!("string")) && form.get("format").or(form.get("enum")).is_none();
    if clears && write == Write::Update && !forms.iter().any(takes_text) {
        forms.push(json!({ "const": "" }).into());
    }
    let form = match forms.as_slice() {
        [form] => form.clone(),
        _ => Node::object().with("anyOf", forms),
    };
    let Node::Object(others) = others else { return form };
    others.into_iter().fold(form, |form, (name, value)| form.with(name, value))
}

/// Numbers are accepted as text, too, and null as a missing field. Only decimals keep both forms.
fn one_type(schema: Node) -> Node {
    let Node::Object(entries) = schema else { return schema };
    let mut schema = Node::object();
    let formatted = entries.iter().any(|(name, _)| name == "format");
    for (name, value) in entries {
        match (name.as_str(), value) {
            ("type", Node::List(types)) => {
                let types: Vec<Node> = types.into_iter().filter(|one| *one != Node::from("null")).collect();
                schema.set(
                    "type",
                    match types.as_slice() {
                        [one] => one.clone(),
                        [first, ..] if *first == Node::from("integer") => first.clone(),
                        _ => Node::List(types),
                    },
                );
            }
            ("pattern", Node::Value(Value::String(text))) if formatted || text == pattern::NOT_BLANK => {}
            ("format", Node::Value(Value::String(text))) if ["int32", "int64", "decimal"].contains(&text.as_str()) => {}
            ("minLength" | "minimum", Node::Value(least)) if least == 1 => {}
            ("minimum" | "maximum", Node::Value(bound)) if is_bound_of_type(&bound) => {}
            (_, value) => schema.set(name, value),
        }
    }
    schema
}

fn is_bound_of_type(bound: &Value) -> bool {
    [i64::from(i32::MIN), i64::from(i32::MAX), i64::MIN, i64::MAX].iter().any(|limit| *bound == json!(limit))
}

/// Predicates that [`filters`] leaves out: another one does the same.
const REDUNDANT: &[Predicate] =
    &[Predicate::ContAny, Predicate::Present, Predicate::Blank, Predicate::True, Predicate::False];
/// The prefix of a predicate's opposite.
const NOT: &str = "not_";

/// The fields that the caller may filter by.
pub(crate) fn filtered<'e>(entry: &'e Entry, caller: &'e Principal) -> impl Iterator<Item = &'static FieldMeta> + 'e {
    let allows_any = |field: &'static FieldMeta| {
        let kind = entry.source(field).kind();
        Predicate::ALL.iter().any(|predicate| query::allows(field, *predicate, kind))
    };
    let is_filtered = move |field: &&'static FieldMeta| {
        query::is_filterable(field) && allows_any(field) && entry.may_read_field(field, caller)
    };
    entry.meta.fields.iter().filter(is_filtered)
}

/// The fields that the caller may filter by, with their predicates, each without its opposite: `name, sku: eq, cont;
/// weight: eq, lt`.
pub(crate) fn filters(entry: &Entry, caller: &Principal) -> String {
    let mut groups: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for field in filtered(entry, caller) {
        let kind = entry.source(field).kind();
        let allowed = Predicate::ALL.iter().filter(|one| query::allows(field, **one, kind) && !REDUNDANT.contains(one));
        let predicates: Vec<&str> = allowed.map(|one| one.name()).filter(|name| !name.starts_with(NOT)).collect();
        match groups.iter_mut().find(|(_, known)| *known == predicates) {
            Some((fields, _)) => fields.push(field.name),
            None => groups.push((vec![field.name], predicates)),
        }
    }
    let text =
        |(fields, predicates): (Vec<&str>, Vec<&str>)| format!("{}: {}", fields.join(", "), predicates.join(", "));
    groups.into_iter().map(text).collect::<Vec<_>>().join("; ")
}

/// The fields of a list or a record that the caller may read, as far as they are selected.
pub(crate) fn names(
    entry: &Entry,
    caller: &Principal,
    is_selected: impl Fn(&'static FieldMeta) -> bool,
) -> Vec<&'static str> {
    let is_shown = |field: &&'static FieldMeta| {
        field.shown != Shown::Never
            && field.access != Access::Secret
            && entry.may_read_field(field, caller)
            && is_selected(field)
    };
    entry.meta.fields.iter().filter(is_shown).map(|field| field.name).collect()
}
