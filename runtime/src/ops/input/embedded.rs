//! Records that are read and written with the one they belong to: the participants of an activity.
//!
//! A write gives all of them: those that are known are changed, others are added, those not given are deleted. Known is
//! what has the id of one that is there, or its values where they do not repeat. Another id says nothing, as with every
//! field that is only shown, so that what was read of this record or of another can be sent. They are plain rows; hooks
//! belong to the record that holds them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use sea_orm::{QueryResult, Value};

use super::body::{Body, RawJson};
use super::changeset::Changes;
use super::{references, rules};
use crate::audit::trail;
use crate::catalog::{Catalog, Entry};
use crate::context::Context;
use crate::error::{FieldErrors, Result};
use crate::meta::{FieldMeta, Kind, ResourceMeta, Shown};
use crate::ops::write::update;
use crate::ops::{input, records};
use crate::query::{Condition, MAX_LIST_ELEMENTS, read_value};

/// Stored rows by id, in whose order the trail tells of them.
type Stored = BTreeMap<i64, Arc<QueryResult>>;

/// The embedded records that a write gives for one field.
#[derive(Debug)]
pub struct EmbeddedSet {
    field: &'static FieldMeta,
    meta: &'static ResourceMeta,
    items: Vec<Item>,
    /// Those that the record has and the write does not give.
    gone: Stored,
}

#[derive(Debug)]
struct Item {
    /// Where it stands among those that were given, some of which may be no objects.
    place: usize,
    id: Option<i64>,
    changes: Changes,
}

impl Item {
    /// Is what changes the stored row of this id, unless there is none or another item is; then it is a new one.
    fn take(&mut self, id: Option<i64>, stored: &mut Stored) {
        let row = id.and_then(|id| Some((id, stored.remove(&id)?)));
        self.id = row.as_ref().map(|(id, _)| *id);
        self.changes.before = row.map(|(_, row)| row);
    }
}

impl EmbeddedSet {
    /// Whether storing it changes anything.
    pub fn is_unchanged(&self) -> bool {
        self.gone.is_empty() && self.items.iter().all(|item| item.id.is_some() && item.changes.is_empty())
    }

    pub fn field(&self) -> &'static FieldMeta {
        self.field
    }

    /// The fields of the embedded records.
    pub fn fields(&self) -> &'static [FieldMeta] {
        self.meta.fields
    }

    /// The field of the embedded records that refers to the one that holds them.
    pub fn by(&self) -> &'static str {
        if let Kind::Embedded { by, .. } = self.field.kind { by } else { "" }
    }

    /// The stored rows, in the order of their ids.
    pub fn before(&self) -> BTreeMap<i64, &QueryResult> {
        let changed = self.items.iter().filter_map(|item| Some((item.id?, item.changes.before.as_deref()?)));
        changed.chain(self.gone.iter().map(|(id, row)| (*id, &**row))).collect()
    }

    /// The records as they will be, in the order in which they were given. A new one has no id yet.
    pub fn after(&self) -> impl Iterator<Item = (Option<i64>, &Changes)> {
        self.items.iter().map(|item| (item.id, &item.changes))
    }
}

/// The resource of an embedded field, and the field of it that refers back.
fn target<'c>(catalog: &'c Catalog, field: &FieldMeta) -> Option<(&'c Entry, &'static str)> {
    match field.kind {
        Kind::Embedded { resource, by } => Some((catalog.linked(resource), by)),
        _ => None,
    }
}

/// The fields of an embedded record that are shown: what the one that holds it says already is not.
pub fn shown(target: &Entry, by: &str) -> impl Iterator<Item = &'static FieldMeta> {
    let left_out = move |name: &str| name == by || matches!(name, "created_at" | "updated_at");
    target.meta.fields.iter().filter(move |field| field.shown == Shown::Always && !left_out(field.name))
}

/// Reads the list of one field. The problems of an item stay with it until it is checked, and are reported under
/// `participants.0.member_id`.
pub fn read(catalog: &Catalog, field: &'static FieldMeta, given: &RawJson<'_>, changes: &mut Changes) -> Result<()> {
    let Some((entry, by)) = target(catalog, field) else { return Ok(()) };
    let raw = match given {
        RawJson::Text(text) if text.is_empty() => Some(Vec::new()),
        RawJson::Nested(json) => serde_json::from_str::<Vec<&serde_json::value::RawValue>>(json).ok(),
        _ => None,
    };
    let Some(raw) = raw.filter(|raw| raw.len() <= MAX_LIST_ELEMENTS) else {
        changes.errors.add(field.name, format!("must be a list of at most {MAX_LIST_ELEMENTS} objects"));
        return Ok(());
    };
    let mut set = EmbeddedSet { field, meta: entry.meta, items: Vec::with_capacity(raw.len()), gone: Stored::new() };
    for (place, raw) in raw.into_iter().enumerate() {
        let body = match Body::nested(raw.get()) {
            Ok(body) => body,
            Err(problem) => {
                changes.errors.add(format!("{}.{place}", field.name), problem);
                continue;
            }
        };
        let mut item = Item { place, id: None, changes: Changes::new(entry.meta, None) };
        if let Some((_, raw)) = body.fields.iter().find(|(name, _)| name == "id") {
            match RawJson::read(raw) {
                RawJson::Null => {}
                given => match given.scalar().and_then(|text| read_value(Kind::BigInt, text)) {
                    Ok(Value::BigInt(Some(id))) if id > 0 => item.id = Some(id),
                    Ok(_) => item.changes.errors.add("id", "must be at least 1"),
                    Err(problem) => item.changes.errors.add("id", problem),
                },
            }
        }
        input::read(catalog, entry, &body, &[], &mut item.changes)?;
        // Which record it belongs to is not the client's to say.
        item.changes.unset(by);
        set.items.push(item);
    }
    changes.embedded.retain(|known| known.field.name != field.name);
    changes.embedded.push(set);
    Ok(())
}

