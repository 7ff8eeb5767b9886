//! Lowering of `states`, whose transitions become actions on a record, and of the rules of other actions.

use charter_model::{ActionMethod, ActionOn};

use super::expressions::is_expression;
use super::relation::place;
use crate::model::{
    Access, Action, ActionOutput, ActionRule, Field, Include, IncludeTarget, Name, SetValue, StateChange,
};
use crate::source::{Sources, Spanned};
use crate::syntax::relation::ActionSyntax;
use crate::syntax::states::{RuleSyntax, StatesSyntax, TransitionSyntax};
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
pub fn transitions(written: Option<&StatesSyntax>, fields: &[Field], sources: &Sources) -> Vec<Action> {
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
        rule: Some(ActionRule {
            change: Some(StateChange { from: transition.from.clone(), to: transition.to.clone() }),
            ..lowered(&transition.rule, fields)
        }),
        place: place(sources, transition.name.span),
    };
    written.iter().flat_map(|states| &states.transitions).map(lower).collect()
}

/// The rule of an action of `actions`; none without its keys.
pub fn rule(written: &ActionSyntax, fields: &[Field]) -> Option<ActionRule> {
    (!written.rule.is_empty()).then(|| lowered(&written.rule, fields))
}

fn lowered(written: &RuleSyntax, fields: &[Field]) -> ActionRule {
    let RuleSyntax { guard, permission, message, set } = written.clone();
    ActionRule { change: None, guard, permission, message, set: values(&set, fields) }
}

/// A resource with a lifecycle, or with a rule for an action on a record, has the include `can`.
pub fn allowed_actions(written: Option<&StatesSyntax>, actions: &[Action]) -> Option<Include> {
    let ruled = || actions.iter().find(|action| action.rule.is_some() && action.on == ActionOn::Record);
    let span = written.map(|states| states.field.span).or_else(|| Some(ruled()?.name.span))?;
    let name = Spanned::new(ALLOWED_ACTIONS.to_owned(), span);
    Some(Include { name, target: IncludeTarget::AllowedActions, fields: Vec::new() })
}

/// The values of `set`, each for the field that it names.
fn values(set: &[(Name, Node)], fields: &[Field]) -> Vec<(Name, Spanned<SetValue>)> {
    let names: Vec<String> = fields.iter().map(|field| field.name.value.clone()).collect();
    let value = |(name, node): &(Name, Node)| {
        let field = fields.iter().find(|field| field.name.value == name.value);
        (name.clone(), value(node, field, &names))
    };
    set.iter().map(value).collect()
}

/// The words are keywords only without quotes, so that a text can be `"now"`. A text that is no literal of the field's type is
/// an expression.
fn value(node: &Node, field: Option<&Field>, names: &[String]) -> Spanned<SetValue> {
    let value = match &node.value {
        _ if node.is_null() => SetValue::Null,
        Value::Scalar { text, plain } => match (text.as_str(), *plain) {
            ("now", true) => SetValue::Now,
            ("today", true) => SetValue::Today,
            ("caller.id", true) => SetValue::Caller,
            (text, _) if field.is_some_and(|field| is_expression(&field.kind, text, names)) => {
                SetValue::Expression(text.to_owned())
            }
            (text, _) => SetValue::Literal(text.to_owned()),
        },
        Value::Map(entries) => match entries.as_slice() {
            [entry]
                if entry.key.value == "value" && entry.value.scalar().is_some_and(|text| !text.value.is_empty()) =>
            {
                let text = entry.value.scalar().map(|text| text.value).unwrap_or_default();
                return Spanned::new(SetValue::Expression(text), entry.value.span);
            }
            _ => SetValue::Unreadable,
        },
        Value::List(_) | Value::Null => SetValue::Unreadable,
    };
    Spanned::new(value, node.span)
}
