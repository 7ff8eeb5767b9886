//! Conditions over a whole record: `checks`, and `frozen`, under which nothing changes any more.

use sea_orm::{QueryResult, Value};

use super::changeset::{Changes, stored_named};
use crate::error::{Error, Result};
use crate::expression::{self, Field, Mistake, Node, Request};
use crate::meta::{CheckMeta, ResourceMeta};
use crate::ops::Context;

/// Returns the messages of the checks that a record breaks, by field. `is_checked` selects the checks by the names of their
/// fields; `current` returns a value. A check holds if its condition is true or NULL, as a CHECK of SQL.
///
/// # Errors
/// Those of `current`.
pub fn broken_checks(
    meta: &'static ResourceMeta,
    request: &Request<'_>,
    is_checked: impl Fn(&[&str]) -> bool,
    current: impl Fn(&str) -> Result<Option<Value>>,
) -> Result<Vec<(&'static str, String)>> {
    let mut problems = Vec::new();
    for check in meta.checks {
        let node = checked(check.that, meta)?;
        let Some(field) = field_of(check, node) else { continue };
        if !is_checked(&[&[field], node.fields().as_slice()].concat()) {
            continue;
        }
        if expression::holds(node, request, &|field| current(&field.name))? == Some(false) {
            let message = check.message.map_or_else(|| format!("must satisfy {}", check.that), str::to_owned);
            problems.push((field, message));
        }
    }
    Ok(problems)
}

/// The field under which a broken check is reported: its own, or else the first of its condition, which the condition makes a
/// sentence about.
pub fn field_of(check: &CheckMeta, node: &'static Node) -> Option<&'static str> {
    check.field.or_else(|| node.fields().first().copied())
}

/// The checked tree of a condition in the metadata.
///
/// # Errors
/// An internal error for an invalid condition. The start refuses one.
pub fn checked(condition: &'static str, meta: &'static ResourceMeta) -> Result<&'static Node> {
    expression::condition(condition, meta).map_err(|mistake| invalid(condition, &mistake))
}

/// The error of an invalid condition in the metadata.
pub fn invalid(condition: &str, mistake: &Mistake) -> Error {
    Error::internal(format!("`{condition}`: {}", mistake.message))
}

/// Refuses a write to a stored record that is frozen.
///
/// # Errors
/// [`Error::Frozen`]; when the database fails.
pub async fn reject_frozen(context: &Context<'_>, meta: &'static ResourceMeta, row: &QueryResult) -> Result<()> {
    match frozen_by(context, meta, row).await? {
        Some(condition) => {
            let id: i64 = row.try_get("", "id")?;
            Err(Error::Frozen(format!("{} {id} is frozen, because {condition}.", meta.label)))
        }
        None => Ok(()),
    }
}

/// The condition by which a stored record, read with every column, is frozen, if it is.
///
/// # Errors
/// When the database fails.
pub async fn frozen_by(
    context: &Context<'_>,
    meta: &'static ResourceMeta,
    row: &QueryResult,
) -> Result<Option<&'static str>> {
    let Some(condition) = meta.frozen else { return Ok(None) };
    let node = checked(condition, meta)?;
    let request = context.request(node.needs_day()).await?;
    let current = |field: &Field| stored_named(row, meta.fields, &field.name);
    let is_frozen = expression::holds(node, &request, &current)? == Some(true);
    Ok(is_frozen.then_some(condition))
}

/// Refuses changes to a stored record that is frozen. The values of the stored row decide, not those of the write. A restore is
/// allowed: it takes back a delete.
///
/// # Errors
/// [`Error::Frozen`]; when the database fails.
pub async fn reject_changes_of_frozen(context: &Context<'_>, changes: &Changes) -> Result<()> {
    let Some(row) = &changes.before else { return Ok(()) };
    if is_restore(changes) || changes.is_empty() && changes.errors.is_empty() {
        return Ok(());
    }
    reject_frozen(context, changes.meta, row).await
}

/// True if a write takes back a delete, and changes nothing else.
fn is_restore(changes: &Changes) -> bool {
    let mut names = changes.iter().map(|(field, _)| field.name).peekable();
    names.peek().is_some() && names.all(|name| name == "deleted_at")
}
