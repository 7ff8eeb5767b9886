//! `custom_fields`: the values of the custom fields by name, in the column that `custom_fields: true` declares.

use super::{TypeFacts, json};
use crate::Storage;

/// Filters name a custom field as `cf.<name>`, not through the object that holds its value.
pub static FACTS: TypeFacts = TypeFacts {
    variant: "CustomFields",
    word: "json",
    signature: "custom_fields",
    rust: &["Json"],
    storage: Some(Storage::Json),
    has_order: false,
    starts_empty: true,
    can_be_unique: false,
    literal: |key, _| json::literal(key),
    value: Some(|_| Ok(())),
    ..TypeFacts::PLAIN
};
