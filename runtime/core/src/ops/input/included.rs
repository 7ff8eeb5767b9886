//! Includes in a body, which a client sends that changes a response and sends it back. They are not written.

use serde_json::value::RawValue;

use super::body::RawJson;
use super::is_writable;
use crate::catalog::Entry;
use crate::meta::IncludeTarget;

/// True if a name is that of an include, and the value has the shape that responses show: a record or null for one to one
/// record, a list of objects for every other. A client that sends another value, such as a list of ids, wants to write it.
pub(super) fn is_as_shown(entry: &Entry, name: &str, raw: &RawJson<'_>) -> bool {
    let Some(include) = entry.include(name) else { return false };
    match (include.target, raw) {
        (_, RawJson::Null) => true,
        (IncludeTarget::One { .. }, RawJson::Nested(text)) => text.starts_with('{'),
        (IncludeTarget::One { .. }, _) => false,
        (_, RawJson::Nested(text)) => serde_json::from_str::<Vec<&RawValue>>(text)
            .is_ok_and(|elements| elements.iter().all(|element| element.get().starts_with('{'))),
        _ => false,
    }
}

/// The end of the message for an include in another shape: it names the field with the ids that the include shows.
pub(super) fn hint(entry: &Entry, name: &str) -> Option<String> {
    let field = match entry.include(name)?.target {
        IncludeTarget::One { via } => via,
        IncludeTarget::Links { field } => field,
        IncludeTarget::CustomFieldValues => "custom_fields",
        IncludeTarget::Many { .. } | IncludeTarget::AllowedActions => return Some(String::new()),
    };
    let is_written = entry.field(field).is_some_and(is_writable);
    Some(if is_written { format!("; did you mean `{field}`?") } else { String::new() })
}
