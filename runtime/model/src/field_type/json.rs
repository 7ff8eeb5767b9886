//! `json`: any JSON object or array.

use super::{Takes, TypeFacts, TypeWord};
use crate::Storage;
use crate::literal::Misfit;

pub static WORD: TypeWord = TypeWord {
    word: "json",
    written: "json",
    example: "json",
    pattern: "json",
    json: "object or array",
    rust: "Json",
    meaning: "Any JSON object or list.",
    takes: Takes::Nothing,
    facts: &FACTS,
    elsewhere: &[(&["object", "jsonb", "map"], "json")],
};

pub static FACTS: TypeFacts = TypeFacts {
    variant: "Json",
    word: "json",
    attribute: "json",
    usage: "json",
    signature: "json",
    rust: &["Json"],
    is_inferred: true,
    storage: Some(Storage::Json),
    has_order: false,
    starts_empty: true,
    can_be_unique: false,
    literal: |key, _| literal(key),
    ..TypeFacts::PLAIN
};

/// The type has no literals: without `key`, a value starts as an empty object.
pub fn literal(key: &str) -> Result<(), Misfit> {
    Err(Misfit::new("a json value starts as an empty object", format!("remove `{key}`")))
}

/// `is_document`: true if a JSON parser read it as an object or an array.
pub fn value(text: &str, is_document: bool) -> Result<(), Misfit> {
    Misfit::unless(is_document, text, "a JSON object or array", "{\"lamp\": 2}")
}
