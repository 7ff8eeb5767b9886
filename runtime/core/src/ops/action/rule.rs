//! Actions that YAML describes: their state and condition, and the values that they set.

use sea_orm::{QueryResult, Value};

use super::{ActionCall, parameters};
use crate::catalog::Entry;
use crate::error::{Error, Result};
use crate::expression::{self, Node, Request};
use crate::field_type::null;
use crate::meta::{ActionMeta, ActionRule, DefaultValue, FieldMeta, ResourceMeta, SetValue};
use crate::ops::Context;
use crate::ops::endpoints::RouteOperation;
use crate::ops::hooks::RunningHook;
use crate::ops::input::changeset::{Changes, stored_named};
use crate::ops::input::checks::checked;
use crate::ops::input::expressions;
use crate::ops::write::result::WriteResult;
use crate::ops::write::update::{self, Cause};
use crate::query::read_value;

/// Runs a transition, or an action that sets values, on a locked record, so that of two concurrent ones the second sees the
/// record of the first.
///
/// # Errors
/// [`Error::TransitionRefused`] or [`Error::ActionRefused`] if the state or the condition does not allow it;
/// [`Error::Invalid`] for a request with fields.
pub async fn run(
    context: &Context<'_>,
    entry: &Entry,
    call: &ActionCall<'_>,
    (id, rule): (i64, &ActionRule),
) -> Result<WriteResult> {
    let name = call.action.name;
    let running = RunningHook::enter(context, entry.meta, name)?;
    let context = &context.within_hook(&running);
    let mut changes = update::lock(context, entry, id, call.within.clone(), call.conditions).await?;
    parameters(context, call).await?;
    check_changes(context, rule, &changes).await?;
    let before = changes.values().to_vec();
    // Each value is that of the record before the action.
    let mut values = Vec::with_capacity(rule.set.len() + 1);
    if let Some(change) = rule.change {
        values.push((change.field, change.to.into()));
    }
    for (field, value) in rule.set {
        let field = entry.field(field).ok_or_else(|| Error::internal(format!("`set` of {name} names no field")))?;
        match value_of(context, &changes, field, *value).await? {
            Ok(value) => values.push((field.name, value)),
            Err(problem) => changes.errors.add(field.name, problem),
        }
    }
    for (field, value) in values {
        changes.set(field, value);
    }
    running.verify(&before, &mut changes)?;
    let cause = Cause { action: name, event: call.action.event.unwrap_or("updated") };
    update::finish(context, entry, id, &mut changes, cause).await
}

/// The reason why an action may not run on a record.
#[derive(Debug)]
pub struct Refusal {
    /// A sentence for people.
    pub message: String,
    /// The current state, for a transition.
    state: Option<String>,
}

impl From<Refusal> for Error {
    fn from(Refusal { message, state }: Refusal) -> Error {
        match state {
            Some(state) => Error::TransitionRefused { message, state },
            None => Error::ActionRefused(message),
        }
    }
}

/// The reason why the state or the condition of a record refuses an action; `None` if both allow it. `current` returns a
/// value of the record.
pub fn refusal(
    meta: &'static ResourceMeta,
    rule: &ActionRule,
    request: &Request<'_>,
    current: impl Fn(&str) -> Result<Option<Value>>,
) -> Result<Option<Refusal>> {
    let state = match rule.change.map(|change| current(change.field)).transpose()? {
        Some(Some(Value::String(Some(state)))) => Some(state),
        Some(_) => Some(String::new()),
        None => None,
    };
    let refused = |message: String| {
        let message = rule.message.map_or(message, String::from);
        Ok(Some(Refusal { message, state: state.clone() }))
    };
    if let (Some(change), Some(state)) = (rule.change, &state)
        && !change.from.contains(&state.as_str())
    {
        let (field, from) = (change.field, joined(change.from, "or"));
        return refused(format!("The {field} must be {from}, and it is {state}."));
    }
    let Some(guard) = rule.guard else { return Ok(None) };
    match expression::holds(checked(guard, meta)?, request, &|field| current(&field.name))? {
        Some(true) => Ok(None),
        _ => refused(format!("This is possible only if {guard}.")),
    }
}

/// The request, as the condition of an action sees it.
async fn request<'a>(context: &Context<'a>, meta: &'static ResourceMeta, rule: &ActionRule) -> Result<Request<'a>> {
    let guard = rule.guard.map(|guard| checked(guard, meta)).transpose()?;
    context.request(guard.is_some_and(Node::needs_day)).await
}

