//! `PUT` and `PATCH /<path>/{id}`: update a record; both have the same meaning.

use std::sync::Arc;

use sea_orm::{QueryResult, Value};

use super::create::{after_save, check};
use super::fast_path;
use super::result::WriteResult;
use crate::catalog::Entry;
use crate::custom_field;
use crate::error::{Error, Result};
use crate::meta::{Access, FieldMeta};
use crate::ops::Context;
use crate::ops::action::rule::immutable_message;
use crate::ops::audit;
use crate::ops::etag::Preconditions;
use crate::ops::hooks::RunningHook;
use crate::ops::input::body::Body;
use crate::ops::input::changeset::{Changes, Draft, stored};
use crate::ops::input::checks::reject_changes_of_frozen;
use crate::ops::input::{computed_fields, embedded};
use crate::ops::outbox;
use crate::ops::transaction::after_commit;
use crate::ops::{field_access, input, records, row_access, show, visibility};
use crate::query::Condition;
use crate::resource::Resource;

/// Updates the given fields of a record, in the context's transaction, and returns it as `show` does. `found` is the
/// record as just loaded, with its row version.
pub async fn update(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    within: Condition,
    conditions: &Preconditions,
    body: &Body<'_>,
    found: Option<Arc<QueryResult>>,
) -> Result<WriteResult> {
    if let Some(found) = found.filter(|_| conditions.is_empty())
        && let Some(result) = fast_path::update_record(context, entry, id, &within, found, body).await?
    {
        return Ok(result);
    }
    let mut changes = lock(context, entry, id, within, conditions).await?;
    let definitions = match gives_custom_fields(entry, body) {
        true => custom_field::load(context.db(), entry.meta.plural).await?,
        false => Vec::new(),
    };
    input::read(context.catalog(), entry, body, &definitions, &mut changes)?;
    field_access::keep_unread(context, entry, &mut changes);
    drop_unchanged(&mut changes)?;
    field_access::check_writes(context, &mut changes, Some(id)).await?;
    reject_immutable_changes(&mut changes);
    finish(context, entry, id, &mut changes, UPDATE).await
}

/// True if a body contains custom fields.
pub fn gives_custom_fields(entry: &Entry, body: &Body<'_>) -> bool {
    entry.meta.custom_fields && body.fields.iter().any(|(name, _)| name == "custom_fields")
}

/// Locks a record until the transaction ends, and starts its changes. Checks the `guard` hook and the preconditions
/// before the body is validated.
pub async fn lock(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    within: Condition,
    conditions: &Preconditions,
) -> Result<Changes> {
    let condition = visibility::visible(context, entry).and(within);
    let before = records::load(context, entry, id, &condition, true).await?.ok_or(Error::NotFound)?;
    guard(context, entry, &before).await?;
    check_version(context, entry, id, conditions).await?;
    Ok(Changes::new(entry.meta, Some(before)))
}

/// Checks the rule `access.write` and the `guard` hook: whether the caller may change or delete a record that it can see.
pub async fn guard(context: &Context<'_>, entry: &Entry, row: &QueryResult) -> Result<()> {
    row_access::check_changeable(context, entry, row.try_get("", "id")?).await?;
    guard_hook(context, entry, row).await
}

/// Runs the `guard` hook, for a record that changes as a consequence of another's deletion.
pub(super) async fn guard_hook(context: &Context<'_>, entry: &Entry, row: &QueryResult) -> Result<()> {
    match context.route(entry).hooks.guard {
        Some(hook) => {
            let running = RunningHook::enter(context, entry.meta, "guard")?;
            hook(&context.within_hook(&running), row).await
        }
        None => Ok(()),
    }
}

/// Checks the preconditions on a locked record.
pub async fn check_version(context: &Context<'_>, entry: &Entry, id: i64, conditions: &Preconditions) -> Result<()> {
    if conditions.is_empty() {
        return Ok(());
    }
    let record = show::single(context, entry, id).await?.ok_or(Error::NotFound)?;
    conditions.check(&record.tag())
}

/// The names of a change.
#[derive(Debug, Clone, Copy)]
pub struct Cause {
    /// In the audit log: `update`, or the name of an action.
    pub action: &'static str,
    /// In its event.
    pub event: &'static str,
}

pub const UPDATE: Cause = Cause { action: "update", event: "updated" };

/// Checks and stores the values that differ from the stored ones, and returns the record.
pub async fn finish(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    changes: &mut Changes,
    cause: Cause,
) -> Result<WriteResult> {
    let result = finish_consequence(context, entry, id, changes, cause).await?;
    row_access::check_written(context, entry, id, false).await?;
    Ok(result)
}

