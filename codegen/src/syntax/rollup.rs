//! Rollups as written: a function, the other resource with its field, and the records that count.

use charter_model::{Keyword, RollupFunction};

use super::field::{PathSyntax, path};
use super::mapping::Mapping;
use super::type_word::{self, TypeSyntax};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Spanned;

/// A value from the records of another resource that refer to this one.
#[derive(Debug, Clone)]
pub struct RollupSyntax {
    pub function: RollupFunction,
    pub resource: Spanned<String>,
    /// The field with the values; none for a count.
    pub field: Option<Spanned<String>>,
    pub by: Option<Spanned<String>>,
    /// The condition of the records that count.
    pub rows: Option<Spanned<String>>,
    pub kind: Option<TypeSyntax>,
}

impl RollupSyntax {
    /// The keys that a rollup takes, without those of texts for people.
    pub fn own_keys(&self) -> &'static [&'static str] {
        match self.function {
            RollupFunction::Count => &["count", "by", "where", "read", "widget", "deprecated", "renamed_from"],
            RollupFunction::Sum => &["sum", "type", "by", "where", "read", "widget", "deprecated", "renamed_from"],
            RollupFunction::Min => &["min", "by", "where", "read", "widget", "deprecated", "renamed_from"],
            RollupFunction::Max => &["max", "by", "where", "read", "widget", "deprecated", "renamed_from"],
        }
    }
}

/// Reads the rollup of a field. None if it is none; within, none if it could not be read, which is reported.
pub fn read(mapping: &mut Mapping<'_, '_>) -> Option<Option<RollupSyntax>> {
    // `min` and `max` are rules too, whose values are numbers.
    let is_meant = |function: RollupFunction, mapping: &mut Mapping<'_, '_>| match function {
        RollupFunction::Count | RollupFunction::Sum => mapping.key_span(function.word()).is_some(),
        RollupFunction::Min | RollupFunction::Max => {
            let written = mapping.node(function.word()).and_then(|node| node.scalar());
            written.is_some_and(|text| is_path(&text.value))
        }
    };
    let meant: Vec<RollupFunction> =
        RollupFunction::ALL.iter().copied().filter(|function| is_meant(*function, mapping)).collect();
    let (function, others) = meant.split_first()?;
    for other in others {
        let Some(span) = mapping.key_span(other.word()) else { continue };
        let message = format!("a field has one rollup, and this has `{}` and `{}`", function.word(), other.word());
        let problem = Diagnostic::new(Code::Contradiction, span, message, "another rollup");
        mapping.problems.push(problem.help("give each a field of its own"));
    }
    for other in ["from", "many", "through"] {
        if let Some(span) = mapping.key_span(other) {
            let message = format!("a field with `{}` does not take `{other}`", function.word());
            mapping.problems.push(Diagnostic::new(Code::Contradiction, span, message, "contradicts"));
        }
    }
    Some(rollup(*function, mapping).filter(|_| others.is_empty()))
}

fn rollup(function: RollupFunction, mapping: &mut Mapping<'_, '_>) -> Option<RollupSyntax> {
    let (by, rows) = (mapping.text("by"), mapping.text("where"));
    let kind = mapping.text("type").filter(|_| function == RollupFunction::Sum);
    let kind = kind.map(|text| type_word::read(&text, mapping.problems));
    let text = mapping.text(function.word())?;
    let (resource, field) = match function {
        RollupFunction::Count => (text, None),
        _ => {
            let PathSyntax { head, tail, .. } = path(function.word(), &text, mapping.problems)?;
            (head, Some(tail))
        }
    };
    // A type that could not be read is reported.
    let kind = match kind {
        Some(found) => Some(found?),
        None => None,
    };
    Some(RollupSyntax { function, resource, field, by, rows, kind })
}

/// True for two names with a point between them.
fn is_path(text: &str) -> bool {
    let is_letter = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'_';
    let is_name =
        |name: &str| name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(is_letter);
    text.split_once('.').is_some_and(|(head, tail)| is_name(head) && is_name(tail))
}
