//! Row rules of writes: the records that a caller may change, and what it may make of them.

use super::visibility::{changeable, permitted, present};
use crate::catalog::Entry;
use crate::error::{Error, Result};
use crate::expression::{self, Field};
use crate::ops::input::changeset::Changes;
use crate::ops::input::referred_records::ReferredRecords;
use crate::ops::{Context, records};
use crate::query::Condition;

/// The message for a record that the caller can see but not change.
pub const NOT_CHANGEABLE: &str = "You may read this record, but not change it.";

/// The message for a new record that the caller could not change.
pub const NOT_CREATABLE: &str = "You may not create such a record.";
const NOT_READABLE: &str = "You could not read the record after this change.";

/// True if a rule of the resource limits some callers.
pub fn has_rules(entry: &Entry) -> bool {
    entry.meta.read_rule.is_some() || entry.meta.write_rule.is_some()
}

/// Checks that the caller may change a record that it can see.
///
/// # Errors
/// [`Error::Forbidden`] if the rule `access.write` does not hold for the record.
pub async fn check_changeable(context: &Context<'_>, entry: &Entry, id: i64) -> Result<()> {
    let Some(rule) = changeable(context, entry) else { return Ok(()) };
    match holds(context, entry, id, rule).await? {
        true => Ok(()),
        false => Err(Error::Forbidden(NOT_CHANGEABLE.into())),
    }
}

/// Checks a record that the caller has just created or changed, in the same transaction: a record may not leave the
/// caller's sight, and only records that the caller may change are created. A record that the public creates belongs to nobody,
/// and has no caller who could lose sight of it.
///
/// # Errors
/// [`Error::Forbidden`].
pub async fn check_written(context: &Context<'_>, entry: &Entry, id: i64, is_new: bool) -> Result<()> {
    if !has_rules(entry) || context.caller().is_public {
        return Ok(());
    }
    if is_new
        && let Some(rule) = changeable(context, entry)
        && !holds(context, entry, id, rule).await?
    {
        return Err(Error::Forbidden(NOT_CREATABLE.into()));
    }
    if entry.meta.read_rule.is_some() && !holds(context, entry, id, permitted(context, entry)).await? {
        return Err(Error::Forbidden(NOT_READABLE.into()));
    }
    Ok(())
}

/// [`check_written`] for a record that a rehearsal does not store. The other records of a rule are read from the database. A new
/// record has no id yet. A rule over rollups is left to the write, because the embedded records of the row are not counted, and
/// so are the owner, hooks and parents of the record.
///
/// # Errors
/// [`Error::Forbidden`].
pub async fn check_rehearsed(context: &Context<'_>, entry: &Entry, changes: &Changes) -> Result<()> {
    if context.caller().is_admin {
        return Ok(());
    }
    if let Some(rule) = entry.meta.write_rule.filter(|_| changes.is_new())
        && !holds_rehearsed(context, entry, rule, changes).await?
    {
        return Err(Error::Forbidden(NOT_CREATABLE.into()));
    }
    if let Some(rule) = entry.meta.read_rule
        && !holds_rehearsed(context, entry, rule, changes).await?
    {
        return Err(Error::Forbidden(NOT_READABLE.into()));
    }
    Ok(())
}

/// True if a rule holds for the values of a record that is not stored.
pub(super) async fn holds_rehearsed(
    context: &Context<'_>,
    entry: &Entry,
    rule: &'static str,
    changes: &Changes,
) -> Result<bool> {
    let catalog = context.catalog();
    let find = |name: &str| Some(catalog.linked(name).meta);
    // The start has checked every rule. One that is invalid all the same holds for no record.
    let Ok(node) = expression::condition_over(rule, entry.meta, &find) else { return Ok(false) };
    let is_rollup = |name: &&str| entry.field(name).is_some_and(|field| field.rollup.is_some());
    if node.fields().iter().any(is_rollup) {
        return Ok(true);
    }
    let is_present = |target: &Entry| if target.meta.soft_delete { present(target) } else { Condition::always() };
    let referred = ReferredRecords::load(context, changes, node, is_present).await?;
    let current = |field: &Field| referred.current(changes, field);
    Ok(expression::holds(node, &context.request_without_day(), &current)? == Some(true))
}

async fn holds(context: &Context<'_>, entry: &Entry, id: i64, condition: Condition) -> Result<bool> {
    Ok(records::load(context, entry, id, &condition, false).await?.is_some())
}
