//! Consequences of an operation beyond its own records, in bounded counts: what ends, what is deleted or hidden, and what
//! forbids it. The panel shows them before it runs the operation.

use std::collections::BTreeMap;

use super::attached_records;
use super::hooks::RunningHook;
use super::visibility::{permitted, present};
use super::write::on_delete::{self, Forbidding};
use crate::ability::READ;
use crate::catalog::Entry;
use crate::db::{Dialect, Sql};
use crate::error::Result;
use crate::meta::{FieldMeta, Kind, ResourceMeta};
use crate::ops::{Access, Context};
use crate::query::{Condition, write_condition};
use crate::record::write_from;

/// Counting stops one beyond this number, which then stands for "more than".
pub const MAX_COUNTED: i64 = 1_000;

/// The verb of a deletion. The verb of an action is its name.
pub const DELETE: &str = "delete";

/// Effect of an operation on records or other things.
#[derive(Debug, Clone, Copy)]
pub struct Consequence {
    /// Up to [`MAX_COUNTED`] + 1; `None` if there are some, but the caller may not know how many.
    pub count: Option<i64>,
    pub subject: Subject,
    pub effect: Effect,
    /// The field by which the records of a resource refer to those of the operation.
    pub by: Option<&'static FieldMeta>,
}

/// The things that are counted.
#[derive(Debug, Clone, Copy)]
pub enum Subject {
    Records(&'static ResourceMeta),
    /// Singular and plural noun: `session`, `sessions`.
    Named(&'static str, &'static str),
}

/// The effect as the rest of a sentence after the subject: `ends`, `end`. `{it}` stands for the records of the
/// operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effect {
    pub one: &'static str,
    pub many: &'static str,
    /// The operation fails while there are such records.
    pub forbids: bool,
}

impl Effect {
    pub const ENDS: Effect = Effect::new("ends", "end");
    pub const DELETED: Effect = Effect::new("is deleted, too", "are deleted, too");
    pub const HIDDEN: Effect = Effect::new("is hidden, too", "are hidden, too");
    pub const KEEPS_REFERENCE: Effect = Effect::new("keeps the reference to {it}", "keep the reference to {it}");
    pub const LOSES_REFERENCE: Effect =
        Effect::new("keeps a reference that leads nowhere", "keep a reference that leads nowhere");
    pub const CLEARED: Effect = Effect::new("loses the reference to {it}", "lose the reference to {it}");
    pub const CLEARED_BEYOND: Effect = Effect::new(
        "loses a reference to a record deleted with {it}",
        "lose a reference to a record deleted with {it}",
    );
    pub const FORBIDS_BEYOND: Effect = Effect {
        one: "refers to a record deleted with {it}",
        many: "refer to records deleted with {it}",
        forbids: true,
    };
    pub const FORBIDS: Effect = Effect { one: "refers to {it}", many: "refer to {it}", forbids: true };

    pub const fn new(one: &'static str, many: &'static str) -> Effect {
        Effect { one, many, forbids: false }
    }
}

/// The number of records, as far as the caller may know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Those that the caller may see.
    pub visible: i64,
    /// True if there are others.
    pub has_hidden: bool,
}

impl Counted {
    /// A count of what is no resource. `is_known` is true if the caller may know it.
    pub fn of(count: i64, is_known: bool) -> Counted {
        Counted { visible: if is_known { count } else { 0 }, has_hidden: !is_known && count > 0 }
    }

    /// The consequences for them: none for none.
    pub fn affects(self, subject: Subject, effect: Effect) -> impl Iterator<Item = Consequence> {
        let known = (self.visible > 0).then_some(Some(self.visible));
        let hidden = self.has_hidden.then_some(None);
        known.into_iter().chain(hidden).map(move |count| Consequence { count, subject, effect, by: None })
    }
}

