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
    ..TypeFacts::PLAIN
};

/// No literal is one: an object begins empty, without `key`.
pub fn literal(key: &str) -> Result<(), Misfit> {
    Err(Misfit::new("an object begins empty", format!("remove `{key}`")))
}

/// `is_document`: it was parsed as a JSON object or array, by a crate that has a parser.
pub fn value(text: &str, is_document: bool) -> Result<(), Misfit> {
    Misfit::unless(is_document, text, "an object or a list of JSON", "{\"lamp\": 2}")
}
