//! A YAML document as a tree with the place of every node, before anything is known of its meaning.

use crate::source::{Span, Spanned};

/// A value and where it stands. The span of a list or mapping ends with its first line, so that marks stay short.
#[derive(Debug, Clone)]
pub struct Node {
    pub span: Span,
    pub value: Value,
}

#[derive(Debug, Clone)]
pub enum Value {
    /// Nothing was written. (`null` is a word: one of the predicates.)
    Null,
    /// One value; `plain` when it stands without quotes, which is how words differ from text.
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// One line of a mapping.
#[derive(Debug, Clone)]
pub struct Entry {
    pub key: Spanned<String>,
    pub value: Node,
}

impl Node {
    /// What it is, as a report says it.
    pub fn described(&self) -> String {
        match &self.value {
            Value::Null => "nothing".to_owned(),
            Value::Scalar { text, .. } => format!("`{text}`"),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a mapping".to_owned(),
        }
    }

    /// Whether it is a single value in quotes.
    pub fn is_quoted(&self) -> bool {
        matches!(self.value, Value::Scalar { plain: false, .. })
    }

    /// Whether it is what YAML writes for null. (Among the predicates it is a word.)
    pub fn is_null_word(&self) -> bool {
        match &self.value {
            Value::Scalar { text, plain: true } => matches!(text.as_str(), "null" | "~" | "Null" | "NULL"),
            _ => false,
        }
    }

    /// Whether nothing stands there, or what YAML writes for it.
    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Null) || self.is_null_word()
    }

    /// The text of a single value.
    pub fn scalar(&self) -> Option<Spanned<String>> {
        match &self.value {
            Value::Scalar { text, .. } => Some(Spanned::new(text.clone(), self.span)),
            _ => None,
        }
    }
}
