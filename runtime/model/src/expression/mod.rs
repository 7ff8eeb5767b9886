//! Expressions over the fields of one record, such as `ends_at > starts_at or kind = 'open'`: their text, their types, and the
//! checked tree from which a condition is evaluated.
//!
//! | Form | Meaning |
//! |---|---|
//! | `quantity * unit_price + 1`, `- x` | exact numbers; there is no division |
//! | `=`, `!=`, `<`, `<=`, `>`, `>=` | comparison of two values of one type; text has `=` and `!=` only |
//! | `status in [open, pending]`, `not in` | one of some values |
//! | `is null`, `is not null` | whether there is a value |
//! | `and`, `or`, `not`, parentheses | logic |
//! | `starts_on + 7 days`, `starts_at - 2 hours` | a date or time, later or earlier |
//! | `length(name)`, `coalesce(a, b)`, `if(condition, a, b)` | functions |
//! | `12.50`, `'text'`, `true`, `date '2026-03-21'`, `open` | literals; a word of an enum stands alone or in quotes |
//!
//! NULL follows SQL: a comparison with it is NULL, and a condition that is NULL holds.

mod check;
mod lexer;
mod parser;

use std::ops::Range;

pub use check::{Scope, Type, check};

/// A part of the text that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Bytes of the text.
    pub span: Range<usize>,
    pub message: String,
    pub help: Option<String>,
    /// Names of which one may be meant.
    pub known: Vec<String>,
}

impl Mistake {
    fn new(span: Range<usize>, message: impl Into<String>) -> Mistake {
        Mistake { span, message: message.into(), help: None, known: Vec::new() }
    }

    fn help(mut self, help: impl Into<String>) -> Mistake {
        self.help = Some(help.into());
        self
    }
}

/// A checked expression. Every part has the type that its place needs.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    Null,
    Boolean(bool),
    /// Decimal text, without exponent.
    Number(String),
    Text(String),
    /// ISO 8601.
    Date(String),
    Field(String),
    Negate(Box<Node>),
    Not(Box<Node>),
    Logic(Logic, Box<Node>, Box<Node>),
    Compare(Comparison, Box<Node>, Box<Node>),
    /// True if the value is one of the others.
    In(Box<Node>, Vec<Node>),
    IsNull(Box<Node>),
    Arithmetic(Arithmetic, Box<Node>, Box<Node>),
    /// A date or timestamp that is later by a number of units; earlier if the number is negative.
    Shift(Box<Node>, i64, Unit),
    Call(Function, Vec<Node>),
}

impl Node {
    /// The names of its fields, each once, in their order.
    pub fn fields(&self) -> Vec<&str> {
        let mut found = Vec::new();
        self.collect(&mut found);
        found
    }

    fn collect<'a>(&'a self, found: &mut Vec<&'a str>) {
        match self {
            Node::Field(name) if !found.contains(&name.as_str()) => found.push(name),
            Node::Negate(one) | Node::Not(one) | Node::IsNull(one) | Node::Shift(one, ..) => one.collect(found),
            Node::Logic(_, one, two) | Node::Compare(_, one, two) | Node::Arithmetic(_, one, two) => {
                one.collect(found);
                two.collect(found);
            }
            Node::In(one, others) => {
                one.collect(found);
                others.iter().for_each(|other| other.collect(found));
            }
            Node::Call(_, arguments) => arguments.iter().for_each(|argument| argument.collect(found)),
            Node::Null | Node::Boolean(_) | Node::Number(_) | Node::Text(_) | Node::Date(_) | Node::Field(_) => {}
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logic {
    And,
    Or,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    Different,
    Less,
    AtMost,
    More,
    AtLeast,
}

impl Comparison {
    fn is_order(self) -> bool {
        !matches!(self, Comparison::Equal | Comparison::Different)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
}

/// Units of a shift.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Days,
    Hours,
    Minutes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// Number of characters (Unicode scalar values) of a text.
    Length,
    /// The first of its arguments that is not null.
    Coalesce,
    /// The second argument if the first is true, or else the third.
    If,
}

#[cfg(test)]
mod tests;
