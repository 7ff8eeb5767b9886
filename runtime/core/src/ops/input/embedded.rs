//! Embedded records, which are read and written with the record that they belong to, such as the participants of an
//! activity.
//!
//! A write replaces the list. An item that matches a stored row updates it, other items are inserted, and rows without
//! an item are deleted. An item matches by `id` or, without a match, by its unique values. An `id` that matches nothing
//! is ignored, like every read-only field, so that a client can send what it read from this record or another. Embedded
//! records have no hooks of their own. Links to records are embedded records that clients see as ids: `links`.

pub mod links;
pub mod matching;
mod parents;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use sea_orm::{ModelTrait, QueryResult, Value};

use super::body::{Body, RawJson};
use super::changeset::{Changes, Draft};
use super::{computed_fields, expressions, references, rules, unique};
use crate::catalog::{Catalog, Entry};
use crate::error::{Error, FieldErrors, Result};
use crate::meta::{FieldMeta, Kind, ResourceMeta, Shown};
use crate::ops::Context;
use crate::ops::RunningHook;
use crate::ops::audit;
use crate::ops::write::{numbering, update};
use crate::ops::{input, records};
use crate::query::{Condition, MAX_LIST_ELEMENTS, read_value};
use crate::resource::Resource;

/// Stored rows, in the order of their ids, which is also that of their audit entries.
type StoredRows = BTreeMap<i64, Arc<QueryResult>>;

/// The embedded records of one field in a write.
#[derive(Debug)]
pub struct EmbeddedSet {
    field: &'static FieldMeta,
    meta: &'static ResourceMeta,
    items: Vec<Item>,
    /// Stored rows without an item.
    removed: StoredRows,
    /// The items are matched with the stored rows, and have the values that differ.
    is_matched: bool,
    origin: Origin,
}

/// Where a list comes from, until it is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Request,
    Hook,
    Checked,
}

#[derive(Debug)]
struct Item {
    /// Index in the list of the body, in which some elements may not be objects.
    index: usize,
    id: Option<i64>,
    changes: Changes,
}

impl EmbeddedSet {
    fn new(field: &'static FieldMeta, meta: &'static ResourceMeta, items: usize) -> EmbeddedSet {
        EmbeddedSet {
            field,
            meta,
            items: Vec::with_capacity(items),
            removed: StoredRows::new(),
            is_matched: false,
            origin: Origin::Request,
        }
    }

    /// True if the write changes nothing.
    pub fn is_unchanged(&self) -> bool {
        self.removed.is_empty() && self.items.iter().all(|item| item.id.is_some() && item.changes.is_empty())
    }

    pub fn field(&self) -> &'static FieldMeta {
        self.field
    }

    /// The fields of the embedded records.
    pub fn fields(&self) -> &'static [FieldMeta] {
        self.meta.fields
    }

    /// The field of the embedded records that refers to their record.
    pub fn by(&self) -> &'static str {
        self.field.kind.dependents().map_or("", |(_, by)| *by)
    }

    /// True for links, whose changes only the audit entry of their record has.
    pub fn is_links(&self) -> bool {
        matches!(self.field.kind, Kind::Links { .. })
    }

    /// The list that a hook sets, as a client would send it.
    pub fn drafted<C: Resource>(field: &'static FieldMeta, records: Vec<Draft<C>>) -> Result<EmbeddedSet> {
        let Kind::Embedded { by, .. } = field.kind else { return Err(Error::NotFound) };
        let item = |(index, draft): (usize, Draft<C>)| {
            let id = draft.before.as_ref().map(|record| record.get(C::ID));
            let id = if let Some(Value::BigInt(id)) = id { id } else { None };
            let mut changes = Changes::new(C::meta(), None);
            changes.take(draft)?;
            changes.unset(by);
            Ok(Item { index, id, changes })
        };
        let items = records.into_iter().enumerate().map(item).collect::<Result<_>>()?;
        Ok(EmbeddedSet { items, origin: Origin::Hook, ..EmbeddedSet::new(field, C::meta(), 0) })
    }

    /// The records as a hook sees them.
    pub fn drafts<C: Resource>(&self) -> Result<Vec<Draft<C>>> {
        self.items.iter().map(|item| item.changes.view()).collect()
    }

    /// The stored rows, in the order of their ids.
    pub fn before(&self) -> BTreeMap<i64, &QueryResult> {
        let changed = self.items.iter().filter_map(|item| Some((item.id?, item.changes.before.as_deref()?)));
        changed.chain(self.removed.iter().map(|(id, row)| (*id, &**row))).collect()
    }

    /// The values that the body sets, with the position of each record in the list.
    pub fn set_values(&self) -> impl Iterator<Item = (usize, &Changes)> {
        self.items.iter().map(|item| (item.index, &item.changes))
    }

    /// The records after the write, in the order of the body. A new one has no id yet.
    pub fn after(&self) -> impl Iterator<Item = (Option<i64>, &Changes)> {
        self.items.iter().map(|item| (item.id, &item.changes))
    }
}

