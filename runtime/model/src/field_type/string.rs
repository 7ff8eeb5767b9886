//! `string(n)`: text of at most n characters.

use super::{Parameters, Takes, TypeFacts, TypeWord};
use crate::literal::Misfit;
use crate::{Group, Widget};

/// Maximum length of `string(n)`, in characters. Indexed columns have a lower limit, which codegen checks.
pub const MAX_LENGTH: u32 = 65_535;

pub static WORD: TypeWord = TypeWord {
    word: "string",
    written: "string(n)",
    example: "string(255)",
    pattern: "string\\( *{n} *\\)",
    json: "string",
    rust: "String",
    meaning: "Text of at most n characters, 1 to 65535. The panel shows an input of one line, unless the widget is `textarea`.",
    takes: Takes::Length,
    facts: &FACTS,
    elsewhere: &[
        (&["varchar", "nvarchar", "char", "character", "character_varying", "str", "slug"], "string(255)"),
        (&["inet", "ip"], "string(45)"),
    ],
};

pub static FACTS: TypeFacts = TypeFacts {
    variant: "String",
    word: "string",
    attribute: "string",
    usage: "string(255)",
    signature: "string({})",
    parameters: Parameters::Length,
    rust: &["String"],
    predicates: &[Group::Every, Group::Ordered, Group::Text],
    family: Some("text"),
    is_text: true,
    is_folded: true,
    can_exist: true,
    widgets: &[Widget::Textarea, Widget::Monospace],
    ..TypeFacts::PLAIN
};

pub fn literal(max: u32, text: &str) -> Result<(), Misfit> {
    let length = text.chars().count();
    match u32::try_from(length).is_ok_and(|length| length <= max) {
        true => Ok(()),
        false => Err(Misfit::new(format!("it has {length} characters; the maximum is {max}"), "shorten it")),
    }
}
