//! Lowering of `states`: each transition becomes an action on a record.

use charter_model::{ActionMethod, ActionOn};

use super::relation::place;
use crate::model::{Access, Action, ActionOutput, Field, Include, IncludeTarget, SetValue, Transition};
use crate::source::{Sources, Spanned};
use crate::syntax::states::{StatesSyntax, TransitionSyntax};
use crate::syntax::tree::{Node, Value};

/// The include with the transitions that the caller may run.
pub const ALLOWED_ACTIONS: &str = "can";

/// Only transitions change the state: for clients the field is immutable.
pub fn limit_writes(fields: &mut [Field], written: Option<&StatesSyntax>) {
    let Some(states) = written else { return };
    let state = fields.iter_mut().find(|field| field.name.value == states.field.value);
    if let Some(state) = state.filter(|field| field.access == Access::Writable) {
        state.access = Access::Immutable;
    }
}

/// The transitions as actions.
pub fn transitions(written: Option<&StatesSyntax>, sources: &Sources) -> Vec<Action> {
    let lower = |transition: &TransitionSyntax| Action {
        name: transition.name.clone(),
        on: ActionOn::Record,
        method: ActionMethod::Post,
        input: Vec::new(),
        output: ActionOutput::Record,
        event: transition.event.clone(),
        until: None,
        confirm: transition.confirm.clone(),
        external: None,
        description: transition.description.clone(),
        transition: Some(Transition {
            from: transition.from.clone(),
            to: transition.to.clone(),
            guard: transition.guard.clone(),
            permission: transition.permission.clone(),
            message: transition.message.clone(),
            set: transition
                .set
                .iter()
                .map(|(name, node)| (name.clone(), Spanned::new(value(node), node.span)))
                .collect(),
        }),
        place: place(sources, transition.name.span),
    };
    written.iter().flat_map(|states| &states.transitions).map(lower).collect()
}

/// A resource with a lifecycle has the include `can`.
pub fn allowed_actions(written: Option<&StatesSyntax>) -> Option<Include> {
    let name = Spanned::new(ALLOWED_ACTIONS.to_owned(), written?.field.span);
    Some(Include { name, target: IncludeTarget::AllowedActions, fields: Vec::new() })
}

/// The words are keywords only without quotes, so that a text can be `"now"`.
fn value(node: &Node) -> SetValue {
    match &node.value {
        _ if node.is_null() => SetValue::Null,
        Value::Scalar { text, plain } => match (text.as_str(), *plain) {
            ("now", true) => SetValue::Now,
            ("today", true) => SetValue::Today,
            ("caller.id", true) => SetValue::Caller,
            (text, _) => SetValue::Literal(text.to_owned()),
        },
        _ => SetValue::Unreadable,
    }
}
