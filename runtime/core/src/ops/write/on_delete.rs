//! Effects of a deletion on the records that refer to the deleted one by a field with `on_delete`.
//!
//! A plan lists them first: the records to delete, those with a reference to clear, and those that forbid the deletion.
//! The foreign keys stay `RESTRICT`, so that no row changes without its event and its audit entry.

use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use sea_orm::{QueryResult, Value};

use super::delete::remove_one;
use super::{restore, update};
use crate::catalog::{Catalog, Entry};
use crate::db::{Dialect, Sql};
use crate::error::{Error, Result};
use crate::field_type::null;
use crate::meta::{FieldMeta, Kind, OnDelete};
use crate::ops::consequences::{Counted, count_visible};
use crate::ops::input::changeset::{Changes, stored};
use crate::ops::input::computed_fields;
use crate::ops::visibility::present;
use crate::ops::{Context, audit, records};
use crate::query::condition::{Comparison, Test};
use crate::query::{Condition, write_condition};
use crate::record::{Source, write_from};

/// Records that the deletions of one request clear or delete by `on_delete`.
pub const MAX_AFFECTED: usize = 1_000;

/// A field that refers to the records of a resource, with the effect of their deletion.
#[derive(Debug, Clone, Copy)]
pub struct Referring<'c> {
    pub entry: &'c Entry,
    pub field: &'static FieldMeta,
    pub effect: OnDelete,
}

/// The fields with `on_delete` that refer to the records of a resource.
pub fn referring<'c>(catalog: &'c Catalog, target: &Entry) -> Vec<Referring<'c>> {
    let name = target.meta.name;
    let of = |entry: &'c Entry| {
        let fields = entry.meta.fields.iter();
        fields
            .filter(move |field| matches!(field.kind, Kind::Ref { resource } if resource == name))
            .filter_map(move |field| Some(Referring { entry, field, effect: field.on_delete? }))
    };
    catalog.entries().iter().flat_map(of).collect()
}

/// True if a deletion of these records excludes writes that refer to them: one for good, or one with effects on those.
pub(super) fn locks_references(catalog: &Catalog, entry: &Entry) -> bool {
    !entry.meta.soft_delete || !referring(catalog, entry).is_empty()
}

/// The records that refer to deleted ones and forbid their deletion.
#[derive(Debug)]
pub struct Forbidding<'c> {
    pub referring: Referring<'c>,
    pub condition: Condition,
    /// They refer to records of the request, and not to those that are deleted with them.
    pub is_direct: bool,
}

/// The effects of a deletion on other records.
#[derive(Debug, Default)]
pub struct Plan<'c> {
    /// Each after those that refer to it; not those of the request.
    pub deleted: Vec<(&'c Entry, i64)>,
    pub cleared: Vec<(Referring<'c>, i64)>,
    pub forbidding: Vec<Forbidding<'c>>,
    /// More than [`MAX_AFFECTED`] records are affected; the plan does not have all.
    pub is_partial: bool,
}

/// Plans the deletion of records. `lock` locks the affected rows until the transaction ends.
///
/// # Errors
/// When the database fails.
pub async fn plan<'c>(context: &'c Context<'_>, entry: &'c Entry, ids: &[i64], lock: bool) -> Result<Plan<'c>> {
    let mut plan = Plan::default();
    let mut seen: HashSet<(usize, i64)> = ids.iter().map(|id| (entry.index, *id)).collect();
    // Within one resource: a record, and the one that it refers to.
    let mut edges: Vec<(usize, i64, i64)> = Vec::new();
    // The deleted records to which those of a field may not refer, by the field.
    let mut restricted: BTreeMap<(usize, &'static str), (Referring<'c>, &'c Entry, Vec<i64>)> = BTreeMap::new();
    let mut waiting = vec![(entry, ids.to_vec())];
    while let Some((target, ids)) = waiting.pop() {
        for referring in referring(context.catalog(), target) {
            let (other, field) = (referring.entry, referring.field);
            if referring.effect == OnDelete::Restrict {
                let (.., all) =
                    restricted.entry((other.index, field.name)).or_insert_with(|| (referring, target, Vec::new()));
                all.extend(&ids);
                continue;
            }
            let found = find(context, other, field, &refers(&referring, target, &ids), lock).await?;
            if referring.effect == OnDelete::Clear {
                plan.cleared.extend(found.into_iter().map(|(id, _)| (referring, id)));
            } else {
                if other.index == target.index {
                    edges.extend(found.iter().map(|(id, referred)| (other.index, *id, *referred)));
                }
                let mut new: Vec<i64> = found.into_iter().map(|(id, _)| id).collect();
                new.retain(|id| seen.insert((other.index, *id)));
                plan.deleted.extend(new.iter().map(|id| (other, *id)));
                if !new.is_empty() {
                    waiting.push((other, new));
                }
            }
            if plan.cleared.len() + plan.deleted.len() > MAX_AFFECTED {
                plan.is_partial = true;
                return Ok(plan);
            }
        }
    }
    plan.deleted = in_order(plan.deleted, &edges);
    for (referring, target, ids) in restricted.into_values() {
        let deleted = plan.deleted.iter().filter(|(other, _)| other.index == referring.entry.index);
        let deleted: Vec<i64> = deleted.map(|(_, id)| *id).collect();
        let mut condition = refers(&referring, target, &ids);
        if let Some(key) = referring.entry.field("id").filter(|_| !deleted.is_empty()) {
            condition = condition.and(Condition::is_one_of(key, &deleted).not());
        }
        plan.forbidding.push(Forbidding { referring, condition, is_direct: target.index == entry.index });
    }
    Ok(plan)
}

