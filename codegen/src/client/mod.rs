//! Typed API clients, written from the OpenAPI document of an application.

mod document;
mod names;
mod python;
mod schema;
mod typescript;

use serde_json::Value;

/// A language with a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    TypeScript,
    Python,
}

/// The source of a client: one file.
///
/// # Errors
/// If the document is not that of a Charter application, as a sentence.
pub fn write(document: &Value, language: Language) -> Result<String, String> {
    match language {
        Language::TypeScript => document::read(document, typescript::RESERVED).map(|api| typescript::write(&api)),
        Language::Python => document::read(document, python::RESERVED).map(|api| python::write(&api)),
    }
}

/// A text without line breaks.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
