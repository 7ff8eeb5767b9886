//! Transitions: actions declared in YAML, which check the state and the guard of a record and set its next state.

use sea_orm::{QueryResult, Value};

use super::ActionCall;
use crate::catalog::Entry;
use crate::error::{Error, Result};
use crate::expression::{self, Request};
use crate::field_type::null;
use crate::meta::{ActionMeta, DefaultValue, FieldMeta, ResourceMeta, SetValue, TransitionMeta};
use crate::ops::Context;
use crate::ops::endpoints::RouteOperation;
use crate::ops::hooks::RunningHook;
use crate::ops::input::changeset::{Changes, stored_named};
use crate::ops::input::checks::checked;
use crate::ops::write::result::WriteResult;
use crate::ops::write::update::{self, Cause};
use crate::query::read_value;

/// Runs a transition on a locked record, so that of two concurrent ones the second sees the state of the first.
///
/// # Errors
/// [`Error::TransitionRefused`] if the state or the guard does not allow it.
pub async fn run(
    context: &Context<'_>,
    entry: &Entry,
    call: &ActionCall<'_>,
    (id, transition): (i64, &TransitionMeta),
) -> Result<WriteResult> {
    let name = call.action.name;
    let running = RunningHook::enter(context, entry.meta, name)?;
    let context = &context.within_hook(&running);
    let mut changes = update::lock(context, entry, id, call.within.clone(), call.conditions).await?;
    let request = context.request(transition.guard).await?;
    if let Some((message, state)) = refusal(entry.meta, transition, &request, |name| changes.current(name))? {
        return Err(Error::TransitionRefused { message, state });
    }
    let before = changes.values().to_vec();
    changes.set(transition.field, transition.to.into());
    for (field, value) in transition.set {
        let field = entry.field(field).ok_or_else(|| Error::internal(format!("`set` of {name} names no field")))?;
        changes.set(field.name, value_of(context, field, *value).await?);
    }
    running.verify(&before, &mut changes)?;
    let cause = Cause { action: name, event: call.action.event.unwrap_or("updated") };
    update::finish(context, entry, id, &mut changes, cause).await
}

/// The message with which the state or the guard of a record refuses a transition, and the state; `None` if both allow
/// it. `current` returns a value of the record.
pub fn refusal(
    meta: &'static ResourceMeta,
    transition: &TransitionMeta,
    request: &Request<'_>,
    current: impl Fn(&str) -> Result<Option<Value>>,
) -> Result<Option<(String, String)>> {
    let state = match current(transition.field)? {
        Some(Value::String(Some(state))) => state,
        _ => String::new(),
    };
    let refused = |message: String| Ok(Some((transition.message.map_or(message, String::from), state.clone())));
    if !transition.from.contains(&state.as_str()) {
        let (field, from) = (transition.field, joined(transition.from, "or"));
        return refused(format!("The {field} must be {from}, and it is {state}."));
    }
    let Some(guard) = transition.guard else { return Ok(None) };
    match expression::holds(checked(guard, meta.fields)?, request, &|field| current(&field.name))? {
        Some(true) => Ok(None),
        _ => refused(format!("This is possible only if {guard}.")),
    }
}

/// Checks a stored row with every column, if an operation is a transition.
///
/// # Errors
/// [`Error::TransitionRefused`].
pub async fn check(
    context: &Context<'_>,
    meta: &'static ResourceMeta,
    operation: RouteOperation,
    row: &QueryResult,
) -> Result<()> {
    let RouteOperation::Action(ActionMeta { transition: Some(transition), .. }) = operation else { return Ok(()) };
    let request = context.request(transition.guard).await?;
    match refusal_of_row(meta, transition, &request, row)? {
        Some((message, state)) => Err(Error::TransitionRefused { message, state }),
        None => Ok(()),
    }
}

/// The same as [`refusal`] for a stored row with every column.
pub fn refusal_of_row(
    meta: &'static ResourceMeta,
    transition: &TransitionMeta,
    request: &Request<'_>,
    row: &QueryResult,
) -> Result<Option<(String, String)>> {
    refusal(meta, transition, request, |name| stored_named(row, meta.fields, name))
}

async fn value_of(context: &Context<'_>, field: &FieldMeta, value: SetValue) -> Result<Value> {
    Ok(match value {
        SetValue::Null => null(field.kind),
        SetValue::Literal(text) => read_value(field.kind, text)
            .map_err(|problem| Error::internal(format!("the value of `{}` {problem}", field.name)))?,
        SetValue::Now => context.now().into(),
        SetValue::Today => context.request(["today"]).await?.today().into(),
        SetValue::Caller => Value::BigInt(context.caller().user_id),
    })
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