/// Orders records so that each comes after those that refer to it, as the foreign keys require. Records that refer to each
/// other have no such order; a foreign key then refuses the deletion.
fn in_order<'c>(records: Vec<(&'c Entry, i64)>, edges: &[(usize, i64, i64)]) -> Vec<(&'c Entry, i64)> {
    let mut entries: Vec<&Entry> = Vec::new();
    for (entry, _) in &records {
        if !entries.iter().any(|known| known.index == entry.index) {
            entries.push(entry);
        }
    }
    let refers = |other: &Entry, entry: &Entry| {
        let is_it = |kind| matches!(kind, Kind::Ref { resource } if resource == entry.meta.name);
        let kept = |field: &&FieldMeta| field.on_delete != Some(OnDelete::Clear);
        other.index != entry.index && other.meta.fields.iter().filter(kept).any(|field| is_it(field.kind))
    };
    let mut ordered = Vec::with_capacity(records.len());
    while !entries.is_empty() {
        let is_free = |entry: &&Entry| !entries.iter().any(|other| refers(other, entry));
        let next = entries.remove(entries.iter().position(is_free).unwrap_or(0));
        let mut referring: HashMap<i64, usize> = HashMap::new();
        let own = || edges.iter().filter(|(index, ..)| *index == next.index);
        own().for_each(|(_, _, referred)| *referring.entry(*referred).or_default() += 1);
        let mut left: Vec<&(&Entry, i64)> = records.iter().filter(|(entry, _)| entry.index == next.index).collect();
        while !left.is_empty() {
            let is_free = |id: i64| referring.get(&id).is_none_or(|count| *count == 0);
            let (mut free, held): (Vec<_>, Vec<_>) = left.into_iter().partition(|(_, id)| is_free(*id));
            left = held;
            if free.is_empty() {
                free = std::mem::take(&mut left);
            }
            let gone: HashSet<i64> = free.iter().map(|(_, id)| *id).collect();
            for (_, _, referred) in own().filter(|(_, id, _)| gone.contains(id)) {
                referring.entry(*referred).and_modify(|count| *count -= 1);
            }
            ordered.extend(free.into_iter().copied());
        }
    }
    ordered
}

/// The condition that a record refers to one of these. The foreign key of a record that is deleted for good sees deleted
/// records too, and those of a deleted parent.
fn refers(referring: &Referring<'_>, target: &Entry, ids: &[i64]) -> Condition {
    let condition = Condition::is_one_of(referring.field, ids);
    match target.meta.soft_delete {
        true => condition.and(present(referring.entry)),
        false => condition,
    }
}

/// The records for which a condition holds, at most one more than [`MAX_AFFECTED`]: the id of each, and of the record that
/// it refers to by a field.
async fn find(
    context: &Context<'_>,
    entry: &Entry,
    field: &'static FieldMeta,
    condition: &Condition,
    lock: bool,
) -> Result<Vec<(i64, i64)>> {
    let mut sql = Sql::new(context.state().db.dialect(), "SELECT t.\"id\" AS \"id\", t.");
    sql.name(field.name).push(" AS \"referred\"");
    let mut sources = Vec::new();
    condition.sources(&mut sources);
    write_from(&mut sql, entry.meta.table, &sources);
    sql.push(" WHERE ");
    write_condition(&mut sql, condition);
    sql.push(&format!(" ORDER BY t.\"id\" LIMIT {}", MAX_AFFECTED + 1));
    if lock && sql.dialect == Dialect::Postgres {
        sql.push(" FOR UPDATE OF t");
    }
    let mut found = Vec::new();
    for row in sql.all(context.db()).await? {
        found.push((row.try_get("", "id")?, row.try_get("", "referred")?));
    }
    Ok(found)
}

