//! `bigint`: a whole number of 64 bits, and the type of every `id`.

use super::{Takes, TypeFacts, TypeWord, integer};
use crate::literal::Misfit;
use crate::{Group, Number, Storage};

pub static WORD: TypeWord = TypeWord {
    word: "bigint",
    written: "bigint",
    example: "bigint",
    pattern: "bigint",
    json: "number",
    rust: "i64",
    meaning: "A 64-bit integer.",
    takes: Takes::Nothing,
    facts: &FACTS,
    elsewhere: &[(&["long", "int8", "i64"], "bigint")],
};

pub static FACTS: TypeFacts = TypeFacts {
    variant: "BigInt",
    word: "bigint",
    attribute: "bigint",
    usage: "bigint",
    signature: "bigint",
    rust: &["i64"],
    is_inferred: true,
    storage: Some(Storage::BigInt),
    predicates: &[Group::Every, Group::Ordered],
    family: Some("bigint"),
    is_number: true,
    can_exist: true,
    literal: |_, text| literal(text),
    ..TypeFacts::PLAIN
};

/// True if the type holds the number.
pub fn holds(number: Number) -> bool {
    number.is_whole_within(i64::MIN.into(), i64::MAX.into())
}

fn literal(text: &str) -> Result<(), Misfit> {
    integer::whole(text, holds)
}