/// Finds what each item changes, completes the new ones and checks every rule. `id` is that of the record that holds
/// them; a new one has none.
pub async fn check(context: &Context<'_>, changes: &mut Changes, id: Option<i64>) -> Result<()> {
    for set in &mut changes.embedded {
        let Some((entry, by)) = target(context.catalog(), set.field) else { continue };
        let mut stored = match id {
            Some(id) => rows(context, entry, by, id).await?,
            None => Stored::new(),
        };
        let replaced: Vec<i64> = stored.keys().copied().collect();
        for item in &mut set.items {
            item.take(item.id, &mut stored);
        }
        let mut known = HashMap::new();
        for (id, row) in &stored {
            let row = Changes::new(entry.meta, Some(row.clone()));
            known.extend(unrepeated(&row, by)?.into_iter().map(|(_, values)| (values, *id)));
        }
        let mut taken = HashSet::new();
        for item in &mut set.items {
            if item.id.is_none() {
                let named = unrepeated(&item.changes, by)?;
                item.take(named.iter().find_map(|(_, values)| known.get(values).copied()), &mut stored);
            }
            if item.id.is_none() {
                // The reference back is known only once the record is stored; it is set then.
                item.changes.set(by, Value::BigInt(Some(0)));
                input::complete(entry, context, &[], &mut item.changes)?;
                item.changes.unset(by);
            }
            update::drop_unchanged(&mut item.changes)?;
            update::refuse_fixed(&mut item.changes);
            rules::check_record(&mut item.changes)?;
            // Every row of this record is given anew or goes, so that only those of others can be in the way.
            references::check(context, &mut item.changes, &replaced).await?;
            check_each_once(&mut item.changes, by, &mut taken)?;
            collect(set.field, item.place, &mut item.changes.errors, &mut changes.errors);
        }
        set.gone = stored;
    }
    Ok(())
}

/// Deletes all that are embedded in a record, which is being deleted.
pub async fn remove(context: &Context<'_>, entry: &Entry, id: i64) -> Result<()> {
    for (target, by) in entry.meta.fields.iter().filter_map(|field| target(context.catalog(), field)) {
        for (id, row) in rows(context, target, by, id).await? {
            records::delete(context, target, id).await?;
            trail::removed(context, target, id, &row).await?;
        }
    }
    Ok(())
}

/// No item has the unique values of one before it; `taken` holds theirs.
fn check_each_once(changes: &mut Changes, by: &str, taken: &mut HashSet<String>) -> Result<()> {
    for (set, values) in unrepeated(changes, by)? {
        if !taken.insert(values) {
            references::add_not_unique(&mut changes.errors, set);
        }
    }
    Ok(())
}

/// The sets of fields whose values are no other item's, each with a text of its values. What has a null is not compared,
/// as in SQL.
fn unrepeated(changes: &Changes, by: &str) -> Result<Vec<(&'static [&'static str], String)>> {
    let mut sets = Vec::new();
    for set in changes.meta.unique_sets() {
        let values = set.iter().filter(|name| **name != by).map(|name| changes.current(name));
        let values = values.collect::<Result<Vec<_>>>()?;
        if values.iter().all(Option::is_some) {
            let values = format!("{set:?} {values:?}");
            sets.push((set, values));
        }
    }
    Ok(sets)
}

/// Stores what [`check`] found.
pub async fn write(context: &Context<'_>, changes: &mut Changes, id: i64) -> Result<()> {
    for set in &mut changes.embedded {
        let Some((entry, by)) = target(context.catalog(), set.field) else { continue };
        // What goes first makes room for what comes.
        for (gone, row) in &set.gone {
            records::delete(context, entry, *gone).await?;
            trail::removed(context, entry, *gone, row).await?;
        }
        // Two rows may change places in a unique index: those whose values it holds go too, and come back as they are.
        for item in &mut set.items {
            if let Some(id) = item.id.filter(|_| moves(&item.changes)) {
                trail::changed(context, entry, "update", id, &item.changes).await?;
                records::delete(context, entry, id).await?;
                item.changes.restate()?;
            }
        }
        for item in &mut set.items {
            match item.id {
                Some(_) if item.changes.is_empty() => {}
                Some(id) => {
                    item.changes.set("updated_at", context.now().into());
                    if item.changes.is_new() {
                        records::insert(context, &item.changes).await?;
                    } else {
                        records::update(context, &item.changes, id).await?;
                        trail::changed(context, entry, "update", id, &item.changes).await?;
                    }
                }
                None => {
                    item.changes.set(by, id.into());
                    let id = records::insert(context, &item.changes).await?;
                    trail::changed(context, entry, "create", id, &item.changes).await?;
                }
            }
        }
    }
    Ok(())
}

/// Whether a stored row is given other values where they must not repeat.
fn moves(changes: &Changes) -> bool {
    !changes.meta.soft_delete && references::checked_sets(changes).next().is_some()
}

async fn rows(context: &Context<'_>, entry: &Entry, by: &str, id: i64) -> Result<Stored> {
    let Some(field) = entry.field(by) else { return Ok(Stored::new()) };
    let found = records::load_all(context, entry, &Condition::equals(field, id)).await?;
    let keyed = found.into_iter().map(|row| Ok((row.try_get::<i64>("", "id")?, Arc::new(row))));
    keyed.collect()
}

fn collect(field: &FieldMeta, place: usize, from: &mut FieldErrors, to: &mut FieldErrors) {
    to.merge(std::mem::take(from).under(&format!("{}.{place}", field.name)));
}