/// The resource of an embedded field or of links, and its field that refers back.
fn target<'c>(catalog: &'c Catalog, field: &FieldMeta) -> Option<(&'c Entry, &'static str)> {
    field.kind.dependents().map(|(resource, by)| (catalog.linked(resource), *by))
}

/// The fields of an embedded record in a response, without the back reference and the timestamps.
pub fn shown(target: &Entry, by: &str) -> impl Iterator<Item = &'static FieldMeta> {
    let is_omitted = move |name: &str| name == by || matches!(name, "created_at" | "updated_at");
    target.meta.fields.iter().filter(move |field| field.shown == Shown::Always && !is_omitted(field.name))
}

/// Reads the list of one field. The errors of an item stay with it until [`check`] reports them under
/// `participants.0.member_id`.
pub fn read(catalog: &Catalog, field: &'static FieldMeta, raw: &RawJson<'_>, changes: &mut Changes) -> Result<()> {
    let Some((entry, by)) = target(catalog, field) else { return Ok(()) };
    let raw_items = match raw {
        RawJson::Text(text) if text.is_empty() => Some(Vec::new()),
        RawJson::Nested(json) => serde_json::from_str::<Vec<&serde_json::value::RawValue>>(json).ok(),
        _ => None,
    };
    let Some(raw_items) = raw_items.filter(|items| items.len() <= MAX_LIST_ELEMENTS) else {
        changes.errors.add(field.name, format!("must be a list of at most {MAX_LIST_ELEMENTS} objects"));
        return Ok(());
    };
    let mut set = EmbeddedSet::new(field, entry.meta, raw_items.len());
    for (index, raw) in raw_items.into_iter().enumerate() {
        let body = match Body::nested(raw.get()) {
            Ok(body) => body,
            Err(problem) => {
                changes.errors.add(format!("{}.{index}", field.name), problem);
                continue;
            }
        };
        let mut item = Item { index, id: None, changes: Changes::new(entry.meta, None) };
        if let Some((_, raw)) = body.fields.iter().find(|(name, _)| name == "id") {
            match RawJson::read(raw) {
                RawJson::Null => {}
                raw => match raw.scalar().and_then(|text| read_value(Kind::BigInt, text)) {
                    Ok(Value::BigInt(Some(id))) if id > 0 => item.id = Some(id),
                    Ok(_) => item.changes.errors.add("id", "must be at least 1"),
                    Err(problem) => item.changes.errors.add("id", problem),
                },
            }
        }
        input::read(catalog, entry, &body, &[], &mut item.changes)?;
        // A client cannot set the back reference.
        item.changes.unset(by);
        set.items.push(item);
    }
    changes.embedded.retain(|set| set.field.name != field.name);
    changes.embedded.push(set);
    Ok(())
}

