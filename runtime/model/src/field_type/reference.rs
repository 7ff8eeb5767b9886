//! `ref(x)`: the id of a record of another resource.

use super::{Parameters, Takes, TypeFacts, TypeWord, bigint};
use crate::literal::Misfit;
use crate::{Group, Number, Storage};

pub static WORD: TypeWord = TypeWord {
    word: "ref",
    written: "ref(x), ref(x | y)",
    example: "ref(product_group)",
    pattern: "ref\\( *[a-z0-9_]+( *\\| *[a-z0-9_]+)* *\\)",
    json: "number",
    rust: "i64",
    meaning: "The id of a record of another resource. With several resources, the field `owner` becomes the columns `owner_type` and `owner_id`.",
    takes: Takes::Targets,
    facts: &FACTS,
    elsewhere: &[(&["reference", "references", "belongs_to", "foreign_key", "foreignkey"], "ref(...)")],
};

pub static FACTS: TypeFacts = TypeFacts {
    variant: "Ref",
    word: "ref",
    attribute: "reference",
    usage: "reference(\"product_group\")",
    signature: "ref({})",
    parameters: Parameters::Resource,
    rust: &["i64"],
    storage: Some(Storage::BigInt),
    predicates: &[Group::Every, Group::Ordered],
    family: Some("id"),
    literal: |_, _| literal(),
    value: Some(value),
    ..TypeFacts::PLAIN
};

/// The type has no literals: no records exist when the application is built.
fn literal() -> Result<(), Misfit> {
    Err(Misfit::new("no record exists when the application is built", "only `ref(user)` has a default: `caller`"))
}

pub fn value(text: &str) -> Result<(), Misfit> {
    let is_id = Number::read(text).is_some_and(bigint::holds);
    Misfit::unless(is_id, text, "the id of a record", "1")
}
