//! The end of a record: `DELETE /<path>/{id}`, for good or by a mark, as the resource declares.

use std::sync::Arc;

use sea_orm::QueryResult;

use super::update::guard;
use crate::attachment;
use crate::audit::trail;
use crate::catalog::Entry;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::event;
use crate::ops::etag::Preconditions;
use crate::ops::hooks::RunningHook;
use crate::ops::input::changeset::stored;
use crate::ops::input::embedded;
use crate::ops::transaction::after_commit_of;
use crate::ops::visibility::{audience, visible};
use crate::ops::{records, show};
use crate::query::Condition;

/// What a reference that stands in the way comes to.
const REFERRED_TO: &str = "Other records still refer to this one. Deleted ones that can be restored count too.";

/// Deletes what goes with a record: its embedded records, and its attachments as if each were deleted by itself.
async fn with_it(context: &Context<'_>, entry: &Entry, id: i64) -> Result<()> {
    embedded::remove(context, entry, id).await?;
    if !entry.meta.attachments {
        return Ok(());
    }
    let Some(attached) = context.catalog().attached() else { return Ok(()) };
    for file in attachment::of(context, entry, id).await? {
        // Whoever may delete the record deletes what hangs on it, though it be hidden from them.
        let Some(row) = records::load(context, attached, file, &Condition::always(), true).await? else { continue };
        Box::pin(remove(context, attached, file, row, &Preconditions::default())).await?;
    }
    Ok(())
}

/// Deletes a record, in the context's transaction.
///
/// # Errors
/// [`Error::NotFound`] when there is none that the caller may see; [`Error::PreconditionFailed`] when it is not the
/// version that is meant; [`Error::Conflict`] while others refer to it.
pub async fn delete(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    within: Condition,
    conditions: &Preconditions,
) -> Result<()> {
    let condition = visible(context, entry).and(within);
    let row = records::load(context, entry, id, &condition, true).await?.ok_or(Error::NotFound)?;
    remove(context, entry, id, row, conditions).await
}

/// Deletes a record that was found and locked.
async fn remove(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    row: Arc<QueryResult>,
    conditions: &Preconditions,
) -> Result<()> {
    guard(context, entry, &row).await?;
    let record = show::single(context, entry, id).await?.ok_or(Error::NotFound)?;
    conditions.check(&record.tag())?;
    // From before it is gone, and what goes with it.
    let audience = audience(context, entry, |field| stored(&row, field)).await?;
    let hooks = entry.route.hooks;
    if let Some(hook) = hooks.before_delete {
        let running = RunningHook::enter(context, entry.meta, "before_delete")?;
        hook(&context.within_hook(&running), &row).await?;
    }
    if !entry.meta.soft_delete {
        with_it(context, entry, id).await?;
    }
    records::delete(context, entry, id).await.map_err(|error| match error {
        Error::Conflict(_) => Error::Conflict(REFERRED_TO.into()),
        other => other,
    })?;
    if entry.meta.events {
        let data = show::wrap(entry.meta.name, record.answer());
        event::emit(context, entry, "deleted", &data, audience).await?;
    }
    trail::removed(context, entry, id, &row).await?;
    if let Some(hook) = hooks.after_delete {
        let running = RunningHook::enter(context, entry.meta, "after_delete")?;
        hook(&context.within_hook(&running), &row).await?;
    }
    after_commit_of(context, entry, row);
    Ok(())
}