/// The consequences of an operation on records of a resource that the caller may see: those of the resource's hook, and
/// for a deletion those for the records that refer to them.
///
/// # Errors
/// When the database fails, and those of the hook.
pub async fn consequences(context: &Context<'_>, entry: &Entry, verb: &str, ids: &[i64]) -> Result<Vec<Consequence>> {
    let mut found = Vec::new();
    if ids.is_empty() {
        return Ok(found);
    }
    if let Some(hook) = context.route(entry).hooks.consequences {
        let running = RunningHook::enter(context, entry.meta, "consequences")?;
        found = hook(&context.within_hook(&running), verb, ids).await?;
    }
    if verb == DELETE {
        of_deletion(context, entry, ids, &mut found).await?;
    }
    Ok(found)
}

/// Adds the consequences of a deletion for other records.
async fn of_deletion(context: &Context<'_>, entry: &Entry, ids: &[i64], found: &mut Vec<Consequence>) -> Result<()> {
    let embeds = |other: &Entry, field: &FieldMeta| {
        let is_it = |kind: Kind| kind.dependents() == Some((&other.meta.name, &field.name));
        entry.meta.fields.iter().any(|own| is_it(own.kind))
    };
    let is_own_link = |other: &Entry, field: &FieldMeta| {
        let names = (other.meta.name, field.name);
        entry
            .meta
            .fields
            .iter()
            .any(|own| matches!(own.kind, Kind::Links { through, by, .. } if (through, by) == names))
    };
    by_on_delete(context, entry, ids, found).await?;
    for other in context.catalog().entries() {
        // The hooks of the platform's resources know what the platform does with its own records.
        let has_own_rules = other.behavior.is_platform && !other.is_attached();
        for field in other.meta.fields.iter().filter(|field| field.is_column() && field.on_delete.is_none()) {
            // The record's own links are a part of it, and some lead to records that the caller does not see.
            if is_own_link(other, field) {
                continue;
            }
            let Some(refers) = referring(entry, field, other, ids) else { continue };
            let effect = match field.kind {
                Kind::Ref { .. } if has_own_rules => continue,
                Kind::RefList { .. } if entry.behavior.is_platform => continue,
                Kind::Ref { .. } if entry.meta.soft_delete && !field.nullable => Effect::HIDDEN,
                _ if entry.meta.soft_delete => Effect::KEEPS_REFERENCE,
                Kind::Ref { .. } if embeds(other, field) => Effect::DELETED,
                Kind::Ref { .. } => Effect::FORBIDS,
                _ => Effect::LOSES_REFERENCE,
            };
            // A foreign key does not see that a record is soft-deleted.
            let refers = if effect.forbids { refers } else { refers.and(present(other)) };
            let counted = match effect == Effect::DELETED {
                true => Counted::of(count(context, other, &refers).await?, true),
                false => count_visible(context, other, refers).await?,
            };
            let affected = counted.affects(Subject::Records(other.meta), effect);
            found.extend(affected.map(|consequence| Consequence { by: Some(field), ..consequence }));
        }
    }
    if entry.meta.attachments
        && !entry.meta.soft_delete
        && let Some(attached) = context.catalog().attached()
    {
        let files = count(context, attached, &attached_records::attached_to_any(attached, entry, ids)?).await?;
        found.extend(Counted::of(files, true).affects(Subject::Named("file", "files"), Effect::DELETED));
    }
    Ok(())
}

