//! `boolean`: true or false.

use super::{Takes, TypeFacts, TypeWord};
use crate::literal::Misfit;
use crate::{Group, Storage};

pub static WORD: TypeWord = TypeWord {
    word: "boolean",
    written: "boolean",
    example: "boolean",
    pattern: "boolean",
    json: "true or false",
    rust: "bool",
    meaning: "True or false.",
    takes: Takes::Nothing,
    facts: &FACTS,
    elsewhere: &[(&["bool"], "boolean")],
};

pub static FACTS: TypeFacts = TypeFacts {
    variant: "Boolean",
    word: "boolean",
    attribute: "boolean",
    usage: "boolean",
    signature: "boolean",
    rust: &["bool"],
    is_inferred: true,
    storage: Some(Storage::Boolean),
    predicates: &[Group::Every, Group::Boolean],
    family: Some("boolean"),
    has_few_values: true,
    can_be_unique: false,
    literal: |_, text| literal(text),
    ..TypeFacts::PLAIN
};

fn literal(text: &str) -> Result<(), Misfit> {
    match matches!(text, "true" | "false") {
        true => Ok(()),
        false => Err(Misfit::new(format!("`{text}` is neither true nor false"), "write `true` or `false`")),
    }
}
