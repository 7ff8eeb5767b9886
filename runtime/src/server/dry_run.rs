//! Dry run of a write: everything that the write does, in a transaction that is rolled back.

use salvo::http::StatusCode;
use serde_json::{Map, Value, json};

use super::Response;
use super::resource_write::{Arguments, read, write};
use charter_core::catalog::Entry;
use charter_core::error::{Error, Result};
use charter_core::meta::{ActionOutput, Kind, Operation};
use charter_core::ops::endpoints::RouteOperation;
use charter_core::ops::{Context, Transaction, show};

/// Marks a request within this process whose write is rolled back. Clients cannot set it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DryRun;

/// Runs a write and rolls it back. The response is that of the write, with `dry_run` and, if it changes a record, with
/// `changes`: the values of each changed field before and after. It has no secrets and no id of a new record, because
/// the real write would have others.
///
/// Rules, hooks and constraints of the database are those of the real write. Work that waits for the commit, such as
/// mails and `after_commit` hooks, does not run.
///
/// # Errors
/// Those of the write; [`Error::Conflict`] for an action outside of a transaction.
pub(super) async fn run(
    context: &Context<'_>,
    entry: &Entry,
    call: RouteOperation,
    arguments: Arguments<'_>,
) -> Result<Response> {
    if !call.is_transaction() {
        return Err(Error::Conflict(
            "This action calls another server, so that it cannot be rehearsed. Nothing was done.".into(),
        ));
    }
    let body = read(entry, call, arguments.bytes)?;
    // Not a lazy transaction, whose single statement would be committed at once.
    let transaction = Transaction::begin(context.state()).await?;
    let context = &context.in_transaction(&transaction);
    let changed = arguments.id.filter(|_| changes_a_record(call));
    let before = record(context, entry, changed).await?;
    let (reply, _) = write(context, entry, call, arguments, &body).await?;
    let after = record(context, entry, changed).await?;
    drop(transaction);
    let mut response: Map<String, Value> = match reply.body.is_empty() {
        true => Map::new(),
        false => serde_json::from_slice(&reply.body).map_err(Error::internal)?,
    };
    if let Some(Value::Object(shown)) = response.get_mut(entry.meta.name) {
        secrets(entry, call).iter().for_each(|(name, _)| drop(shown.remove(*name)));
        if reply.status == 201 {
            remove_new_ids(entry, shown);
        }
    }
    if let (Some(before), Some(after)) = (before, after) {
        response.insert("changes".into(), changes(&before, &after));
    }
    response.insert("dry_run".into(), true.into());
    Ok(Response::json(StatusCode::OK, Value::Object(response).to_string().into_bytes()))
}

/// True if a write changes the record in its path. Some actions read it and create another.
fn changes_a_record(call: RouteOperation) -> bool {
    !matches!(call, RouteOperation::Action(action) if matches!(action.output, ActionOutput::Created))
}

/// The record as the caller may read it.
async fn record(context: &Context<'_>, entry: &Entry, id: Option<i64>) -> Result<Option<Map<String, Value>>> {
    let Some(id) = id else { return Ok(None) };
    let Some(record) = show::single(context, entry, id).await? else { return Ok(None) };
    serde_json::from_slice(record.readable()).map(Some).map_err(Error::internal)
}

fn secrets(entry: &Entry, call: RouteOperation) -> &'static [(&'static str, &'static str)] {
    match call {
        RouteOperation::Operation(Operation::Create) => entry.meta.reveals,
        RouteOperation::Action(action) => action.reveals,
        _ => &[],
    }
}

/// Removes the ids of a new record and of its embedded records.
fn remove_new_ids(entry: &Entry, record: &mut Map<String, Value>) {
    record.remove("id");
    for field in entry.meta.fields.iter().filter(|field| matches!(field.kind, Kind::Embedded { .. })) {
        let embedded = record.get_mut(field.name).and_then(Value::as_array_mut);
        embedded.into_iter().flatten().filter_map(Value::as_object_mut).for_each(|one| drop(one.remove("id")));
    }
}

/// The fields with different values: `{"name": {"before": "Lamp", "after": "Spot"}}`.
fn changes(before: &Map<String, Value>, after: &Map<String, Value>) -> Value {
    let changed = after.iter().filter(|(name, value)| before.get(*name) != Some(value));
    let entry =
        |(name, value): (&String, &Value)| (name.clone(), json!({ "before": before.get(name), "after": value }));
    Value::Object(changed.map(entry).collect())
}
