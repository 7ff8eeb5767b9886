//! `uuid`: a UUID.

use super::{Takes, TextFormat, TypeFacts, TypeWord};
use crate::literal::Misfit;
use crate::{Group, Storage};

const EXAMPLE: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

pub static WORD: TypeWord = TypeWord {
    word: "uuid",
    written: "uuid",
    example: "uuid",
    pattern: "uuid",
    json: "string",
    rust: "Uuid",
    meaning: "A UUID.",
    takes: Takes::Nothing,
    facts: &FACTS,
    elsewhere: &[],
};

pub static FACTS: TypeFacts = TypeFacts {
    variant: "Uuid",
    word: "uuid",
    attribute: "uuid",
    usage: "uuid",
    signature: "uuid",
    rust: &["Uuid"],
    is_inferred: true,
    storage: Some(Storage::Uuid),
    predicates: &[Group::Every],
    family: Some("uuid"),
    can_be_filled: false,
    literal: |_, _| literal(),
    value: Some(value),
    format: Some(TextFormat { name: "uuid", pattern: None, example: EXAMPLE, later: EXAMPLE }),
    ..TypeFacts::PLAIN
};

/// The type has no literals: two records would have the same value.
fn literal() -> Result<(), Misfit> {
    Err(Misfit::new("two records cannot have the same UUID", "set it in a hook: `default: hook`"))
}

/// 32 hexadecimal digits, alone or in groups of 8, 4, 4, 4 and 12.
fn value(text: &str) -> Result<(), Misfit> {
    let groups: Vec<&str> = text.split('-').collect();
    let fits = groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]) || text.len() == 32;
    let digits = groups.concat().len() == 32 && groups.concat().bytes().all(|byte| byte.is_ascii_hexdigit());
    Misfit::unless(fits && digits, text, "a UUID", EXAMPLE)
}
