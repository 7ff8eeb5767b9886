//! Links of a page to records of another resource: their ids, and the records as an include.

use std::collections::HashMap;

use super::include::{MAX_RELATED_RECORDS, load_one, too_many};
use super::include_cache_key::depend_on;
use super::response_cache::CacheKeyBuilder;
use crate::catalog::Entry;
use crate::db::Sql;
use crate::error::{Error, Result};
use crate::meta::{FieldMeta, Kind};
use crate::ops::{Context, visibility};
use crate::query::{Condition, write_condition};
use crate::record::{Cell, Shape, write_from};

/// The ids of the linked records by the id of a record, each list in ascending order.
type Linked = HashMap<i64, Vec<i64>>;

/// The ids of the records that each record has links to, as a JSON list.
pub(super) async fn ids(context: &Context<'_>, field: &FieldMeta, ids: &[Option<i64>]) -> Result<Vec<Vec<u8>>> {
    let linked = load(context, field, ids, None).await?;
    let list = |id: &Option<i64>| {
        let list = id.and_then(|id| linked.get(&id)).map_or(&[][..], Vec::as_slice);
        serde_json::to_vec(list).map_err(Error::internal)
    };
    ids.iter().map(list).collect()
}

/// The records that each record has links to, in the order of their ids, as a JSON list. `include` is the name of the
/// include, for its limit.
pub(super) async fn records(
    context: &Context<'_>,
    field: &FieldMeta,
    (target, shape): (&Entry, &Shape),
    ids: &[Option<i64>],
    include: &str,
) -> Result<Vec<Vec<u8>>> {
    let linked = load(context, field, ids, Some(MAX_RELATED_RECORDS + 1)).await?;
    if linked.values().map(Vec::len).sum::<usize>() > MAX_RELATED_RECORDS {
        return Err(too_many(target, include));
    }
    let mut distinct: Vec<i64> = linked.values().flatten().copied().collect();
    distinct.sort_unstable();
    distinct.dedup();
    let wanted: Vec<Option<i64>> = distinct.iter().copied().map(Some).collect();
    let found = load_one(context, target, shape, &wanted).await?;
    let by_id: HashMap<i64, Vec<u8>> = distinct.into_iter().zip(found).collect();
    let list = |id: &Option<i64>| {
        let mut list = vec![b'['];
        for id in id.and_then(|id| linked.get(&id)).into_iter().flatten() {
            // A record that was deleted since has no JSON.
            let Some(record) = by_id.get(id).filter(|record| record.as_slice() != b"null") else { continue };
            if list.len() > 1 {
                list.push(b',');
            }
            list.extend_from_slice(record);
        }
        list.push(b']');
        list
    };
    Ok(ids.iter().map(list).collect())
}

/// Adds the pairs, and the visibility of the records that they lead to.
pub(super) fn add_to_cache_key(
    context: &Context<'_>,
    field: &FieldMeta,
    cache_key: &mut CacheKeyBuilder,
) -> Result<()> {
    let Kind::Links { resource, through, .. } = field.kind else { return Ok(()) };
    for entry in [resource, through].map(|name| context.catalog().linked(name)) {
        depend_on(context, entry, &entry.shape(std::iter::empty()), cache_key)?;
    }
    Ok(())
}

/// The links of records to records that the caller can see.
async fn load(context: &Context<'_>, field: &FieldMeta, ids: &[Option<i64>], limit: Option<usize>) -> Result<Linked> {
    let mut linked = Linked::new();
    let ids: Vec<i64> = ids.iter().flatten().copied().collect();
    let Kind::Links { resource, through, by, to } = field.kind else { return Ok(linked) };
    if ids.is_empty() {
        return Ok(linked);
    }
    let (target, pairs) = (context.catalog().linked(resource), context.catalog().linked(through));
    let to_field = pairs.field(to).ok_or_else(|| Error::internal(format!("`{through}` has no `{to}`")))?;
    let condition = Condition::refers(to_field, target.meta, visibility::visible(context, target));
    let mut sql = Sql::new(context.state().db.dialect(), "SELECT t.");
    sql.name(by).push(" AS \"one\", t.").name(to).push(" AS \"other\"");
    write_from(&mut sql, pairs.meta.table, &[]);
    sql.push(" WHERE ").in_ids(&format!("t.\"{by}\""), &ids).push(" AND ");
    write_condition(&mut sql, &condition);
    sql.push(&format!(" ORDER BY t.\"{to}\""));
    if let Some(limit) = limit {
        sql.push(&format!(" LIMIT {limit}"));
    }
    for row in context.read(sql).await?.iter() {
        if let (Some(one), Some(other)) = (Cell::new(row, 0)?.integer()?, Cell::new(row, 1)?.integer()?) {
            linked.entry(one).or_default().push(other);
        }
    }
    Ok(linked)
}
