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
    meaning: "A 32-bit integer.",
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
    literal: |_, text| literal(text),
    ..TypeFacts::PLAIN
};

/// True if the type holds the number.
pub fn holds(number: Number) -> bool {
    number.is_whole_within(i32::MIN.into(), i32::MAX.into())
}

fn literal(text: &str) -> Result<(), Misfit> {
    whole(text, holds)
}

/// Checks a whole number within the range of a type.
pub fn whole(text: &str, holds: fn(Number) -> bool) -> Result<(), Misfit> {
    match Number::read(text).filter(|number| holds(*number)) {
        Some(_) => Ok(()),
        None => Err(Misfit::new(format!("`{text}` is not an integer in range"), "for example `0`")),
    }
}