/// Adds the consequences for records that refer to the deleted ones by a field with `on_delete`, and for those that refer
/// to these.
async fn by_on_delete(context: &Context<'_>, entry: &Entry, ids: &[i64], found: &mut Vec<Consequence>) -> Result<()> {
    let plan = on_delete::plan(context, entry, ids, false).await?;
    let refers_to_it = |field: &FieldMeta| matches!(field.kind, Kind::Ref { resource } if resource == entry.meta.name);
    let mut affected: BTreeMap<(usize, &'static str), (&Entry, Effect, Vec<i64>)> = BTreeMap::new();
    for (other, id) in &plan.deleted {
        affected.entry((other.index, "")).or_insert_with(|| (other, Effect::DELETED, Vec::new())).2.push(*id);
    }
    for (referring, id) in &plan.cleared {
        let effect = if refers_to_it(referring.field) { Effect::CLEARED } else { Effect::CLEARED_BEYOND };
        let key = (referring.entry.index, referring.field.name);
        affected.entry(key).or_insert_with(|| (referring.entry, effect, Vec::new())).2.push(*id);
    }
    for ((_, field), (other, effect, ids)) in affected {
        let Some(key) = other.field("id") else { continue };
        let counted = count_visible(context, other, Condition::is_one_of(key, &ids)).await?;
        let by = other.field(field).filter(|field| refers_to_it(field));
        let affected = counted.affects(Subject::Records(other.meta), effect);
        found.extend(affected.map(|consequence| Consequence { by, ..consequence }));
    }
    for Forbidding { referring, condition, is_direct } in plan.forbidding {
        let effect = if is_direct { Effect::FORBIDS } else { Effect::FORBIDS_BEYOND };
        let counted = count_visible(context, referring.entry, condition).await?;
        let affected = counted.affects(Subject::Records(referring.entry.meta), effect);
        let by = Some(referring.field).filter(|_| is_direct);
        found.extend(affected.map(|consequence| Consequence { by, ..consequence }));
    }
    Ok(())
}

/// The condition that a record refers to one of these by a field; `None` for another field.
fn referring(entry: &Entry, field: &'static FieldMeta, other: &Entry, ids: &[i64]) -> Option<Condition> {
    let is_one = || Condition::is_one_of(field, ids);
    match field.kind {
        Kind::Ref { resource } if resource == entry.meta.name => Some(is_one()),
        Kind::RefList { resource } if resource == entry.meta.name => {
            Some(Condition::Overlaps { field, ids: ids.to_vec() })
        }
        Kind::PolymorphicRef { type_field } => {
            let of_type = other.field(type_field)?;
            let Kind::PolymorphicType { type_names } = of_type.kind else { return None };
            let may_be_it = type_names.contains(&entry.meta.type_name);
            may_be_it.then(|| Condition::equals(of_type, entry.meta.type_name).and(is_one()))
        }
        _ => None,
    }
}

/// Counts the records of a resource for which a condition holds, as far as the caller may know them.
///
/// # Errors
/// When the database fails.
pub async fn count_visible(context: &Context<'_>, entry: &Entry, condition: Condition) -> Result<Counted> {
    let all = count(context, entry, &condition).await?;
    let may_read = match entry.is_served() || entry.is_attached() {
        true => Access::of(context.catalog(), entry, READ).allows(context.caller()),
        // Embedded records are read with the record that has them.
        false => entry
            .parents
            .iter()
            .any(|parent| Access::read(context.catalog().linked(parent.resource)).allows(context.caller())),
    };
    let permitted = permitted(context, entry);
    if !may_read || permitted.is_always() || all == 0 {
        return Ok(Counted::of(all, may_read));
    }
    let visible = count(context, entry, &condition.and(permitted)).await?;
    Ok(Counted { visible, has_hidden: all > visible })
}

/// Counts the records of a resource for which a condition holds, up to [`MAX_COUNTED`] + 1.
///
/// # Errors
/// When the database fails.
pub async fn count(context: &Context<'_>, entry: &Entry, condition: &Condition) -> Result<i64> {
    let mut sql = begin_count(context.state().db.dialect());
    let mut sources = Vec::new();
    condition.sources(&mut sources);
    write_from(&mut sql, entry.meta.table, &sources);
    sql.push(" WHERE ");
    write_condition(&mut sql, condition);
    finish_count(context, sql).await
}

/// Begins the statement of a bounded count; `FROM` and `WHERE` follow.
pub fn begin_count(dialect: Dialect) -> Sql {
    Sql::new(dialect, "SELECT COUNT(*) AS \"counted\" FROM (SELECT 1 AS \"one\"")
}

/// Ends the statement of [`begin_count`] and runs it.
///
/// # Errors
/// When the database fails.
pub async fn finish_count(context: &Context<'_>, mut sql: Sql) -> Result<i64> {
    sql.push(&format!(" LIMIT {}) AS \"found\"", MAX_COUNTED + 1));
    let row = sql.one(context.db()).await?;
    Ok(row.map_or(Ok(0), |row| row.try_get("", "counted"))?)
}
