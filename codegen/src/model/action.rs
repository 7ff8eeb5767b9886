//! Actions of a resource, and the transitions among them.

use charter_model::{ActionMethod, ActionOn};

use super::{Field, Name};
use crate::source::{Span, Spanned};

/// A named operation.
#[derive(Debug, Clone)]
pub struct Action {
    pub name: Name,
    pub on: ActionOn,
    pub method: ActionMethod,
    pub input: Vec<Field>,
    pub output: ActionOutput,
    /// The name of its event, in place of `updated`.
    pub event: Option<Name>,
    /// The field that is true once the action is done, or false with `not`: `completed`, `not is_active`.
    pub until: Option<Name>,
    /// The consequences that the panel shows before it runs the action.
    pub confirm: Option<Name>,
    /// The place of `external: true`: it runs without a transaction.
    pub external: Option<Span>,
    pub description: Option<Name>,
    /// The change of the state, if it is one.
    pub transition: Option<Transition>,
    /// `resources/exchange_rate.yaml:21`
    pub place: String,
}

/// A change of a record's state, which needs no code.
#[derive(Debug, Clone)]
pub struct Transition {
    pub from: Vec<Name>,
    pub to: Name,
    /// The condition of `if`.
    pub guard: Option<Name>,
    pub permission: Option<Name>,
    pub message: Option<Name>,
    /// The values of other fields.
    pub set: Vec<(Name, Spanned<SetValue>)>,
}

/// The value that a transition sets.
#[derive(Debug, Clone, PartialEq)]
pub enum SetValue {
    Null,
    Literal(String),
    /// The time of the request.
    Now,
    /// The day of the request.
    Today,
    /// The id of the calling user.
    Caller,
    /// A list or a mapping.
    Unreadable,
}

#[derive(Debug, Clone)]
pub enum ActionOutput {
    /// The record that it ran on.
    Record,
    /// A new record of the same resource.
    Created,
    /// These fields under this key.
    Fields { key: Name, fields: Vec<Field> },
    /// Unclear, which is reported. No checked schema has one.
    Unknown,
}
