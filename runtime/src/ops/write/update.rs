//! A change to a record: `PUT` and `PATCH /<path>/{id}`, which mean the same.

use std::sync::Arc;

use sea_orm::{QueryResult, Value};

use super::create::{after_save, check};
use super::fast_path;
use super::result::WriteResult;
use crate::audit::trail;
use crate::catalog::Entry;
use crate::context::Context;
use crate::custom_field;
use crate::error::{Error, Result};
use crate::event;
use crate::meta::{Access, FieldMeta};
use crate::ops::etag::Preconditions;
use crate::ops::hooks::RunningHook;
use crate::ops::input::body::Body;
use crate::ops::input::changeset::{Changes, stored};
use crate::ops::input::embedded;
use crate::ops::transaction::after_commit;
use crate::ops::{input, records, show, visibility};
use crate::query::Condition;

/// Changes the given fields of a record, in the context's transaction, and answers it as `show` does. `found` is the record
/// as it was just seen, with its version, if it was.
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
        && let Some(outcome) = fast_path::update_record(context, entry, id, &within, found, body).await?
    {
        return Ok(outcome);
    }
    let mut changes = lock(context, entry, id, within, conditions).await?;
    let definitions = match gives_custom_fields(entry, body) {
        true => custom_field::load(context.db(), entry.meta.plural).await?,
        false => Vec::new(),
    };
    input::read(context.catalog(), entry, body, &definitions, &mut changes)?;
    drop_unchanged(&mut changes)?;
    refuse_fixed(&mut changes);
    finish(context, entry, id, &mut changes, UPDATE).await
}

/// Whether a body has values for custom fields.
pub fn gives_custom_fields(entry: &Entry, body: &Body<'_>) -> bool {
    entry.meta.custom_fields && body.fields.iter().any(|(name, _)| name == "custom_fields")
}

/// The record as it is, locked until the transaction ends, with no changes yet. Whether the caller may change it, and
/// whether it is the version that is meant, is known before anything of the request is judged.
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

/// Whether the caller may change or delete a record that is seen.
pub async fn guard(context: &Context<'_>, entry: &Entry, row: &QueryResult) -> Result<()> {
    match entry.route.hooks.guard {
        Some(hook) => {
            let running = RunningHook::enter(context, entry.meta, "guard")?;
            hook(&context.within_hook(&running), row).await
        }
        None => Ok(()),
    }
}

/// Whether a record that is locked is the version that is meant.
pub async fn check_version(context: &Context<'_>, entry: &Entry, id: i64, conditions: &Preconditions) -> Result<()> {
    if conditions.is_empty() {
        return Ok(());
    }
    let record = show::single(context, entry, id).await?.ok_or(Error::NotFound)?;
    conditions.check(&record.tag())
}

/// What a change is called.
#[derive(Debug, Clone, Copy)]
pub struct Cause {
    /// In the audit trail: `update`, or the name of an action.
    pub action: &'static str,
    /// In its event.
    pub event: &'static str,
}

pub const UPDATE: Cause = Cause { action: "update", event: "updated" };

/// Checks and stores what really changes, and answers the record.
pub async fn finish(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    changes: &mut Changes,
    cause: Cause,
) -> Result<WriteResult> {
    drop_unchanged(changes)?;
    check(context, entry, Some(id), changes).await?;
    store_changed(context, entry, id, changes, cause).await
}

/// Sets a field of a record as a consequence of another change, whoever asks. The value is checked as one that a hook sets;
/// no other rule is, and neither `check` nor `before_save` runs. The change has its event and its entry in the trail.
/// `value` is made of the row as it stands when nobody else can change it any more. A record that is gone by then needs
/// nothing.
pub async fn revise(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    field: &'static FieldMeta,
    value: impl FnOnce(&QueryResult) -> Result<Value>,
) -> Result<()> {
    set(context, entry, id, field, value, true).await
}

/// The same, of a list from which something goes that is no more: it may be shorter than its rules allow.
pub(crate) async fn release(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    field: &'static FieldMeta,
    value: impl FnOnce(&QueryResult) -> Result<Value>,
) -> Result<()> {
    set(context, entry, id, field, value, false).await
}

async fn set(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    field: &'static FieldMeta,
    value: impl FnOnce(&QueryResult) -> Result<Value>,
    verified: bool,
) -> Result<()> {
    let Some(row) = records::load(context, entry, id, &Condition::always(), true).await? else { return Ok(()) };
    let running = RunningHook::enter(context, entry.meta, "revise")?;
    let context = &context.within_hook(&running);
    let value = value(&row)?;
    let mut changes = Changes::new(entry.meta, Some(row));
    let before = changes.values().to_vec();
    changes.set(field.name, value);
    if verified {
        running.verify(&before, &mut changes)?;
    }
    store_changed(context, entry, id, &mut changes, UPDATE).await.map(drop)
}

/// Stores what really changes, and answers the record. Nothing is written, and nothing emitted, when nothing does.
async fn store_changed(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    changes: &mut Changes,
    cause: Cause,
) -> Result<WriteResult> {
    // A hook may have set what is stored already.
    drop_unchanged(changes)?;
    let changed = !changes.is_empty();
    if changed {
        changes.set("updated_at", context.now().into());
        records::update(context, changes, id).await?;
        // Everything is told in the order in which it happens: what the hook goes on to change is told after this.
        trail::changed(context, entry, cause.action, id, changes).await?;
        embedded::write(context, changes, id).await?;
    }
    let mut record = show::single(context, entry, id).await?.ok_or(Error::NotFound)?;
    if changed {
        event::emit_all(context, entry, cause.event, changes, record.answer()).await?;
        if after_save(context, entry, id).await? {
            record = show::single(context, entry, id).await?.ok_or(Error::NotFound)?;
        }
        after_commit(context, entry, id).await?;
    }
    Ok(WriteResult::of(entry, &record, changes))
}

/// Refuses changes to what is given once. Only clients are bound by it: hooks and actions may change anything.
pub fn refuse_fixed(changes: &mut Changes) {
    if !changes.is_new() {
        let fixed: Vec<&str> =
            changes.iter().filter(|(f, _)| f.access == Access::Immutable).map(|(f, _)| f.name).collect();
        for name in fixed {
            changes.errors.add(name, "cannot be changed");
        }
    }
}

/// Leaves out values that are stored already.
pub fn drop_unchanged(changes: &mut Changes) -> Result<()> {
    let Some(row) = &changes.before else { return Ok(()) };
    let mut same = Vec::new();
    for (field, value) in changes.iter() {
        let given: Option<&Value> = (*value != value.as_null()).then_some(value);
        if stored(row, field)?.as_ref() == given {
            same.push(field.name);
        }
    }
    for name in same {
        changes.unset(name);
    }
    Ok(())
}