/// Checks the lists that a hook has set, as if a client had sent them, but for the access of fields.
///
/// # Errors
/// [`Error::Internal`] if the hook set a value that no client could send; those of the database.
pub async fn check_drafted(context: &Context<'_>, running: &RunningHook<'_>, changes: &mut Changes) -> Result<()> {
    for set in changes.embedded.iter_mut().filter(|set| set.origin == Origin::Hook) {
        for item in &mut set.items {
            let before = vec![None; item.changes.meta.fields.len()];
            running.verify(&before, &mut item.changes)?;
        }
    }
    let id = changes.before.as_deref().map(|row| row.try_get("", "id")).transpose()?;
    check_sets(context, changes, id, Origin::Hook).await
}

/// Matches the items with stored rows, applies defaults to the new ones and checks every rule, once for each field. `id` is
/// that of the record that contains them; `None` for a new record.
pub async fn check(context: &Context<'_>, changes: &mut Changes, id: Option<i64>) -> Result<()> {
    check_sets(context, changes, id, Origin::Request).await
}

async fn check_sets(context: &Context<'_>, changes: &mut Changes, id: Option<i64>, origin: Origin) -> Result<()> {
    matching::match_rows(context, changes, id, origin).await?;
    for set in changes.embedded.iter_mut().filter(|set| set.origin == origin) {
        let Some((entry, by)) = target(context.catalog(), set.field) else { continue };
        set.origin = Origin::Checked;
        if let Kind::Links { resource, to, .. } = set.field.kind {
            links::check(context, set, (resource, by, to), id, &mut changes.errors).await?;
            continue;
        }
        let own_ids: Vec<i64> = set.before().into_keys().collect();
        let mut seen_values = HashSet::new();
        for item in &mut set.items {
            if item.id.is_none() {
                // The back reference is set once the record is stored.
                item.changes.set(by, Value::BigInt(Some(0)));
                input::complete(entry, context, &[], &mut item.changes)?;
                item.changes.unset(by);
            }
            if origin == Origin::Request {
                update::reject_immutable_changes(&mut item.changes);
            }
            expressions::set_defaults(context, &mut item.changes).await?;
            rules::check_record(context, &mut item.changes).await?;
            // The write replaces every row of this record, so only rows of other records can violate a unique index.
            references::check(context, &mut item.changes, &own_ids).await?;
            check_duplicates(context, &mut item.changes, by, &mut seen_values)?;
            move_errors(set.field, item.index, &mut item.changes.errors, &mut changes.errors);
        }
    }
    Ok(())
}

/// Deletes the embedded records of a record that is being deleted.
pub async fn remove(context: &Context<'_>, entry: &Entry, id: i64) -> Result<()> {
    for (target, by) in entry.meta.fields.iter().filter_map(|field| target(context.catalog(), field)) {
        for (id, row) in rows(context, target, by, id).await? {
            records::delete(context, target, id).await?;
            audit::record_deletion(context, target, id, &row).await?;
        }
    }
    Ok(())
}

/// Refuses an item with the unique values of an earlier one. `seen_values` collects them.
fn check_duplicates(
    context: &Context<'_>,
    changes: &mut Changes,
    by: &str,
    seen_values: &mut HashSet<String>,
) -> Result<()> {
    for (fields, values) in unique_values(context, changes, by)? {
        if !seen_values.insert(values) {
            unique::add_repeated(&mut changes.errors, fields, by);
        }
    }
    Ok(())
}

