//! Validation errors of a form, in the words of its readers.

use serde_json::Value;

use super::input;
use crate::panel::format::labels;
use crate::panel::format::number_input::{self, Separators};
use crate::panel::request::PanelRequest;
use charter_core::meta::Kind;

/// The text of an error.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FieldError {
    /// Continues the label of the field: `must be at least 0`.
    Predicate(String),
    /// Stands alone: `No product group is called Video 9.`
    Sentence(String),
}

impl FieldError {
    /// The error of a field with this value, for the messages of the API. A text in a reference is a title that no record
    /// has, and a text in a number could not be read; the API only knows that their types are wrong.
    pub(crate) fn of(request: &PanelRequest<'_>, kind: Kind, value: &Value, messages: &[String]) -> FieldError {
        if let Some(title) = input::unmatched_name(kind, value) {
            let noun = match kind {
                Kind::Ref { resource } | Kind::RefList { resource } => {
                    labels::singular(request.state.catalog.linked(resource).meta)
                }
                _ => "record".to_string(),
            };
            return FieldError::Sentence(format!("No {noun} is called {}.", title.trim()));
        }
        match number_input::unreadable_text(kind, value) {
            Some(text) => {
                FieldError::Sentence(number_input::describe(&Separators::of(&request.locale.numbers), kind, text))
            }
            None => FieldError::Predicate(messages.join("; ")),
        }
    }

    /// The error next to its input, which has the label.
    pub(crate) fn at_input(&self, label: &str) -> String {
        match self {
            FieldError::Predicate(text) => format!("{label} {text}"),
            FieldError::Sentence(text) => text.clone(),
        }
    }

    /// The error after the label, in a list of errors.
    pub(crate) fn after_label(&self) -> String {
        match self {
            FieldError::Predicate(text) => format!(" {text}"),
            FieldError::Sentence(text) => format!(": {text}"),
        }
    }
}
