//! The end of a record: `DELETE /<path>/{id}`, for good or by a mark, as the resource declares.

use super::{show, store};
use crate::catalog::Entry;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::event;
use crate::query::Condition;

/// Deletes a record.
///
/// # Errors
/// [`Error::NotFound`] when there is none that the caller may see; [`Error::Conflict`] while others refer to it.
pub async fn delete(context: &Context<'_>, entry: &Entry, id: i64, within: Condition) -> Result<()> {
    let transaction = context.state().db.begin().await?;
    let context_in = context.on(&transaction);
    let condition = store::visible(&context_in, entry)?.and(within);
    let row = store::load(&context_in, entry, id, &condition, true).await?.ok_or(Error::NotFound)?;
    let record = show::single(&context_in, entry, id).await?.ok_or(Error::NotFound)?;
    let hooks = entry.route.hooks;
    if let Some(hook) = hooks.before_delete {
        hook(&context_in, &row).await?;
    }
    store::delete(&context_in, entry, id).await?;
    if let Some(hook) = hooks.after_delete {
        hook(&context_in, &row).await?;
    }
    event::emit(&context_in, entry, "deleted", &record).await?;
    transaction.commit().await?;
    if let Some(hook) = hooks.after_commit
        && let Err(error) = hook(context, &row).await
    {
        tracing::error!(%error, resource = entry.meta.name, id, "after_commit failed");
    }
    Ok(())
}
