//! Row rules of writes: the records that a caller may change, and what it may make of them.

use super::visibility::{changeable, permitted};
use crate::catalog::Entry;
use crate::error::{Error, Result};
use crate::ops::{Context, records};
use crate::query::Condition;

/// The message for a record that the caller can see but not change.
pub const NOT_CHANGEABLE: &str = "You may read this record, but not change it.";

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
/// and is in nobody's sight but that of others.
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
        return Err(Error::Forbidden("You may not create such a record.".into()));
    }
    if entry.meta.read_rule.is_some() && !holds(context, entry, id, permitted(context, entry)).await? {
        return Err(Error::Forbidden("You could not read the record after this change.".into()));
    }
    Ok(())
}

async fn holds(context: &Context<'_>, entry: &Entry, id: i64, condition: Condition) -> Result<bool> {
    Ok(records::load(context, entry, id, &condition, false).await?.is_some())
}
