//! Metadata of a transition: the states that it connects, its guard, and the values that it sets.

use super::{ActionMeta, ResourceMeta};

/// A change of a record's state, declared in YAML. It runs as an action.
#[derive(Debug, Clone, Copy)]
pub struct TransitionMeta {
    /// The `enum` field with the state.
    pub field: &'static str,
    /// The states in which it can run.
    pub from: &'static [&'static str],
    pub to: &'static str,
    /// A condition over the fields of the record, which must hold.
    pub guard: Option<&'static str>,
    /// The permission that it needs in addition to that of a write.
    pub permission: Option<&'static str>,
    /// The message if the state or the guard refuses it.
    pub message: Option<&'static str>,
    /// Values of other fields.
    pub set: &'static [(&'static str, SetValue)],
}

/// A value that a transition sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetValue {
    Null,
    /// The text of the value, read like a query parameter.
    Literal(&'static str),
    /// The time of the request.
    Now,
    /// The day of the request in the zone of the company.
    Today,
    /// The id of the calling user; null if there is none.
    Caller,
}

impl ResourceMeta {
    /// The transitions, each with its action.
    pub fn transitions(&self) -> impl Iterator<Item = (&'static ActionMeta, &'static TransitionMeta)> + use<> {
        self.actions.iter().filter_map(|action| Some((action, action.transition.as_ref()?)))
    }

    /// The field with the state of a record, if the resource has transitions.
    pub fn state_field(&self) -> Option<&'static str> {
        self.transitions().next().map(|(_, transition)| transition.field)
    }
}
