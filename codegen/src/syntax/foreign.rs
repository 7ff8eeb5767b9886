//! Keys and words that people bring along from elsewhere, and what says the same here.

use super::keys::Table;
use super::tree::{Entry, Node, Value};

/// A key that others have: how they spell it, which key of this grammar it is, where it is one, and what to do.
struct Foreign {
    keys: &'static [&'static str],
    means: Option<&'static str>,
    help: &'static str,
}

/// What is one key there and one here.
const fn same(keys: &'static [&'static str], means: &'static str, help: &'static str) -> Foreign {
    Foreign { keys, means: Some(means), help }
}

/// What is said in another way here, or not at all.
const fn other(keys: &'static [&'static str], help: &'static str) -> Foreign {
    Foreign { keys, means: None, help }
}

/// What other tools have at a column.
const AT_A_FIELD: &[Foreign] = &[
    other(
        &["on_delete", "cascade"],
        "what a record refers to cannot be deleted; records that go with another are embedded in it: `many: <resource>`",
    ),
    other(
        &["index", "indexed"],
        "`filters` and `sorts` of the resource bring their indexes along; others stand there too: `indexes: [[name]]`",
    ),
    same(&["ref", "references", "reference", "foreign_key"], "type", "a reference is a type: `type: ref(<resource>)`"),
    other(&["length", "size", "limit", "max_length"], "the length of a text stands in its type: `type: string(255)`"),
    same(&["optional", "null", "allow_null"], "nullable", "a field that may be null says `nullable: true`"),
    other(
        &["not_null", "mandatory"],
        "a field is never null unless it says `nullable: true`; clients must give one with `required: true`",
    ),
    other(&["primary_key", "auto_increment"], "every record has an `id` by itself"),
    same(&["read_only"], "access", "what a client sends is ignored with `access: read_only`"),
    same(&["immutable", "write_once"], "access", "what is given on create and never changes has `access: immutable`"),
    same(&["secret", "write_only"], "access", "what is written and never shown has `access: secret`"),
    same(
        &["hidden"],
        "access",
        "what no answer shows has `access: secret`; what only the single record shows stands under `detail` of the resource",
    ),
    same(
        &["choices", "options", "enum"],
        "values",
        "the words stand under `values`: `type: enum` and `values: [draft, sent]`",
    ),
    same(&["maximum", "max_value"], "max", "it is called `max` here"),
    same(&["minimum", "min_value"], "min", "it is called `min` here"),
    same(&["exclusive_maximum"], "below", "it is called `below` here"),
    same(&["exclusive_minimum"], "above", "it is called `above` here"),
    same(&["title"], "label", "it is called `label` here"),
    other(&["searchable"], "`search` of the resource names the fields that have it: `search: [name]`"),
    other(
        &["sortable"],
        "lists are sorted by every field that they show, unless `sorts` of the resource says by which: `sorts: [name]`",
    ),
    other(
        &["filterable"],
        "lists are filtered by every field that they show, unless `filters` of the resource says by which: \
         `filters: { name: all }`",
    ),
];

/// What other tools have at a table.
const AT_A_RESOURCE: &[Foreign] = &[
    same(&["soft_delete", "soft_deletes", "paranoid"], "delete", "it is called `delete: soft` here"),
    other(&["primary_key"], "every record has an `id` by itself"),
    other(
        &["on_delete"],
        "what a record refers to cannot be deleted; records that go with another are embedded in it: `many: <resource>`",
    ),
    same(&["columns", "properties", "attributes"], "fields", "they are called `fields` here"),
    same(&["name"], "resource", "it is called `resource` here; what people read is its `label`"),
    same(&["title"], "label", "it is called `label` here"),
    same(
        &["parent", "belongs_to"],
        "under",
        "what has its address below another's says `under: <resource>`; what only refers to it has a field of \
         `type: ref(<resource>)`",
    ),
    same(
        &["has_many"],
        "includes",
        "records that refer to this one are shown with it by `includes: { <name>: { many: <resource> } }`",
    ),
];

/// A key without what spellings differ in: `soft_delete`, `softDelete` and `soft-delete` are one.
fn folded(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// How something is said here that has another key elsewhere, and which key of the table that is.
pub fn help(table: &Table, entry: &Entry) -> Option<(&'static str, Option<&'static str>)> {
    let known = match table.key("fields") {
        _ if table.key("type").is_some() => AT_A_FIELD,
        Some(_) if table.key("resource").is_some() => AT_A_RESOURCE,
        _ => return None,
    };
    let written = folded(entry.key.as_str());
    let mut known = known.iter().filter(|one| one.means.is_none_or(|key| table.key(key).is_some()));
    let found = known.find(|one| one.keys.iter().any(|key| folded(key) == written))?;
    Some((found.help, found.means))
}

/// Whether true or false was meant.
pub fn flag(node: &Node) -> Option<bool> {
    let Value::Scalar { text, .. } = &node.value else { return None };
    match text.to_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}
