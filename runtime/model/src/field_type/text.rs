//! `text`: text of any length.

use super::{Takes, TypeFacts, TypeWord};
use crate::{Group, Storage, Widget};

pub static WORD: TypeWord = TypeWord {
    word: "text",
    written: "text",
    example: "text",
    pattern: "text",
    json: "string",
    rust: "String",
    meaning: "Text of any length.",
    takes: Takes::Nothing,
    facts: &FACTS,
    elsewhere: &[],
};

pub static FACTS: TypeFacts = TypeFacts {
    variant: "Text",
    word: "text",
    attribute: "text",
    usage: "text",
    signature: "text",
    rust: &["String"],
    storage: Some(Storage::Text),
    predicates: &[Group::Every, Group::Ordered, Group::Text],
    family: Some("text"),
    is_text: true,
    is_folded: true,
    can_be_unique: false,
    widgets: &[Widget::Monospace],
    ..TypeFacts::PLAIN
};
