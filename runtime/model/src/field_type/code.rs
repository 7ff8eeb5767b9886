//! `code`: one of a closed list of numbers with labels.

use super::{Parameters, Takes, TypeFacts, TypeWord};
use crate::literal::Misfit;
use crate::{Group, Storage, Widget};

pub static WORD: TypeWord = TypeWord {
    word: "code",
    written: "code",
    example: "code",
    pattern: "code",
    json: "number",
    rust: "i32",
    meaning: "One of the numbers under `values`, each with a label.",
    takes: Takes::Codes,
    facts: &FACTS,
    elsewhere: &[],
};

pub static FACTS: TypeFacts = TypeFacts {
    variant: "Code",
    word: "code",
    attribute: "code",
    usage: "code(1 = \"Bulk\", 2 = \"Serialised\")",
    signature: "code",
    parameters: Parameters::Codes,
    rust: &["i32"],
    storage: Some(Storage::Integer),
    predicates: &[Group::Every, Group::Ordered],
    family: Some("integer"),
    has_few_values: true,
    widgets: &[Widget::Radio],
    ..TypeFacts::PLAIN
};

pub fn literal(codes: &[(i32, &str)], text: &str) -> Result<(), Misfit> {
    let numbers: Vec<String> = codes.iter().map(|(number, _)| number.to_string()).collect();
    // Another check reports an empty list.
    if numbers.is_empty() || numbers.iter().any(|number| number == text) {
        return Ok(());
    }
    Err(Misfit::new(format!("`{text}` is not one of its numbers"), format!("one of: {}", numbers.join(", "))))
}
