//! `DELETE /<path>/{id}`: deletes a record, or soft-deletes it if the resource declares so.

use std::sync::Arc;

use sea_orm::QueryResult;

use super::on_delete;
use super::update::{guard, guard_hook};
use crate::catalog::Entry;
use crate::error::{Error, Result};
use crate::ops::Context;
use crate::ops::etag::Preconditions;
use crate::ops::hooks::RunningHook;
use crate::ops::input::changeset::stored;
use crate::ops::input::checks::reject_frozen;
use crate::ops::input::embedded;
use crate::ops::transaction::after_commit_of;
use crate::ops::visibility::{audience, visible};
use crate::ops::{attached_records, audit, outbox};
use crate::ops::{records, show};
use crate::query::Condition;

/// Deletes the embedded records and attachments of a record.
async fn delete_dependents(context: &Context<'_>, entry: &Entry, id: i64) -> Result<()> {
    embedded::remove(context, entry, id).await?;
    if !entry.meta.attachments {
        return Ok(());
    }
    let Some(attached_entry) = context.catalog().attached() else { return Ok(()) };
    for file in attached_records::attached_ids(context, attached_entry, entry, id).await? {
        // A caller that may delete the record deletes its attachments, even those that it cannot see.
        let Some(row) = records::load(context, attached_entry, file, &Condition::always(), true).await? else {
            continue;
        };
        Box::pin(remove_one(context, attached_entry, file, row)).await?;
    }
    Ok(())
}

/// Deletes the row, in a savepoint if a foreign key can prevent it: on PostgreSQL, the transaction could not look for the
/// records that refer to it otherwise.
async fn delete_row(context: &Context<'_>, entry: &Entry, id: i64, is_direct: bool) -> Result<()> {
    let work = records::delete(context, entry, id);
    let has_foreign_keys = on_delete::has_foreign_keys(context.catalog(), entry);
    let Some(transaction) = context.transaction().filter(|_| has_foreign_keys) else {
        return work.await;
    };
    match transaction.attempt(work).await? {
        Err(Error::Conflict(_)) => Err(on_delete::prevented_by_key(context, entry, id, is_direct).await?),
        result => result,
    }
}

/// Deletes a record, in the context's transaction.
///
/// # Errors
/// [`Error::NotFound`] if the caller can see no such record; [`Error::PreconditionFailed`] if its version does not
/// match; [`Error::Conflict`] while other records refer to it.
pub async fn delete(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    within: Condition,
    conditions: &Preconditions,
) -> Result<()> {
    let condition = visible(context, entry).and(within);
    let row = match on_delete::locks_references(context.catalog(), entry) {
        true => records::load_to_delete(context, entry, id, &condition).await?,
        false => records::load(context, entry, id, &condition, true).await?,
    };
    remove(context, entry, id, row.ok_or(Error::NotFound)?, Some(conditions)).await
}

/// Deletes a locked record as a consequence of the deletion of another. No record refers to it any more by a field with
/// `on_delete`.
pub(super) async fn remove_one(context: &Context<'_>, entry: &Entry, id: i64, row: Arc<QueryResult>) -> Result<()> {
    remove(context, entry, id, row, None).await
}

/// Deletes a locked record. `conditions` are those of the request that names it.
async fn remove(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    row: Arc<QueryResult>,
    conditions: Option<&Preconditions>,
) -> Result<()> {
    match conditions {
        Some(_) => guard(context, entry, &row).await?,
        None => guard_hook(context, entry, &row).await?,
    }
    reject_frozen(context, entry.meta, &row).await?;
    let record = show::single(context, entry, id).await?.ok_or(Error::NotFound)?;
    if let Some(conditions) = conditions {
        conditions.check(&record.tag())?;
    }
    // The audience depends on the record and its parents, so it is read before they are deleted.
    let audience = audience(context, entry, |field| stored(&row, field)).await?;
    let hooks = context.route(entry).hooks;
    if let Some(hook) = hooks.before_delete {
        let running = RunningHook::enter(context, entry.meta, "before_delete")?;
        hook(&context.within_hook(&running), &row).await?;
    }
    if conditions.is_some() {
        on_delete::apply(context, entry, id).await?;
    }
    if !entry.meta.soft_delete {
        delete_dependents(context, entry, id).await?;
    }
    delete_row(context, entry, id, conditions.is_some()).await?;
    if entry.meta.events {
        let data = show::wrap(entry.meta.name, record.json());
        outbox::emit(context, entry, "deleted", &data, audience).await?;
    }
    audit::record_deletion(context, entry, id, &row).await?;
    if let Some(hook) = hooks.after_delete {
        let running = RunningHook::enter(context, entry.meta, "after_delete")?;
        hook(&context.within_hook(&running), &row).await?;
    }
    after_commit_of(context, entry, row.clone(), Some(row));
    Ok(())
}