/// [`finish`] for a change that no caller asked for, so that no row rule limits it.
pub(super) async fn finish_consequence(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    changes: &mut Changes,
    cause: Cause,
) -> Result<WriteResult> {
    drop_unchanged(changes)?;
    if changes.meta.frozen.is_some() {
        // Embedded records that a client sent back as it read them change nothing.
        embedded::check(context, changes, Some(id)).await?;
    }
    // Before the hooks, which may do more than change the record.
    reject_changes_of_frozen(context, changes).await?;
    check(context, entry, Some(id), changes).await?;
    store_changed(context, entry, id, changes, cause).await
}

/// Sets fields of a record as a consequence of another change, independent of the caller's access:
///
/// ```ignore
/// revise::<loan::Entity>(context, id, |draft| {
///     draft.model.reminded_at = Set(Some(context.now()));
///     Ok(())
/// })
/// ```
///
/// The values are validated like those that a hook sets. No other rule and neither `check` nor `before_save` runs. The
/// change has its event and its audit entry. The draft has the locked record as `before`. A record that is deleted by then
/// is ignored.
///
/// # Errors
/// Those of `change`; [`Error::Invalid`] for the errors of the draft; [`Error::Internal`] for a value that no client could
/// send.
pub async fn revise<R: Resource>(
    context: &Context<'_>,
    id: i64,
    change: impl FnOnce(&mut Draft<R>) -> Result<()> + Send,
) -> Result<()> {
    let entry = context.catalog().linked(R::meta().name);
    let change = |changes: &mut Changes| {
        let mut draft = changes.draft::<R>()?;
        change(&mut draft)?;
        changes.take(draft)
    };
    change_by_code(context, entry, id, change, true).await
}

/// Sets a list that loses a deleted record: it may become shorter than its rules allow. `value` is computed from the
/// locked row.
pub async fn release(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    field: &'static FieldMeta,
    value: impl FnOnce(&QueryResult) -> Result<Value>,
) -> Result<()> {
    let change = |changes: &mut Changes| {
        let row = changes.before.clone().ok_or(Error::NotFound)?;
        changes.set(field.name, value(&row)?);
        Ok(())
    };
    change_by_code(context, entry, id, change, false).await
}

async fn change_by_code(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    change: impl FnOnce(&mut Changes) -> Result<()>,
    settle: bool,
) -> Result<()> {
    let Some(row) = records::load(context, entry, id, &Condition::always(), true).await? else { return Ok(()) };
    let running = RunningHook::enter(context, entry.meta, "revise")?;
    let context = &context.within_hook(&running);
    let mut changes = Changes::new(entry.meta, Some(row));
    let before = changes.values().to_vec();
    change(&mut changes)?;
    if settle {
        running.settle(context, &before, &mut changes).await?;
    }
    computed_fields::set(context, &mut changes).await?;
    std::mem::take(&mut changes.errors).into_result()?;
    store_changed(context, entry, id, &mut changes, UPDATE).await.map(drop)
}

/// Stores the values that differ from the stored ones, and returns the record. Without a difference, it writes and
/// emits nothing.
async fn store_changed(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    changes: &mut Changes,
    cause: Cause,
) -> Result<WriteResult> {
    // A hook may have set a field to its stored value.
    drop_unchanged(changes)?;
    let has_changed = !changes.is_empty();
    if has_changed {
        reject_changes_of_frozen(context, changes).await?;
        changes.set("updated_at", context.now().into());
        records::update(context, changes, id).await?;
        // Events and audit entries have the order of the changes: those of the hook's own changes follow.
        audit::record_change(context, entry, cause.action, id, changes).await?;
        embedded::write(context, changes, id).await?;
    }
    let mut record = show::single(context, entry, id).await?.ok_or(Error::NotFound)?;
    if has_changed {
        outbox::emit_all(context, entry, cause.event, changes, record.json()).await?;
        let before = changes.before.clone();
        if after_save(context, entry, id, before.as_deref()).await? {
            record = show::single(context, entry, id).await?.ok_or(Error::NotFound)?;
        }
        after_commit(context, entry, id, before).await?;
    }
    Ok(WriteResult::of(entry, &record, changes))
}

/// Refuses changes to immutable fields by a client. Hooks and actions may change them.
pub fn reject_immutable_changes(changes: &mut Changes) {
    if !changes.is_new() {
        let immutable: Vec<&str> =
            changes.iter().filter(|(f, _)| f.access == Access::Immutable).map(|(f, _)| f.name).collect();
        for name in immutable {
            changes.errors.add(name, immutable_message(changes.meta, name));
        }
    }
}

/// Drops values that equal the stored ones.
pub fn drop_unchanged(changes: &mut Changes) -> Result<()> {
    let Some(row) = &changes.before else { return Ok(()) };
    let mut unchanged = Vec::new();
    for (field, value) in changes.iter().filter(|(field, _)| !changes.is_unread(field)) {
        let new: Option<&Value> = (*value != value.as_null()).then_some(value);
        if stored(row, field)?.as_ref() == new {
            unchanged.push(field.name);
        }
    }
    for name in unchanged {
        changes.unset(name);
    }
    Ok(())
}
