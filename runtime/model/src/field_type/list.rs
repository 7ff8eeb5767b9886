//! `list(string(n))` and `list(ref(x))`: a JSON array of short texts, or of ids.

use super::{Parameters, Takes, TypeFacts, TypeWord, reference, string};
use crate::Storage;
use crate::literal::{Misfit, no_nul};

pub static WORD: TypeWord = TypeWord {
    word: "list",
    written: "list(string(n)), list(ref(x))",
    example: "list(string(50))",
    pattern: "list\\( *(string\\( *{n} *\\)|ref\\( *[a-z0-9_]+ *\\)) *\\)",
    json: "array",
    rust: "Json",
    meaning: "A list of short texts, or of ids of another resource.",
    takes: Takes::Element,
    facts: &STRINGS,
    elsewhere: &[(&["array"], "list(string(50))")],
};

/// `list(string(n))`
pub static STRINGS: TypeFacts = TypeFacts {
    variant: "StringList",
    attribute: "list",
    usage: "list(50)",
    signature: "list(string({}))",
    parameters: Parameters::Length,
    ..LIST
};

/// `list(ref(x))`
pub static REFERENCES: TypeFacts = TypeFacts {
    variant: "RefList",
    attribute: "ref_list",
    usage: "ref_list(\"role\")",
    signature: "list(ref({}))",
    parameters: Parameters::Resource,
    value: Some(references),
    ..LIST
};

const LIST: TypeFacts = TypeFacts {
    word: "list",
    rust: &["Json"],
    storage: Some(Storage::List),
    is_list: true,
    has_order: false,
    starts_empty: true,
    can_be_unique: false,
    literal: |key, _| literal(key),
    ..TypeFacts::PLAIN
};

/// The type has no literals: without `key`, a list starts empty.
fn literal(key: &str) -> Result<(), Misfit> {
    Err(Misfit::new("a list starts empty", format!("remove `{key}`")))
}

/// The elements of a list in a text such as `stage, light`.
pub fn elements(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(move |_| !text.is_empty())
}

/// An element of a list is not blank.
pub fn string(max: u32, text: &str) -> Result<(), Misfit> {
    match text.trim().is_empty() {
        true => Err(Misfit::new("an element is blank", "remove it")),
        false => no_nul(text).and_then(|()| string::literal(max, text)),
    }
}

pub fn strings(max: u32, text: &str) -> Result<(), Misfit> {
    let of =
        |element: &str, misfit: Misfit| Misfit { reason: format!("element `{element}`: {}", misfit.reason), ..misfit };
    elements(text).try_for_each(|element| string(max, element).map_err(|misfit| of(element, misfit)))
}

fn references(text: &str) -> Result<(), Misfit> {
    elements(text).try_for_each(reference::value)
}