/// Clears and deletes the records that refer to a record, which is about to be deleted and is locked by
/// [`records::load_to_delete`].
///
/// # Errors
/// [`Error::Conflict`] while records refer to it by a field with `restrict`, and for more than [`MAX_AFFECTED`] records
/// in the transaction; those of the hooks of deleted records.
pub async fn apply(context: &Context<'_>, entry: &Entry, id: i64) -> Result<()> {
    if referring(context.catalog(), entry).is_empty() {
        return Ok(());
    }
    let plan = plan(context, entry, &[id], true).await?;
    for forbidding in &plan.forbidding {
        let counted = count_visible(context, forbidding.referring.entry, forbidding.condition.clone()).await?;
        if let Some(message) = refusal(forbidding, counted) {
            return Err(Error::Conflict(message));
        }
    }
    let affected = context.transaction().map_or(0, |all| all.count_affected(plan.cleared.len() + plan.deleted.len()));
    if plan.is_partial || affected > MAX_AFFECTED {
        return Err(Error::Conflict(format!(
            "The deletion would change or delete more than {MAX_AFFECTED} other records. Delete some of those that refer \
             to this record first."
        )));
    }
    for (referring, id) in &plan.cleared {
        clear(context, referring, *id).await.map_err(|error| prevented(error, referring.entry))?;
    }
    for (other, id) in plan.deleted {
        // A hook may have deleted it. One that is hidden with a deleted parent is deleted for good as well.
        let condition = if other.meta.soft_delete { present(other) } else { Condition::always() };
        if let Some(row) = records::load(context, other, id, &condition, true).await? {
            Box::pin(remove_one(context, other, id, row)).await.map_err(|error| prevented(error, other))?;
        }
    }
    Ok(())
}

/// The message on records that forbid the deletion; `None` if there are none.
fn refusal(forbidding: &Forbidding<'_>, counted: Counted) -> Option<String> {
    let (meta, field) = (forbidding.referring.entry.meta, forbidding.referring.field.name);
    let records = meta.plural.replace('_', " ");
    let to = if forbidding.is_direct { "this record" } else { "records that would be deleted with it" };
    Some(match counted {
        Counted { visible: 0, has_hidden: false } => return None,
        Counted { visible: 0, .. } => {
            format!("Records that you may not see still refer to {to}: {records}, by {field}.")
        }
        Counted { visible: 1, has_hidden: false } => {
            let record = meta.label.to_lowercase();
            format!("1 {record} still refers to {to} by {field}. Change or delete it first.")
        }
        Counted { visible: count, has_hidden: false } => {
            format!("{count} {records} still refer to {to} by {field}. Change or delete them first.")
        }
        Counted { visible: count, .. } => {
            let records = if count == 1 { meta.label.to_lowercase() } else { records };
            format!("{count} {records} and others that you may not see still refer to {to} by {field}.")
        }
    })
}

/// The fields without `on_delete` that refer to the records of a resource. Their foreign keys forbid the deletion.
fn kept<'c>(catalog: &'c Catalog, target: &Entry) -> impl Iterator<Item = Referring<'c>> {
    let name = target.meta.name;
    let refers = move |field: &&FieldMeta| matches!(field.kind, Kind::Ref { resource } if resource == name);
    let of = move |entry: &'c Entry| {
        let fields = entry.meta.fields.iter().filter(refers).filter(|field| field.on_delete.is_none());
        fields.map(move |field| Referring { entry, field, effect: OnDelete::Restrict })
    };
    catalog.entries().iter().flat_map(of)
}

/// True if records are deleted for good, and a field without `on_delete` refers to them.
pub(super) fn has_foreign_keys(catalog: &Catalog, entry: &Entry) -> bool {
    !entry.meta.soft_delete && kept(catalog, entry).next().is_some()
}