/// Checks a stored row with every column, if an operation is an action with a rule.
///
/// # Errors
/// [`Error::TransitionRefused`] or [`Error::ActionRefused`].
pub async fn check(
    context: &Context<'_>,
    meta: &'static ResourceMeta,
    operation: RouteOperation,
    row: &QueryResult,
) -> Result<()> {
    let RouteOperation::Action(ActionMeta { rule: Some(rule), .. }) = operation else { return Ok(()) };
    let request = request(context, meta, rule).await?;
    refusal_of_row(meta, rule, &request, row)?.map_or(Ok(()), |refusal| Err(refusal.into()))
}

/// Checks a locked record.
///
/// # Errors
/// [`Error::TransitionRefused`] or [`Error::ActionRefused`].
pub async fn check_changes(context: &Context<'_>, rule: &ActionRule, changes: &Changes) -> Result<()> {
    let request = request(context, changes.meta, rule).await?;
    let refusal = refusal(changes.meta, rule, &request, |name| changes.current(name))?;
    refusal.map_or(Ok(()), |refusal| Err(refusal.into()))
}

/// The same as [`refusal`] for a stored row with every column.
pub fn refusal_of_row(
    meta: &'static ResourceMeta,
    rule: &ActionRule,
    request: &Request<'_>,
    row: &QueryResult,
) -> Result<Option<Refusal>> {
    refusal(meta, rule, request, |name| stored_named(row, meta.fields, name))
}

/// A value that an action sets, or the rule of the field that it breaks.
async fn value_of(
    context: &Context<'_>,
    changes: &Changes,
    field: &'static FieldMeta,
    value: SetValue,
) -> Result<Result<Value, String>> {
    Ok(Ok(match value {
        SetValue::Null => null(field.kind),
        SetValue::Literal(text) => read_value(field.kind, text)
            .map_err(|problem| Error::internal(format!("the value of `{}` {problem}", field.name)))?,
        SetValue::Now => context.now().into(),
        SetValue::Today => context.request(true).await?.today().into(),
        SetValue::Caller if context.caller().user_id.is_none() && !field.nullable => {
            return Ok(Err("is required, and this request has no user".to_owned()));
        }
        SetValue::Caller => Value::BigInt(context.caller().user_id),
        SetValue::Expression(text) => {
            let node = expressions::checked(context, changes.meta, field, text)?;
            return match expressions::value(context, changes, field, node).await? {
                Ok(value) if value == value.as_null() && !field.nullable => {
                    Ok(Err(format!("is required, because {text} has no value")))
                }
                value => Ok(value),
            };
        }
    }))
}

/// `open, pending or solved`, with `or` as the word.
fn joined(names: &[&str], word: &str) -> String {
    match names {
        [others @ .., last] if !others.is_empty() => format!("{} {word} {last}", others.join(", ")),
        names => names.concat(),
    }
}

/// Refuses a new record in another state than the first. Seed data may have any state.
pub fn check_first_state(changes: &mut Changes) {
    let meta = changes.meta;
    let field = meta.state_field().and_then(|name| meta.fields.iter().find(|field| field.name == name));
    let Some((field, first)) = field.and_then(|field| Some((field, first_state(field)?))) else { return };
    if changes.get(field.name).is_some_and(|state| *state != Value::from(first)) {
        let problem = format!("must be {first} in a new record: {}", changed_by(meta));
        changes.errors.add(field.name, problem);
    }
}

/// The state of a new record.
pub fn first_state(field: &FieldMeta) -> Option<&'static str> {
    match field.default {
        DefaultValue::Literal(first) => Some(first),
        _ => None,
    }
}

/// The error of a client that changes a field that it cannot change.
pub fn immutable_message(meta: &ResourceMeta, name: &str) -> String {
    match meta.state_field() == Some(name) {
        true => format!("cannot be set: {}", changed_by(meta)),
        false => "cannot be changed".into(),
    }
}

/// `the actions solve and reopen change it`
fn changed_by(meta: &ResourceMeta) -> String {
    let names: Vec<&str> = meta.transitions().map(|(action, _)| action.name).collect();
    let listed = joined(&names, "and");
    if names.len() > 1 { format!("the actions {listed} change it") } else { format!("the action {listed} changes it") }
}
