//! The field whose value names a record in links, titles and references.

use serde_json::Value;

use super::Entry;
use crate::meta::{Access, FieldMeta, Kind, Shown};

/// Fields that name a record, in order of preference.
const NAME_FIELDS: &[&str] = &["name", "title", "subject", "label", "original_name", "code", "email", "url"];

/// The field that names the records of a resource: the first one of its title, a field with a usual name, or its first
/// required string field.
pub fn name_field(entry: &Entry) -> Option<&'static FieldMeta> {
    if let Some(title) = &entry.title {
        return title.fields().next().and_then(|name| entry.field(name));
    }
    let shown = |field: &&FieldMeta| field.shown == Shown::Always && field.access != Access::Secret;
    let named = NAME_FIELDS.iter().filter_map(|name| entry.field(name).filter(shown)).next();
    named.or_else(|| {
        entry.meta.fields.iter().filter(shown).find(|f| matches!(f.kind, Kind::String { .. }) && f.required)
    })
}

/// The fields whose values stand for a record: those of its title, or the one that names it.
pub fn title_fields(entry: &Entry) -> Vec<&'static FieldMeta> {
    match &entry.title {
        Some(title) => title.fields().filter_map(|name| entry.field(name)).collect(),
        None => name_field(entry).into_iter().collect(),
    }
}

/// The text that stands for a record, from the texts of its fields; `None` if it has none.
pub fn title_of(entry: &Entry, text: impl Fn(&str) -> Option<String>) -> Option<String> {
    match &entry.title {
        Some(title) => title.text(text),
        None => text(name_field(entry)?.name).filter(|text| !text.trim().is_empty()),
    }
}

/// The text of a JSON value in a title; `None` for null and for what is no text or number.
pub fn title_part(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
