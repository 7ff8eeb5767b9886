//! Named actions: reads the parameters, calls the resource's method, stores its changes and writes the response.

pub mod external;
mod from_code;
pub mod rule;

use std::sync::Arc;

use sea_orm::{QueryResult, Value};

use super::endpoints::RouteOperation;
use super::etag::Preconditions;
use super::hooks::RunningHook;
use super::input::body::{Body, RawJson};
use super::input::changeset::Changes;
use super::input::references;
use super::route::BoxFuture;
use super::write::result::WriteResult;
use super::write::update::Cause;
use super::write::{create, update};
use super::{input, records, row_access, show, visibility};
use crate::catalog::Entry;
use crate::error::{Error, FieldErrors, Result};
use crate::meta::{ActionMeta, ActionMethod, ActionOutput, FieldMeta, Kind};
use crate::ops::Context;
use crate::query::{Condition, Pair, decode};
use crate::record::{write_single_value, write_text};

pub use from_code::run_action;

/// The values that an action with its own output returns, in the order of its output fields.
pub type ActionResult<'a> = BoxFuture<'a, Result<Vec<Value>>>;

/// Type-erased method of an action that drafts a new record from another.
pub type DraftRecord =
    for<'a> fn(&'a Context<'a>, &'a QueryResult, &'a mut Changes, Vec<Value>) -> BoxFuture<'a, Result<()>>;

/// Type-erased method of an action. The values are its parameters, in the order of its input fields.
#[derive(Clone, Copy)]
pub enum ActionHandler {
    /// Changes the record, which is then stored and returned.
    Record(for<'a> fn(&'a Context<'a>, &'a mut Changes, Vec<Value>) -> BoxFuture<'a, Result<()>>),
    /// Reads the record and drafts a new one, which is then stored and returned.
    RecordCreated(DraftRecord),
    /// Reads the record and returns its own output.
    RecordOutput(for<'a> fn(&'a Context<'a>, &'a QueryResult, Vec<Value>) -> ActionResult<'a>),
    /// Returns its own output.
    Collection(for<'a> fn(&'a Context<'a>, Vec<Value>) -> ActionResult<'a>),
}

/// Arguments of an action.
#[derive(Debug)]
pub struct ActionCall<'r> {
    pub action: &'static ActionMeta,
    /// The id of the record, for an action on one.
    pub id: Option<i64>,
    pub within: Condition,
    pub conditions: &'r Preconditions,
    /// The query string of a GET.
    pub query: &'r str,
    /// The body of any other method.
    pub body: &'r Body<'r>,
}

/// Runs an action, in the context's transaction unless the action only reads.
pub async fn run(context: &Context<'_>, entry: &Entry, call: ActionCall<'_>) -> Result<WriteResult> {
    let name = call.action.name;
    if let (Some(rule), Some(id)) = (&call.action.rule, call.id)
        && rule.is_complete()
    {
        return rule::run(context, entry, &call, (id, rule)).await;
    }
    let handler = context.route(entry).actions.iter().find(|(known, _)| *known == name).map(|(_, handler)| *handler);
    let handler = handler.ok_or_else(|| Error::internal(format!("nothing implements the action `{name}`")))?;
    let running = RunningHook::enter(context, entry.meta, name)?;
    let hook_context = &context.within_hook(&running);
    match (handler, call.id) {
        (ActionHandler::Record(run), Some(id)) => {
            let mut changes = update::lock(context, entry, id, call.within.clone(), call.conditions).await?;
            if let Some(rule) = &call.action.rule {
                rule::check_changes(context, rule, &changes).await?;
            }
            let input = parameters(context, &call).await?;
            let before = changes.values().to_vec();
            run(hook_context, &mut changes, input).await?;
            running.settle(context, &before, &mut changes).await?;
            let cause = Cause { action: name, event: call.action.event.unwrap_or("updated") };
            update::finish(context, entry, id, &mut changes, cause).await
        }
        (ActionHandler::RecordCreated(run), Some(id)) => {
            let row = read(context, entry, &call, id).await?;
            let input = parameters(context, &call).await?;
            let mut changes = Changes::new(entry.meta, None);
            let before = changes.values().to_vec();
            run(hook_context, &row, &mut changes, input).await?;
            running.settle(context, &before, &mut changes).await?;
            create::create_drafted(context, entry, name, &mut changes).await
        }
        (ActionHandler::RecordOutput(run), Some(id)) => {
            let row = read(context, entry, &call, id).await?;
            let input = parameters(context, &call).await?;
            write(call.action, &run(hook_context, &row, input).await?).map(WriteResult::plain)
        }
        (ActionHandler::Collection(run), None) => {
            let input = parameters(context, &call).await?;
            write(call.action, &run(hook_context, input).await?).map(WriteResult::plain)
        }
        _ => Err(Error::NotFound),
    }
}

