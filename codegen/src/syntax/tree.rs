//! YAML document as a tree with the place of every node.

use crate::source::{Span, Spanned};

/// A value with its place. The span of a list or mapping ends with its first line, so that markers stay short.
#[derive(Debug, Clone)]
pub struct Node {
    pub span: Span,
    pub value: Value,
}

#[derive(Debug, Clone)]
pub enum Value {
    /// An empty value. (`null` is a word: one of the predicates.)
    Null,
    /// A single value. `plain` if it has no quotes, which distinguishes keywords from text.
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// One entry of a mapping.
#[derive(Debug, Clone)]
pub struct Entry {
    pub key: Spanned<String>,
    pub value: Node,
}

impl Node {
    /// The kind of the value, for reports.
    pub fn described(&self) -> String {
        match &self.value {
            Value::Null => "nothing".to_owned(),
            Value::Scalar { text, .. } => format!("`{text}`"),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a mapping".to_owned(),
        }
    }

    /// True if it is a single value in quotes.
    pub fn is_quoted(&self) -> bool {
        matches!(self.value, Value::Scalar { plain: false, .. })
    }

    /// True if it is a null of YAML, which is a word among the predicates.
    pub fn is_null_word(&self) -> bool {
        match &self.value {
            Value::Scalar { text, plain: true } => matches!(text.as_str(), "null" | "~" | "Null" | "NULL"),
            _ => false,
        }
    }

    /// True if it is empty, or a null of YAML.
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
