//! A change to a record: `PUT` and `PATCH /<path>/{id}`, which mean the same.

use sea_orm::Value;

use super::body::Body;
use super::changes::{Changes, stored};
use super::create::{after_commit, after_save, check};
use super::{embedded, input, show, store};
use crate::catalog::Entry;
use crate::context::Context;
use crate::custom_field;
use crate::error::{Error, Result};
use crate::event;
use crate::meta::Access;
use crate::query::Condition;

/// Changes the given fields of a record and answers it as `show` does.
pub async fn update(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    within: Condition,
    body: &Body<'_>,
) -> Result<Vec<u8>> {
    let transaction = context.state().db.begin().await?;
    let context_in = context.on(&transaction);
    let mut changes = lock(&context_in, entry, id, within).await?;
    let definitions = match entry.meta.custom_fields && body.0.iter().any(|(name, _)| name == "custom_fields") {
        true => custom_field::load(&transaction, entry.meta.plural).await?,
        false => Vec::new(),
    };
    input::read(context.catalog(), entry, body, &definitions, &mut changes)?;
    drop_unchanged(&mut changes)?;
    refuse_fixed(&mut changes);
    let record = finish(&context_in, entry, id, &mut changes).await?;
    transaction.commit().await?;
    after_commit(context, entry, id).await;
    Ok(show::wrap(entry.meta.name, &record))
}

/// The record as it is, locked until the transaction ends, with no changes yet.
pub async fn lock(context: &Context<'_>, entry: &Entry, id: i64, within: Condition) -> Result<Changes> {
    let condition = store::visible(context, entry)?.and(within);
    let before = store::load(context, entry, id, &condition, true).await?.ok_or(Error::NotFound)?;
    Ok(Changes::new(entry.meta, Some(before)))
}

/// Checks and stores what really changes, and answers the record. Nothing is written when nothing does.
pub async fn finish(context: &Context<'_>, entry: &Entry, id: i64, changes: &mut Changes) -> Result<Vec<u8>> {
    drop_unchanged(changes)?;
    check(context, entry, Some(id), changes).await?;
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
        event::emit(context, entry, "updated", &record).await?;
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
