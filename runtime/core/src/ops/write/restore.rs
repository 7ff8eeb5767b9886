//! `POST /<path>/{id}/restore`: restores soft-deleted records; and the query parameter `deleted=only`.

use std::sync::Arc;

pub use charter_model::reserved::RESTORE_PATH as RESTORE;
use sea_orm::{QueryResult, Value};

use super::on_delete;
use super::result::WriteResult;
use super::update::{self, Cause};
use crate::catalog::Entry;
use crate::error::{Error, Result};
use crate::meta::{FieldMeta, Shown};
use crate::ops::etag::Preconditions;
use crate::ops::input::changeset::Changes;
use crate::ops::input::references;
use crate::ops::{Access, Context};
use crate::ops::{records, row_access, show, visibility};
use crate::query::{Condition, Request};

const CAUSE: Cause = Cause { action: RESTORE, event: "restored" };

/// True if a request asks for deleted records: `deleted=only`.
///
/// # Errors
/// 403 if the caller may not delete records of this resource; 422 for any other value, and for a resource without soft
/// delete. It is an error and never ignored: a client that asks for deleted records must not get others.
pub fn asks_for_deleted(context: &Context<'_>, entry: &Entry, request: &Request) -> Result<bool> {
    let Some(value) = &request.deleted else { return Ok(false) };
    if !entry.meta.keeps_deleted() {
        return Err(Error::invalid("deleted", "is not supported: this resource has no soft delete"));
    }
    Access::write(entry, RESTORE).check(context.caller())?;
    match value.as_str() {
        "only" => Ok(true),
        _ => Err(Error::invalid("deleted", "must be only")),
    }
}

/// The fields of a deleted record in a list: those of any list item, and `deleted_at`.
pub fn shown_in_list(entry: &Entry) -> impl Iterator<Item = &'static FieldMeta> {
    entry.meta.fields.iter().filter(|field| field.shown == Shown::Always || field.name == "deleted_at")
}

/// Checks that a record exists that is deleted, or already restored.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn find(context: &Context<'_>, entry: &Entry, id: i64, within: Condition) -> Result<()> {
    for condition in [visibility::deleted(context, entry), visibility::visible(context, entry)] {
        if records::load(context, entry, id, &condition.and(within.clone()), false).await?.is_some() {
            return Ok(());
        }
    }
    Err(Error::NotFound)
}

/// Restores a deleted record, in the context's transaction, and returns it as `show` does. A record that is not deleted
/// stays unchanged and is returned too, because the response to an earlier restore may have been lost.
///
/// # Errors
/// [`Error::NotFound`] if the caller can see no such record; [`Error::PreconditionFailed`] if its version does not
/// match; 422 if it cannot be restored as it was, because another record has its unique value or a required parent is
/// deleted.
pub async fn restore(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    within: Condition,
    conditions: &Preconditions,
) -> Result<WriteResult> {
    let condition = visibility::deleted(context, entry).and(within.clone());
    let Some(row) = records::load(context, entry, id, &condition, true).await? else {
        let changes = update::lock(context, entry, id, within, conditions).await?;
        let record = show::single(context, entry, id).await?.ok_or(Error::NotFound)?;
        return Ok(WriteResult::of(entry, &record, &changes));
    };
    update::guard(context, entry, &row).await?;
    update::check_version(context, entry, id, conditions).await?;
    let result = bring_back(context, entry, id, row.clone()).await?;
    row_access::check_written(context, entry, id, false).await?;
    on_delete::restore_affected(context, entry, id, &row).await?;
    Ok(result)
}

/// Restores a locked record, without the row rules.
pub(super) async fn bring_back(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    row: Arc<QueryResult>,
) -> Result<WriteResult> {
    let mut changes = Changes::new(entry.meta, Some(row));
    changes.set("deleted_at", Value::ChronoDateTimeUtc(None));
    references::check_restored(context, &mut changes, id).await?;
    update::finish_consequence(context, entry, id, &mut changes, CAUSE).await
}
