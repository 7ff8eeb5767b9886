//! Actions that a rule of the record refuses each time: a check or `required_when` that their values break.

use charter_model::expression::{self, Scalar};

use super::fields::conditions::{Names, NoRequest, is_blank};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Action, ActionRule, Name, Resource, Rule, Schema, SetValue};
use crate::source::Span;

/// A value that depends on the record.
struct Unknown;

pub fn check(_: &Schema, resource: &Resource, problems: &mut Problems) {
    for (action, rule) in resource.ruled_actions().filter(|(action, _)| action.is_declared()) {
        for check in &resource.checks {
            if let Some((false, fields)) = result(resource, rule, &check.that) {
                let message = format!("`{}` always breaks the check `{}`", action.name.value, check.that.value);
                report(action, rule, &fields, (message, check.that.span), problems);
            }
        }
        for field in resource.fields.iter().filter(|field| set_value(rule, field.name.as_str()).is_some()) {
            let value = after(resource, rule, field.name.as_str());
            if !value.is_ok_and(|value| is_blank(value.as_ref())) {
                continue;
            }
            let conditions = field.rules.iter().filter_map(|rule| match &rule.value {
                Rule::RequiredWhen(condition) => Some(condition),
                _ => None,
            });
            for condition in conditions {
                if let Some((true, _)) = result(resource, rule, condition) {
                    let (action_name, name) = (&action.name.value, &field.name.value);
                    let message =
                        format!("`{action_name}` empties `{name}`, which is required when `{}`", condition.value);
                    report(action, rule, std::slice::from_ref(&field.name.value), (message, condition.span), problems);
                }
            }
        }
    }
}

/// The result of a condition after the action, and the fields that it names. None if it depends on the record.
fn result(resource: &Resource, rule: &ActionRule, condition: &Name) -> Option<(bool, Vec<String>)> {
    let node = expression::check(condition.as_str(), &Names::without_request(resource)).ok()?;
    let current = |field: &expression::Field| after(resource, rule, &field.name);
    let fields: Vec<String> = node.fields().into_iter().map(str::to_owned).collect();
    let holds = expression::holds(&node, &NoRequest, &current).ok()??;
    (!fields.is_empty()).then_some((holds, fields))
}

/// The value of a field after the action.
fn after(resource: &Resource, rule: &ActionRule, name: &str) -> Result<Option<Scalar>, Unknown> {
    if let Some(change) = &rule.change
        && resource.state_field.as_ref().is_some_and(|state| state.value == name)
    {
        return Ok(Some(Scalar::Text(change.to.value.clone())));
    }
    match set_value(rule, name) {
        Some((SetValue::Null, _)) => Ok(None),
        Some((SetValue::Literal(text), _)) => {
            let kind = resource.field(name).and_then(|field| field.kind.known()).ok_or(Unknown)?;
            Scalar::read(kind, text).map(Some).ok_or(Unknown)
        }
        _ => Err(Unknown),
    }
}

fn set_value<'a>(rule: &'a ActionRule, name: &str) -> Option<(&'a SetValue, Span)> {
    let (_, value) = rule.set.iter().find(|(field, _)| field.value == name)?;
    Some((&value.value, value.span))
}

/// Points at the first value that the action sets to one of the fields, or at its target state.
fn report(
    action: &Action,
    rule: &ActionRule,
    fields: &[String],
    (message, condition): (String, Span),
    problems: &mut Problems,
) {
    let set = fields.iter().find_map(|name| set_value(rule, name)).map(|(_, span)| span);
    let span = set.or(rule.change.as_ref().map(|change| change.to.span)).unwrap_or(action.name.span);
    let problem = Diagnostic::new(Code::TransitionSet, span, message, "always refused");
    problems.push(problem.related(condition, "by this condition").help("change the value, or the condition"));
}
