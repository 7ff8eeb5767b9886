//! `enum`: one of a closed list of words.

use super::{Parameters, Takes, TypeFacts, TypeWord};
use crate::literal::Misfit;
use crate::{Group, Storage, Widget};

pub static WORD: TypeWord = TypeWord {
    word: "enum",
    written: "enum",
    example: "enum",
    pattern: "enum",
    json: "string",
    rust: "String",
    meaning: "One of the words under `values`, compared without regard to case.",
    takes: Takes::Words,
    facts: &FACTS,
    elsewhere: &[],
};

pub static FACTS: TypeFacts = TypeFacts {
    variant: "Enum",
    word: "enum",
    attribute: "enumeration",
    usage: "enumeration(\"draft\", \"sent\")",
    signature: "enum",
    parameters: Parameters::Words,
    rust: &["String"],
    storage: Some(Storage::Word),
    predicates: &[Group::Every],
    family: Some("text"),
    is_folded: true,
    has_few_values: true,
    widgets: &[Widget::Radio],
    ..TypeFacts::PLAIN
};

/// A literal has the spelling of one of the words.
pub fn literal(words: &[&str], text: &str) -> Result<(), Misfit> {
    // Another check reports an empty list.
    if words.is_empty() || words.contains(&text) {
        return Ok(());
    }
    let help = match words.iter().find(|word| word.to_lowercase() == text.to_lowercase()) {
        Some(word) => format!("did you mean `{word}`?"),
        None => format!("one of: {}", words.join(", ")),
    };
    Err(Misfit::new(format!("`{text}` is not one of its values"), help))
}

/// True for one of the words in any case, which is how the server reads a value.
pub fn holds(words: &[&str], text: &str) -> bool {
    words.iter().any(|word| word.to_lowercase() == text.to_lowercase())
}
