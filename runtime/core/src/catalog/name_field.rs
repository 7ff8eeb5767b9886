//! The field whose value names a record in links, titles and references.

use super::Entry;
use crate::meta::{Access, FieldMeta, Kind, Shown};

/// Fields that name a record, in order of preference.
const NAME_FIELDS: &[&str] = &["name", "title", "subject", "label", "original_name", "code", "email", "url"];

/// The field that names the records of a resource; else its first required string field.
pub fn name_field(entry: &Entry) -> Option<&'static FieldMeta> {
    let shown = |field: &&FieldMeta| field.shown == Shown::Always && field.access != Access::Secret;
    let named = NAME_FIELDS.iter().filter_map(|name| entry.field(name).filter(shown)).next();
    named.or_else(|| {
        entry.meta.fields.iter().filter(shown).find(|f| matches!(f.kind, Kind::String { .. }) && f.required)
    })
}