/// The unique sets of fields, each with its values as text. A set with a null is not compared, as in SQL.
fn unique_values(context: &Context<'_>, changes: &Changes, by: &str) -> Result<Vec<(&'static [&'static str], String)>> {
    let mut sets = Vec::new();
    for set in changes.meta.unique_sets() {
        if !unique::counts(context, changes, set)? {
            continue;
        }
        let values = set.fields.iter().filter(|name| **name != by);
        let values = values.map(|name| Ok(changes.current(name)?.map(|value| unique::folded(set, value))));
        let values = values.collect::<Result<Vec<_>>>()?;
        if values.iter().all(Option::is_some) {
            let values = format!("{set:?} {values:?}");
            sets.push((set.fields, values));
        }
    }
    Ok(sets)
}

/// Stores the changes that [`check`] prepared.
pub async fn write(context: &Context<'_>, changes: &mut Changes, id: i64) -> Result<()> {
    parents::lock(context, &changes.embedded).await?;
    for set in &mut changes.embedded {
        let Some((entry, by)) = target(context.catalog(), set.field) else { continue };
        // Deletes come first: they release unique values.
        for (id, row) in &set.removed {
            records::delete(context, entry, *id).await?;
            if !set.is_links() {
                audit::record_deletion(context, entry, *id, row).await?;
            }
        }
        // Two rows may swap their unique values: rows with a changed unique value are deleted and inserted again with
        // the same id.
        for item in &mut set.items {
            if let Some(id) = item.id
                && changes_unique_value(&item.changes)?
            {
                audit::record_change(context, entry, "update", id, &item.changes).await?;
                records::delete(context, entry, id).await?;
                item.changes.complete_row()?;
            }
        }
        let is_links = set.is_links();
        for item in &mut set.items {
            match item.id {
                Some(_) if item.changes.is_empty() => {}
                Some(id) => {
                    item.changes.set("updated_at", context.now().into());
                    if item.changes.is_new() {
                        records::insert(context, &item.changes).await?;
                    } else {
                        records::update(context, &item.changes, id).await?;
                        audit::record_change(context, entry, "update", id, &item.changes).await?;
                    }
                }
                None => {
                    item.changes.set(by, id.into());
                    numbering::assign(context, entry, &mut item.changes).await?;
                    computed_fields::set(context, &mut item.changes).await?;
                    let new = records::insert(context, &item.changes).await?;
                    if !is_links {
                        audit::record_change(context, entry, "create", new, &item.changes).await?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// True if a stored row gets another unique value.
fn changes_unique_value(changes: &Changes) -> Result<bool> {
    Ok(!changes.meta.soft_delete && !unique::touched_sets(changes)?.is_empty())
}

/// The field of a resource that embeds records of another.
///
/// # Errors
/// [`Error::Internal`] if there is none.
pub fn field_of(meta: &'static ResourceMeta, embedded: &ResourceMeta) -> Result<&'static FieldMeta> {
    let embeds =
        |field: &&FieldMeta| matches!(field.kind, Kind::Embedded { resource, .. } if resource == embedded.name);
    let missing = || Error::internal(format!("`{}` embeds no records of `{}`", meta.name, embedded.name));
    meta.fields.iter().find(embeds).ok_or_else(missing)
}

/// The stored records of a field, in the order of their ids.
pub async fn stored_drafts<C: Resource>(context: &Context<'_>, field: &FieldMeta, id: i64) -> Result<Vec<Draft<C>>> {
    let Some((entry, by)) = target(context.catalog(), field) else { return Ok(Vec::new()) };
    let rows = rows(context, entry, by, id).await?;
    rows.into_values().map(|row| Changes::new(C::meta(), Some(row)).draft()).collect()
}

async fn rows(context: &Context<'_>, entry: &Entry, by: &str, id: i64) -> Result<StoredRows> {
    let Some(field) = entry.field(by) else { return Ok(StoredRows::new()) };
    let found = records::load_all(context, entry, &Condition::equals(field, id)).await?;
    let by_id = found.into_iter().map(|row| Ok((row.try_get::<i64>("", "id")?, Arc::new(row))));
    by_id.collect()
}

fn move_errors(field: &FieldMeta, index: usize, from: &mut FieldErrors, to: &mut FieldErrors) {
    to.merge(std::mem::take(from).with_prefix(&format!("{}.{index}", field.name)));
}
