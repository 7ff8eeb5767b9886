//! `integer`: a whole number of 32 bits.

use super::{Takes, TypeFacts, TypeWord};
use crate::literal::Misfit;
use crate::{Group, Number, Storage};

pub static WORD: TypeWord = TypeWord {
    word: "integer",
    written: "integer",
    example: "integer",
    pattern: "integer",
    json: "number",
    rust: "i32",
    meaning: "A whole number of 32 bits.",
    takes: Takes::Nothing,
    facts: &FACTS,
    elsewhere: &[(&["int", "int4", "i32", "smallint"], "integer")],
};

pub static FACTS: TypeFacts = TypeFacts {
    variant: "Integer",
    word: "integer",
    attribute: "integer",
    usage: "integer",
    signature: "integer",
    rust: &["i32"],
    is_inferred: true,
    storage: Some(Storage::Integer),
    predicates: &[Group::Every, Group::Ordered],
    family: Some("integer"),
    is_number: true,
    can_exist: true,
    ..TypeFacts::PLAIN
};

/// Whether a number is one of its values.
pub fn holds(number: Number) -> bool {
    number.is_whole_within(i32::MIN.into(), i32::MAX.into())
}

pub fn literal(text: &str) -> Result<(), Misfit> {
    whole(text, holds)
}

/// A whole number that a type holds.
pub fn whole(text: &str, holds: fn(Number) -> bool) -> Result<(), Misfit> {
    match Number::read(text).filter(|number| holds(*number)) {
        Some(_) => Ok(()),
        None => Err(Misfit::new(format!("`{text}` is not a whole number in its range"), "for example `0`")),
    }
}
