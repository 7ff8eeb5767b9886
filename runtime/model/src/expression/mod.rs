//! Expressions over the fields of one record, such as `ends_at > starts_at or kind = 'open'`: their text, their types, and the
//! checked tree, from which SQL of both databases and the value in Rust come.
//!
//! | Form | Meaning |
//! |---|---|
//! | `quantity * unit_price + 1`, `- x` | exact numbers; there is no division |
//! | `=`, `!=`, `<`, `<=`, `>`, `>=` | comparison of two values of one type; text has `=` and `!=` only |
//! | `status in [open, pending]`, `not in` | one of some values |
//! | `is null`, `is not null` | whether there is a value |
//! | `and`, `or`, `not`, parentheses | logic |
//! | `starts_on + 7 days`, `starts_at - 2 hours` | a date or time, later or earlier |
//! | `customer.user_id` | a field of the record that `customer_id` refers to |
//! | `now`, `today`, `caller.id`, `caller.can(tickets.all)` | the time, and the caller |
//! | `length(name)`, `coalesce(a, b)`, `if(condition, a, b)`, … | functions |
//! | `12.50`, `'text'`, `true`, `date '2026-03-21'`, `open` | literals; a word of an enum stands alone or in quotes |
//!
//! NULL follows SQL. Numbers never overflow: the checker knows the largest number of each part, and refuses an expression
//! that can exceed 64 bits. A date or time outside of the years 1 to 9999 is NULL.

mod check;
mod comparison;
mod computed;
mod evaluation;
mod function;
mod lexer;
mod parser;
mod sql;
mod types;

use std::ops::Range;

pub use check::{Scope, check, check_value};
pub use computed::{Misfit, computed_type, fitted, settable_type};
pub use evaluation::{Scalar, Situation, holds, value};
pub use sql::{Database, Target, write_sql};
pub use types::{Digits, Type};

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

    fn known(mut self, known: impl IntoIterator<Item = impl Into<String>>) -> Mistake {
        self.known = known.into_iter().map(Into::into).collect();
        self
    }
}

/// A field that an expression names.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub name: String,
    pub kind: Type,
    /// The reference that leads to the record of the field; none for a field of the record itself.
    pub via: Option<Via>,
}

impl Field {
    /// Decimal places of its numbers; 0 for other types.
    pub fn places(&self) -> u32 {
        match self.kind {
            Type::Number(digits) => digits.places,
            _ => 0,
        }
    }
}

/// A reference to another record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Via {
    /// The field that holds the id.
    pub field: String,
    /// The name of the other resource.
    pub resource: String,
}

/// A checked expression. Every part has the type that its place needs.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// Only among the values of a function.
    Null,
    Boolean(bool),
    /// A number that is not negative, multiplied by 10^places.
    Number {
        scaled: i64,
        places: u32,
    },
    Text(String),
    /// ISO 8601.
    Date(String),
    Field(Field),
    /// The time of the request.
    Now,
    /// The day of the request in the company's time zone.
    Today,
    /// The id of the calling user; NULL for a command of the operator.
    CallerId,
    /// True if the caller has the permission.
    CallerCan(String),
    Negate(Box<Node>),
    /// A number with that many more decimal places.
    Widen(Box<Node>, u32),
    /// A number with that many fewer decimal places, of which half is rounded away from zero, and the places before.
    Round(Box<Node>, u32, u32),
    Not(Box<Node>),
    Logic(Logic, Box<Node>, Box<Node>),
    Compare(Comparison, Box<Node>, Box<Node>),
    /// True if the value is one of the others.
    In(Box<Node>, Vec<Node>),
    IsNull(Box<Node>),
    /// Both sides of a sum have the same number of places.
    Arithmetic(Arithmetic, Box<Node>, Box<Node>),
    /// A date that is later by a number of days; earlier if the number is negative.
    ShiftDate(Box<Node>, i64),
    /// A timestamp that is later by a number of minutes.
    ShiftTime(Box<Node>, i64),
    Call(Function, Vec<Node>),
}

impl Node {
    /// The names of the record's own fields, each once, in their order. A field of another record counts as the reference.
    pub fn fields(&self) -> Vec<&str> {
        let mut found = Vec::new();
        self.visit(&mut |node| {
            if let Node::Field(field) = node {
                let name = field.via.as_ref().map_or(field.name.as_str(), |via| &via.field);
                if !found.contains(&name) {
                    found.push(name);
                }
            }
        });
        found
    }

    /// True if the expression has one value for a record, for all callers and at any time.
    pub fn is_constant(&self) -> bool {
        !self.any(|part| matches!(part, Node::Now | Node::Today | Node::CallerId | Node::CallerCan(_)))
    }

    /// True if the value depends on the day in the company's time zone.
    pub fn needs_day(&self) -> bool {
        self.any(|part| *part == Node::Today)
    }

    /// True if this part or one within it is such a part.
    pub fn any(&self, is_such: impl Fn(&Node) -> bool) -> bool {
        let mut found = false;
        self.visit(&mut |part| found |= is_such(part));
        found
    }

    /// Calls a function with this part and all within it.
    pub fn visit<'a>(&'a self, function: &mut impl FnMut(&'a Node)) {
        function(self);
        match self {
            Node::Negate(one)
            | Node::Not(one)
            | Node::IsNull(one)
            | Node::Widen(one, _)
            | Node::Round(one, ..)
            | Node::ShiftDate(one, _)
            | Node::ShiftTime(one, _) => one.visit(function),
            Node::Logic(_, one, two) | Node::Compare(_, one, two) | Node::Arithmetic(_, one, two) => {
                one.visit(function);
                two.visit(function);
            }
            Node::In(one, others) => {
                one.visit(function);
                others.iter().for_each(|other| other.visit(function));
            }
            Node::Call(_, arguments) => arguments.iter().for_each(|argument| argument.visit(function)),
            Node::Null
            | Node::Boolean(_)
            | Node::Number { .. }
            | Node::Text(_)
            | Node::Date(_)
            | Node::Field(_)
            | Node::Now
            | Node::Today
            | Node::CallerId
            | Node::CallerCan(_) => {}
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

pub use function::Function;

#[cfg(test)]
mod tests;
