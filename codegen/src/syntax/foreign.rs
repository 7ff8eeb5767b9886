//! Keys and words that people bring along from elsewhere, and what says the same here.

use super::keys::Table;
use super::tree::{Entry, Node, Value};

/// What other tools have at a column.
const AT_A_FIELD: &[(&[&str], &str)] = &[
    (
        &["on_delete", "cascade"],
        "what a record refers to cannot be deleted; records that go with another are embedded in it: `many: <resource>`",
    ),
    (
        &["index", "indexed"],
        "`filters` and `sorts` of the resource bring their indexes along; others stand there too: `indexes: [[name]]`",
    ),
    (&["references", "reference", "foreign_key"], "a reference is a type: `type: ref(<resource>)`"),
    (&["length", "size", "limit", "maxlength"], "the length of a text stands in its type: `type: string(255)`"),
    (&["optional", "null", "allow_null"], "a field that may be null says `nullable: true`"),
    (
        &["not_null", "mandatory"],
        "a field is never null unless it says `nullable: true`; clients must give one with `required: true`",
    ),
    (&["primary_key", "auto_increment"], "every record has an `id` by itself"),
];

/// What other tools have at a table.
const AT_A_RESOURCE: &[(&[&str], &str)] = &[
    (&["soft_delete", "soft_deletes", "paranoid"], "it is called `delete: soft` here"),
    (&["primary_key"], "every record has an `id` by itself"),
    (
        &["on_delete"],
        "what a record refers to cannot be deleted; records that go with another are embedded in it: `many: <resource>`",
    ),
    (&["columns", "properties", "attributes"], "they are called `fields` here"),
];

/// How something is said here that has another key elsewhere.
pub fn help(table: &Table, entry: &Entry) -> Option<String> {
    let known = match table.key("fields") {
        _ if table.key("type").is_some() => AT_A_FIELD,
        Some(_) if table.key("resource").is_some() => AT_A_RESOURCE,
        _ => return None,
    };
    let written = entry.key.as_str().to_lowercase();
    known.iter().find(|(keys, _)| keys.contains(&written.as_str())).map(|(_, help)| (*help).to_owned())
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
