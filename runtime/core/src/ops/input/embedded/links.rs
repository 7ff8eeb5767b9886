//! Links to records of another resource (`many` with `through`): the client writes the ids of those records, and each
//! pair is stored as an embedded record that has no other value.
//!
//! A write replaces the list of the ids that the caller can see. Links to records that it cannot see stay, because the
//! client could not send their ids back.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use sea_orm::{QueryResult, Value};

use super::{EmbeddedSet, Item, StoredRows, rows};
use crate::catalog::Catalog;
use crate::error::{FieldErrors, Result};
use crate::meta::{FieldMeta, Kind};
use crate::ops::Context;
use crate::ops::input::body::RawJson;
use crate::ops::input::changeset::Changes;
use crate::ops::input::{complete, is_empty, read_ids, references};

/// Reads the list of ids of one field. A repeated id is an error, which names its place.
pub fn read(catalog: &Catalog, field: &'static FieldMeta, raw: &RawJson<'_>, changes: &mut Changes) {
    let Kind::Links { through, to, .. } = field.kind else { return };
    let ids: Vec<i64> = match read_ids(raw) {
        _ if is_empty(raw) => Vec::new(),
        Ok(list) => references::ids(&list).collect(),
        Err(problems) => return changes.errors.add_all(field.name, problems),
    };
    let meta = catalog.linked(through).meta;
    let mut set = EmbeddedSet::new(field, meta, ids.len());
    let mut seen = HashSet::new();
    for (index, id) in ids.into_iter().enumerate() {
        if !seen.insert(id) {
            changes.errors.add(field.name, format!("has the id {id} twice (element {})", index + 1));
            continue;
        }
        let mut pair = Changes::new(meta, None);
        pair.set(to, id.into());
        set.items.push(Item { index, id: None, changes: pair });
    }
    changes.embedded.retain(|set| set.field.name != field.name);
    changes.embedded.push(set);
}

/// Matches the ids with the stored pairs, and reports the ids of records that the caller cannot see. `id` is that of the
/// record that has the links; `None` for a new record.
pub(super) async fn check(
    context: &Context<'_>,
    set: &mut EmbeddedSet,
    (resource, by, to): (&str, &'static str, &str),
    id: Option<i64>,
    errors: &mut FieldErrors,
) -> Result<()> {
    let entry = context.catalog().linked(set.meta.name);
    let stored = match id {
        Some(id) => rows(context, entry, by, id).await?,
        None => StoredRows::new(),
    };
    let mut by_id: HashMap<i64, (i64, Arc<QueryResult>)> = HashMap::new();
    for (pair, row) in stored {
        by_id.insert(row.try_get("", to)?, (pair, row));
    }
    let mut asked = Vec::with_capacity(set.items.len());
    for item in &set.items {
        asked.extend(linked_id(&item.changes, to)?);
    }
    let mut all = asked.clone();
    all.extend(by_id.keys().filter(|id| !asked.contains(id)));
    // The foreign key of a pair takes this lock as well. A stronger one would stop other writers before both change a rollup of the
    // same record.
    let linked = context.catalog().linked(resource);
    let mut hidden: HashSet<i64> =
        references::missing(context, linked, &all, "FOR KEY SHARE").await?.into_iter().collect();
    let missing: Vec<i64> = asked.into_iter().filter(|id| hidden.contains(id)).collect();
    references::add_missing_records(errors, context.catalog(), set.field, resource, &missing);
    for item in &mut set.items {
        let Some(id) = linked_id(&item.changes, to)? else { continue };
        match by_id.remove(&id) {
            Some((pair, row)) => {
                item.id = Some(pair);
                item.changes = Changes::new(set.meta, Some(row));
            }
            None => {
                // The back reference is set once the record is stored.
                item.changes.set(by, Value::BigInt(Some(0)));
                complete(entry, context, &[], &mut item.changes)?;
                item.changes.unset(by);
            }
        }
    }
    set.removed = by_id.into_iter().filter(|(id, _)| !hidden.remove(id)).map(|(_, pair)| pair).collect();
    Ok(())
}

/// The id of the other record of a pair.
fn linked_id(pair: &Changes, to: &str) -> Result<Option<i64>> {
    Ok(match pair.current(to)? {
        Some(Value::BigInt(Some(id))) => Some(id),
        _ => None,
    })
}

/// The ids that the caller could see before a write and has after it, each in ascending order, for the audit log.
pub fn before_and_after(set: &EmbeddedSet) -> Result<(Vec<i64>, Vec<i64>)> {
    let Kind::Links { to, .. } = set.field.kind else { return Ok((Vec::new(), Vec::new())) };
    let mut before = Vec::new();
    for row in set.before().values() {
        before.push(row.try_get("", to)?);
    }
    let mut after = Vec::new();
    for (_, pair) in set.after() {
        after.extend(linked_id(pair, to)?);
    }
    before.sort_unstable();
    after.sort_unstable();
    Ok((before, after))
}
