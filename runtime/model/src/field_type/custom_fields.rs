//! `custom_fields`: the values of a record's custom fields by name, which `custom_fields: true` declares.

use super::TypeFacts;
use crate::Storage;

/// A custom field is filtered by its own name, `cf.<name>`, not through the object that holds it.
pub static FACTS: TypeFacts = TypeFacts {
    variant: "CustomFields",
    word: "json",
    signature: "custom_fields",
    rust: &["Json"],
    storage: Some(Storage::Json),
    has_order: false,
    starts_empty: true,
    can_be_unique: false,
    ..TypeFacts::PLAIN
};