/// The error of a deletion that a foreign key prevents. It names the records that refer to the deleted one, if the caller may
/// see some of a resource. `is_direct` is false for a record that is deleted with another.
///
/// # Errors
/// When the database fails.
pub(super) async fn prevented_by_key(context: &Context<'_>, entry: &Entry, id: i64, is_direct: bool) -> Result<Error> {
    let mut may_be_deleted = false;
    let mut message = match is_direct {
        true => String::from("Other records still refer to this record."),
        false => String::from("Other records still refer to records that would be deleted with it."),
    };
    for referring in kept(context.catalog(), entry) {
        let condition = Condition::is_one_of(referring.field, &[id]);
        let counted = count_visible(context, referring.entry, condition.clone()).await?;
        let forbidding = Forbidding { referring, condition, is_direct };
        may_be_deleted |= referring.entry.meta.keeps_deleted() && counted.has_hidden;
        if let Some(named) = refusal(&forbidding, counted).filter(|_| counted.visible > 0) {
            (message, may_be_deleted) = (named, referring.entry.meta.keeps_deleted());
            break;
        }
    }
    if may_be_deleted {
        message.push_str(" Soft-deleted records count too.");
    }
    Ok(Error::Conflict(message))
}

/// The error of a record that the caller did not name and may not see, without its id and its values.
fn prevented(error: Error, entry: &Entry) -> Error {
    let records = entry.meta.plural.replace('_', " ");
    match error {
        Error::Frozen(_) => Error::Conflict(format!("The deletion would change frozen records: {records}.")),
        Error::Invalid(_) | Error::UniqueViolation(_) => {
            Error::Conflict(format!("The deletion would make records invalid: {records}."))
        }
        other => other,
    }
}

/// Sets a reference to null.
async fn clear(context: &Context<'_>, referring: &Referring<'_>, id: i64) -> Result<()> {
    let Referring { entry, field, .. } = *referring;
    let Some(row) = records::load(context, entry, id, &Condition::always(), true).await? else { return Ok(()) };
    let mark = entry.field("deleted_at").filter(|_| entry.meta.soft_delete);
    let is_deleted = match mark {
        Some(mark) => stored(&row, mark)?.is_some(),
        None => false,
    };
    if !is_deleted {
        return update::release(context, entry, id, field, |_| Ok(null(field.kind))).await;
    }
    // Clients do not see the record, and receive no event of it.
    let mut changes = Changes::new(entry.meta, Some(row));
    changes.set(field.name, null(field.kind));
    computed_fields::set(context, &mut changes).await?;
    records::update(context, &changes, id).await?;
    audit::record_change(context, entry, "update", id, &changes).await
}

/// Restores the records that were deleted with a restored one, by its `row` before the restore. One that cannot be
/// restored, for example because another record has its unique value by now, stays deleted.
///
/// # Errors
/// When the database fails.
pub async fn restore_affected(context: &Context<'_>, entry: &Entry, id: i64, row: &QueryResult) -> Result<()> {
    let Some(transaction) = context.transaction() else { return Ok(()) };
    let Some(own_mark) = entry.field("deleted_at") else { return Ok(()) };
    let Some(Value::ChronoDateTimeUtc(Some(deleted_at))) = stored(row, own_mark)? else { return Ok(()) };
    let mut restored = vec![(entry, id)];
    while let Some((target, id)) = restored.pop() {
        for Referring { entry: other, field, effect } in referring(context.catalog(), target) {
            let mark = other.field("deleted_at").filter(|_| effect == OnDelete::Cascade && other.meta.keeps_deleted());
            let Some(mark) = mark else { continue };
            let of = |comparison, time: DateTime<Utc>| {
                Condition::test(Source::own(mark), Test::Compare(comparison, time.into()))
            };
            // One request has one time, but a resource may store it in seconds.
            let second = deleted_at.trunc_subsecs(0);
            let at_that_time = match mark.kind == own_mark.kind {
                true => of(Comparison::Equal, deleted_at),
                false => {
                    of(Comparison::GreaterOrEqual, second).and(of(Comparison::Less, second + TimeDelta::seconds(1)))
                }
            };
            let condition = Condition::equals(field, id).and(at_that_time);
            for (found, _) in find(context, other, field, &condition, true).await? {
                let row = records::load(context, other, found, &condition, true).await?;
                let Some(row) = row else { continue };
                let work = async {
                    update::guard_hook(context, other, &row).await?;
                    restore::bring_back(context, other, found, row.clone()).await
                };
                if transaction.attempt(work).await?.is_ok() {
                    restored.push((other, found));
                }
            }
        }
    }
    Ok(())
}