/// Loads the record that an action reads.
async fn read(context: &Context<'_>, entry: &Entry, call: &ActionCall<'_>, id: i64) -> Result<Arc<QueryResult>> {
    let condition = visibility::visible(context, entry).and(call.within.clone());
    let is_checked = !call.conditions.is_empty() || call.action.rule.is_some_and(|rule| rule.guard.is_some());
    let lock = is_checked && context.transaction().is_some();
    let row = records::load(context, entry, id, &condition, lock).await?.ok_or(Error::NotFound)?;
    if call.action.method != ActionMethod::Get {
        row_access::check_changeable(context, entry, id).await?;
    }
    update::check_version(context, entry, id, call.conditions).await?;
    rule::check(context, entry.meta, RouteOperation::Action(call.action), &row).await?;
    Ok(row)
}

/// Reads the parameters of an action. Unknown ones are ignored as the document says, but an action without parameters
/// refuses every field: its client expects that the field is written.
async fn parameters(context: &Context<'_>, call: &ActionCall<'_>) -> Result<Vec<Value>> {
    let fields: &'static [FieldMeta] = call.action.input;
    let mut errors = FieldErrors::default();
    if fields.is_empty() && call.action.method != ActionMethod::Get {
        let sent = call.body.fields.iter().map(|(name, _)| name).chain(&call.body.outside);
        sent.for_each(|name| {
            errors.add(name.to_string(), format!("is not a field of the action {}", call.action.name))
        });
    }
    // Code gives the input of a `get` as a body too.
    let values = if call.action.method == ActionMethod::Get && call.body.fields.is_empty() {
        let pairs = decode(call.query)?;
        let lists: Vec<(&str, String)> = fields.iter().filter_map(|f| Some((f.name, list_of(f, &pairs)?))).collect();
        let mut parameters: Vec<_> =
            pairs.iter().map(|pair| (pair.name.clone(), RawJson::Text(pair.value.as_str().into()))).collect();
        parameters.retain(|(name, _)| !lists.iter().any(|(list, _)| list == name));
        // The last of repeated parameters wins, as in a list's query string.
        parameters.reverse();
        parameters.extend(lists.iter().map(|(name, json)| (name.to_string(), RawJson::Nested(json))));
        input::read_parameters(fields, &parameters, context, &mut errors)?
    } else {
        let parameters: Vec<_> =
            call.body.fields.iter().map(|(name, raw)| (name.to_string(), RawJson::read(raw))).collect();
        input::read_parameters(fields, &parameters, context, &mut errors)?
    };
    references::check_parameters(context, fields, &values, errors).await?;
    Ok(values)
}

/// A list parameter of a query string as JSON: `ids=1,2` or `ids[]=1&ids[]=2`, like the lists of `q`.
fn list_of(field: &FieldMeta, pairs: &[Pair]) -> Option<String> {
    if !matches!(field.kind, Kind::StringList { .. } | Kind::RefList { .. }) {
        return None;
    }
    let repeated = format!("{}[]", field.name);
    let bracketed = pairs.iter().filter(|pair| pair.name == repeated).map(|pair| pair.value.as_str());
    let comma_separated = pairs.iter().filter(|pair| pair.name == field.name).flat_map(|pair| pair.value.split(','));
    let elements: Vec<&str> = bracketed.chain(comma_separated).collect();
    if elements.is_empty() { None } else { serde_json::to_string(&elements).ok() }
}

/// Writes the output values under their key.
fn write(action: &ActionMeta, values: &[Value]) -> Result<Vec<u8>> {
    let ActionOutput::Fields { key, fields } = action.output else {
        return Err(Error::internal(format!("`{}` has no output fields", action.name)));
    };
    let mut out = vec![b'{'];
    for (index, (field, value)) in fields.iter().zip(values).enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_text(&mut out, field.name);
        out.push(b':');
        write_single_value(&mut out, field, value);
    }
    out.push(b'}');
    Ok(show::wrap(key, &out))
}
