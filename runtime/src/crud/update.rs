//! A change to a record: `PUT` and `PATCH /<path>/{id}`, which mean the same.

use sea_orm::Value;

use super::body::Body;
use super::changes::{Changes, stored};
use super::create::{after_save, check};
use super::transaction::after_commit;
use super::{embedded, input, show, store};
use crate::catalog::Entry;
use crate::context::Context;
use crate::custom_field;
use crate::error::{Error, Result};
use crate::event;
use crate::meta::Access;
use crate::query::Condition;

/// Changes the given fields of a record, in the context's transaction, and answers it as `show` does.
pub async fn update(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    within: Condition,
    body: &Body<'_>,
) -> Result<Vec<u8>> {
    let mut changes = lock(context, entry, id, within).await?;
    let definitions = match entry.meta.custom_fields && body.0.iter().any(|(name, _)| name == "custom_fields") {
        true => custom_field::load(context.db(), entry.meta.plural).await?,
        false => Vec::new(),
    };
    input::read(context.catalog(), entry, body, &definitions, &mut changes)?;
    drop_unchanged(&mut changes)?;
    refuse_fixed(&mut changes);
    let record = finish(context, entry, id, &mut changes, "updated").await?;
    Ok(show::wrap(entry.meta.name, &record))
}

/// The record as it is, locked until the transaction ends, with no changes yet.
pub async fn lock(context: &Context<'_>, entry: &Entry, id: i64, within: Condition) -> Result<Changes> {
    let condition = store::visible(context, entry)?.and(within);
    let before = store::load(context, entry, id, &condition, true).await?.ok_or(Error::NotFound)?;
    Ok(Changes::new(entry.meta, Some(before)))
}

/// Checks and stores what really changes, and answers the record. `event` is what the change is emitted as.
pub async fn finish(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    changes: &mut Changes,
    event: &'static str,
) -> Result<Vec<u8>> {
    drop_unchanged(changes)?;
    check(context, entry, Some(id), changes).await?;
    store_changed(context, entry, id, changes, event).await
}

/// Sets fields of a record as a consequence of another change, whoever asks: no rule is checked, but the change has its
/// event and its place in the order of hooks like any other.
pub async fn revise(context: &Context<'_>, entry: &Entry, id: i64, values: &[(&str, Value)]) -> Result<()> {
    let row = store::load(context, entry, id, &Condition::always(), true).await?;
    let mut changes = Changes::new(entry.meta, Some(row.ok_or(Error::NotFound)?));
    for (name, value) in values {
        changes.set(name, value.clone());
    }
    store_changed(context, entry, id, &mut changes, "updated").await.map(drop)
}

/// Stores what really changes, and answers the record. Nothing is written, and nothing emitted, when nothing does.
async fn store_changed(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    changes: &mut Changes,
    event: &'static str,
) -> Result<Vec<u8>> {
    // A hook may have set what is stored already.
    drop_unchanged(changes)?;
    let changed = !changes.is_empty();
    if changed {
        changes.set("updated_at", context.now().into());
        store::update(context, changes, id).await?;
        embedded::write(context, changes, id).await?;
        after_save(context, entry, id).await?;
    }
    let mut record = show::single(context, entry, id).await?.ok_or(Error::NotFound)?;
    if changed {
        event::emit_all(context, entry, event, changes, &record).await?;
        after_commit(context, entry, id).await?;
    }
    changes.reveal_in(&mut record);
    Ok(record)
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
