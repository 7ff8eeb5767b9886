//! Actions of a resource, and their rules.

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
    /// When it may run, and what it sets.
    pub rule: Option<ActionRule>,
    /// `resources/exchange_rate.yaml:21`
    pub place: String,
}

impl Action {
    /// True if its rule is all that it does, so that no code implements it.
    pub fn is_declared(&self) -> bool {
        self.rule.as_ref().is_some_and(|rule| rule.change.is_some() || !rule.set.is_empty())
    }
}

/// When an action may run, and what it sets.
#[derive(Debug, Clone)]
pub struct ActionRule {
    /// The change of the state, if it is a transition.
    pub change: Option<StateChange>,
    /// The condition of `if`.
    pub guard: Option<Name>,
    pub permission: Option<Name>,
    pub message: Option<Name>,
    /// The values of other fields.
    pub set: Vec<(Name, Spanned<SetValue>)>,
}

/// A change of a record's state.
#[derive(Debug, Clone)]
pub struct StateChange {
    pub from: Vec<Name>,
    pub to: Name,
}

/// The value that an action sets.
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
    /// The value of an expression over the record.
    Expression(String),
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
