//! Records that were deleted by a mark: who may ask for them, and `POST /<path>/{id}/restore`, which takes the mark away.

use sea_orm::Value;

use super::result::WriteResult;
use super::update::{self, Cause};
use crate::catalog::Entry;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::meta::{FieldMeta, Shown};
use crate::ops::etag::Preconditions;
use crate::ops::input::changeset::Changes;
use crate::ops::input::references;
use crate::ops::{endpoints, records, show, visibility};
use crate::query::{Condition, Request};

/// The last part of the path. No action of a record has the name where deleted records are kept.
pub const RESTORE: &str = "restore";

const CAUSE: Cause = Cause { action: RESTORE, event: "restored" };

/// Whether a request means the deleted records of a resource: `deleted=only`.
///
/// # Errors
/// 403 when the caller may not delete them, who is the one that may see what was deleted; 422 for any other value, and where
/// nothing is kept: whoever asks for deleted records is never answered others.
pub fn asks_for_deleted(context: &Context<'_>, entry: &Entry, request: &Request) -> Result<bool> {
    let Some(wanted) = &request.deleted else { return Ok(false) };
    if !entry.meta.keeps_deleted() {
        return Err(Error::invalid("deleted", "cannot be asked for: nothing of what was deleted is kept here"));
    }
    let (ability, permission) = endpoints::to_write(entry);
    context.caller().need_ability(&ability)?;
    if let Some(permission) = permission {
        context.caller().need_permission(permission)?;
    }
    match wanted.as_str() {
        "only" => Ok(true),
        _ => Err(Error::invalid("deleted", "must be only")),
    }
}

/// The fields of a deleted record in a list: those of any, and when it was deleted.
pub fn shown_in_list(entry: &Entry) -> impl Iterator<Item = &'static FieldMeta> {
    entry.meta.fields.iter().filter(|field| field.shown == Shown::Always || field.name == "deleted_at")
}

/// Whether there is a record that could be restored, or that has been already.
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

/// Restores a deleted record, in the context's transaction, and answers it as `show` does. One that is not deleted stays as it
/// is: the answer to its restore may have been lost.
///
/// # Errors
/// [`Error::NotFound`] when there is none that the caller may see; [`Error::PreconditionFailed`] when it is not the
/// version that is meant; 422 where it could not be as it was: a unique value is another's by now, or what it cannot be
/// without is deleted.
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
    let mut changes = Changes::new(entry.meta, Some(row));
    changes.set("deleted_at", Value::ChronoDateTimeUtc(None));
    references::check_restored(context, &mut changes, id).await?;
    update::finish(context, entry, id, &mut changes, CAUSE).await
}
