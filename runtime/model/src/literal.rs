//! Literals and values: whether a text is a value of a field type, and the reason if it is not.

use crate::field_type::{code, decimal, enumeration, json, list, polymorphic, string};
use crate::number::{LEADING_ZERO, without_zeros};
use crate::{FieldType, Notation};

/// The reason why a text is not a value of a type, with the correction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// `it has 300 characters and 255 are allowed`
    pub reason: String,
    /// `shorten it`
    pub help: String,
}

impl Misfit {
    pub fn new(reason: impl Into<String>, help: impl Into<String>) -> Misfit {
        Misfit { reason: reason.into(), help: help.into() }
    }

    /// A misfit unless `fits`: the text is not `what`, such as `a UUID`; for example `example`.
    pub fn unless(fits: bool, text: &str, what: &str, example: &str) -> Result<(), Misfit> {
        match fits {
            true => Ok(()),
            false => Err(Misfit::new(format!("`{text}` is not {what}"), format!("for example `{example}`"))),
        }
    }
}

/// PostgreSQL stores no NUL in text.
pub fn no_nul(text: &str) -> Result<(), Misfit> {
    match text.contains('\0') {
        true => Err(Misfit::new("it contains NUL, which PostgreSQL does not store", "remove the NUL")),
        false => Ok(()),
    }
}

impl<N: Notation> FieldType<N> {
    /// Checks that a text is a literal with which a field of the type can start. `key` holds it, such as `default`.
    ///
    /// # Errors
    /// The reason, with the correction.
    pub fn literal(&self, key: &str, text: &str) -> Result<(), Misfit> {
        no_nul(text)?;
        if let Some(plain) = without_zeros(text).filter(|_| self.facts().is_number) {
            return Err(Misfit::new(format!("`{text}` {LEADING_ZERO}"), format!("write `{plain}`")));
        }
        match self {
            FieldType::String { max } => string::literal(*max, text),
            FieldType::Decimal { precision, places } => decimal::literal(*precision, *places, text),
            FieldType::Enum { values } => enumeration::literal(&N::texts(values), text),
            FieldType::Code { values } => code::literal(&N::codes(values), text),
            other => (other.facts().literal)(key, text),
        }
    }

    /// Checks that a text is a value that a client could send. `is_document` tells if a text is a JSON object or array.
    ///
    /// # Errors
    /// The reason, with the correction.
    pub fn value(&self, text: &str, is_document: fn(&str) -> bool) -> Result<(), Misfit> {
        match self {
            FieldType::Enum { values } if enumeration::holds(&N::texts(values), text) => Ok(()),
            FieldType::StringList { max } => list::strings(*max, text),
            FieldType::Json => json::value(text, is_document(text)),
            FieldType::PolymorphicType { type_names } => polymorphic::type_name(&N::texts(type_names), text),
            other => match other.facts().value {
                Some(check) => check(text),
                None => other.literal("example", text),
            },
        }
    }
}
