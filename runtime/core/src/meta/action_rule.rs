//! Metadata of what YAML says of an action: the states that it connects, its condition, and the values that it sets.

use super::{ActionMeta, ActionOn, ResourceMeta};

/// When an action may run, and what it sets. An action that changes the state or sets values needs no code.
#[derive(Debug, Clone, Copy)]
pub struct ActionRule {
    /// The change of the state, if the action is a transition.
    pub change: Option<StateChange>,
    /// A condition over the fields of the record, which must hold.
    pub guard: Option<&'static str>,
    /// The permission that it needs in addition to that of its method.
    pub permission: Option<&'static str>,
    /// The message if the state or the condition refuses it.
    pub message: Option<&'static str>,
    /// Values of other fields.
    pub set: &'static [(&'static str, SetValue)],
}

impl ActionRule {
    /// True if the rule is all that the action does.
    pub const fn is_complete(&self) -> bool {
        self.change.is_some() || !self.set.is_empty()
    }
}

/// A change of a record's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateChange {
    /// The `enum` field with the state.
    pub field: &'static str,
    /// The states in which it can run.
    pub from: &'static [&'static str],
    pub to: &'static str,
}

/// A value that an action sets.
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
    /// The value of this expression over the record before the action. See [`charter_model::expression`].
    Expression(&'static str),
}

impl ResourceMeta {
    /// The actions on a record with a rule.
    pub fn ruled_actions(&self) -> impl Iterator<Item = (&'static ActionMeta, &'static ActionRule)> + use<> {
        let on_record = self.actions.iter().filter(|action| action.on == ActionOn::Record);
        on_record.filter_map(|action| Some((action, action.rule.as_ref()?)))
    }

    /// The transitions, each with its action.
    pub fn transitions(&self) -> impl Iterator<Item = (&'static ActionMeta, &'static StateChange)> + use<> {
        self.ruled_actions().filter_map(|(action, rule)| Some((action, rule.change.as_ref()?)))
    }

    /// The field with the state of a record, if the resource has transitions.
    pub fn state_field(&self) -> Option<&'static str> {
        self.transitions().next().map(|(_, change)| change.field)
    }
}
