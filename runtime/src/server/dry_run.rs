//! Dry run of a write: everything that the write does, in a transaction that is rolled back.

use salvo::http::StatusCode;
use serde::Serialize;
use serde_json::value::RawValue;

use super::Response;
use super::raw_object::RawObject;
use super::resource_write::{Arguments, read, write};
use charter_core::catalog::Entry;
use charter_core::error::{Error, Result};
use charter_core::meta::{ActionOutput, Kind, Operation};
use charter_core::ops::endpoints::RouteOperation;
use charter_core::ops::{Access, Context, Transaction, show};
use charter_core::principal::Principal;

/// Marks a request within this process whose write is rolled back. Clients cannot set it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DryRun;

/// Runs a write and rolls it back. The response is that of the write, with `dry_run` and, if it changes a record, with
/// `changes`: the values of each changed field before and after. It has no secrets and no ids of new and newly embedded
/// records, because the real write would have others.
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
    let changed = arguments.id.filter(|_| shows_changes(entry, call, context.caller()));
    let before = record(context, entry, changed).await?;
    let (reply, _) = write(context, entry, call, arguments, &body).await?;
    let after = record(context, entry, changed).await?;
    drop(transaction);
    let mut response = RawObject::read(&reply.body)?;
    if let Some(shown) = response.text(entry.meta.name) {
        let mut shown = RawObject::read(shown.as_bytes())?;
        secrets(entry, call).iter().for_each(|(name, _)| shown.remove(name));
        if reply.status == 201 {
            shown.remove("id");
        }
        remove_new_ids(entry, before.as_ref(), &mut shown)?;
        response.set(entry.meta.name, &shown)?;
    }
    if let (Some(before), Some(mut after)) = (before, after) {
        remove_new_ids(entry, Some(&before), &mut after)?;
        response.set("changes", &changes(&before, &after)?)?;
    }
    response.set("dry_run", &true)?;
    Ok(Response::json(StatusCode::OK, serde_json::to_vec(&response).map_err(Error::internal)?))
}

/// True if a write changes the record in its path and the caller may read it. Some actions read it and create another;
/// one with an output of its own does not need the right to read.
fn shows_changes(entry: &Entry, call: RouteOperation, caller: &Principal) -> bool {
    match call {
        RouteOperation::Action(action) => match action.output {
            ActionOutput::Record => true,
            ActionOutput::Created => false,
            ActionOutput::Fields { .. } => Access::read(entry).allows(caller),
        },
        _ => true,
    }
}

/// The record as the caller may read it.
async fn record(context: &Context<'_>, entry: &Entry, id: Option<i64>) -> Result<Option<RawObject>> {
    let Some(id) = id else { return Ok(None) };
    let Some(record) = show::single(context, entry, id).await? else { return Ok(None) };
    RawObject::read(record.readable()).map(Some)
}

fn secrets(entry: &Entry, call: RouteOperation) -> &'static [(&'static str, &'static str)] {
    match call {
        RouteOperation::Operation(Operation::Create) => entry.meta.reveals,
        RouteOperation::Action(action) => action.reveals,
        _ => &[],
    }
}

/// Removes the ids of the embedded records that the record did not have before.
fn remove_new_ids(entry: &Entry, before: Option<&RawObject>, record: &mut RawObject) -> Result<()> {
    for field in entry.meta.fields.iter().filter(|field| matches!(field.kind, Kind::Embedded { .. })) {
        if !record.text(field.name).is_some_and(|json| json.starts_with('[')) {
            continue;
        }
        let known = before.map(|before| before.objects(field.name)).unwrap_or_default();
        let is_known = |one: &RawObject| known.iter().any(|known| known.text("id") == one.text("id"));
        let mut embedded = record.objects(field.name);
        embedded.iter_mut().filter(|one| !is_known(one)).for_each(|one| one.remove("id"));
        record.set(field.name, &embedded)?;
    }
    Ok(())
}

/// The values of a field before and after a write.
#[derive(Serialize)]
struct Change<'r> {
    before: Option<&'r RawValue>,
    after: &'r RawValue,
}

/// The fields with different values: `{"name": {"before": "Lamp", "after": "Spot"}}`.
fn changes(before: &RawObject, after: &RawObject) -> Result<RawObject> {
    let mut changes = RawObject::default();
    for (name, after) in after.iter().filter(|(name, after)| before.text(name) != Some(after.get())) {
        changes.set(name, &Change { before: before.get(name), after })?;
    }
    Ok(changes)
}
