//! Notation of YAML: field types and rules whose names have their place in a file.

use charter_model::{FieldType, Notation};

use crate::source::Spanned;

/// A field type as it is written in YAML.
pub type Type = FieldType<Written>;

/// A rule as it is written in YAML.
pub type Rule = charter_model::Rule<Written>;

/// Names with their place in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Written;

impl Notation for Written {
    type Name = Spanned<String>;
    type Names = Vec<Spanned<String>>;
    type Codes = Vec<CodeValue>;

    fn text(name: &Spanned<String>) -> &str {
        name.as_str()
    }

    fn texts(names: &Vec<Spanned<String>>) -> Vec<&str> {
        names.iter().map(Spanned::as_str).collect()
    }

    fn codes(codes: &Vec<CodeValue>) -> Vec<(i32, &str)> {
        codes.iter().map(|code| (code.number.value, code.label.as_str())).collect()
    }
}

/// One of the numbers of a code.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeValue {
    pub number: Spanned<i32>,
    pub label: Spanned<String>,
}
