//! SQL statements on a resource's table: a row by id, insert, update and delete.

use std::sync::Arc;

use chrono::SubsecRound;
use sea_orm::{QueryResult, Value};

use super::input::changeset::Changes;
use super::input::unique::{self, add_not_unique};
use super::visibility::visible;
use crate::catalog::Entry;
use crate::db::{Dialect, Sql};
use crate::error::{Error, FieldErrors, Result};
use crate::meta::{FieldMeta, Kind, TimestampForm, UniqueMeta};
use crate::ops::Context;
use crate::query::{Condition, write_condition};
use crate::record::write_from;

/// The stored row of a record with every column, if `condition` holds for it. `lock` locks it against other writers.
pub async fn load(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    condition: &Condition,
    lock: bool,
) -> Result<Option<Arc<QueryResult>>> {
    // `NO KEY` does not block inserts that refer to the row: its id stays.
    load_with(context, entry, id, condition, if lock { " FOR NO KEY UPDATE OF t" } else { "" }).await
}

/// The stored row of a record that is deleted, locked against writes that refer to it: both see the deletion. The lock is taken
/// at once. One that became stronger later would deadlock with a writer that refers to the record and changes its rollups.
pub async fn load_to_delete(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    condition: &Condition,
) -> Result<Option<Arc<QueryResult>>> {
    load_with(context, entry, id, condition, " FOR UPDATE OF t").await
}

async fn load_with(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    condition: &Condition,
    lock: &'static str,
) -> Result<Option<Arc<QueryResult>>> {
    let mut sql = select(context, entry, condition, "");
    sql.push(" AND t.\"id\" = ").bind(id);
    // An immediate transaction of SQLite already excludes other writers.
    if sql.dialect == Dialect::Postgres {
        sql.push(lock);
    }
    Ok(sql.one(context.db()).await?.map(Arc::new))
}

/// Checks that a record exists for which `within` holds and that the caller may see.
///
/// # Errors
/// [`Error::NotFound`] if there is none.
pub async fn require(context: &Context<'_>, entry: &Entry, id: i64, within: Condition) -> Result<()> {
    let condition = visible(context, entry).and(within);
    load(context, entry, id, &condition, false).await?.map(drop).ok_or(Error::NotFound)
}

/// The stored rows, with every column, of all records that are not deleted and for which `condition` holds.
pub async fn load_all(context: &Context<'_>, entry: &Entry, condition: &Condition) -> Result<Vec<QueryResult>> {
    let mut sql = select(context, entry, condition, "");
    if entry.meta.soft_delete {
        sql.push(" AND t.\"deleted_at\" IS NULL");
    }
    sql.all(context.db()).await
}

/// The stored rows, with every column, of the records with these ids for which `condition` holds.
pub async fn load_many(
    context: &Context<'_>,
    entry: &Entry,
    ids: &[i64],
    condition: &Condition,
) -> Result<Vec<QueryResult>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut sql = select(context, entry, condition, "");
    sql.push(" AND ").in_ids("t.\"id\"", ids);
    sql.all(context.read_connection()).await
}

/// The row of [`load`] on PostgreSQL, not locked, with `xmin` and `ctid`: the transaction that wrote it, and its
/// position in the table.
pub async fn load_versioned(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    condition: &Condition,
) -> Result<Option<Arc<QueryResult>>> {
    let version = ", t.\"xmin\"::text AS \"xmin\", t.\"ctid\"::text AS \"ctid\"";
    let mut sql = select(context, entry, condition, version);
    sql.push(" AND t.\"id\" = ").bind(id);
    Ok(sql.one(context.read_connection()).await?.map(Arc::new))
}

/// `SELECT` of every column and `extra`, `WHERE` `condition` holds.
fn select(context: &Context<'_>, entry: &Entry, condition: &Condition, extra: &str) -> Sql {
    let mut sql = Sql::new(context.state().db.dialect(), String::with_capacity(2 << 10));
    sql.push(&entry.stored).push(extra);
    let mut sources = Vec::new();
    condition.sources(&mut sources);
    write_from(&mut sql, entry.meta.table, &sources);
    sql.push(" WHERE ");
    write_condition(&mut sql, condition);
    sql
}

/// Inserts a record and returns its id.
pub async fn insert(context: &Context<'_>, changes: &Changes) -> Result<i64> {
    let mut sql = Sql::new(context.state().db.dialect(), "");
    write_insert(&mut sql, changes)?;
    let row = sql.one(context.db()).await.map_err(|e| map_unique_violation(e, changes))?;
    let row = row.ok_or_else(|| Error::internal("the insert returned no row"))?;
    Ok(row.try_get("", "id")?)
}

fn write_insert(sql: &mut Sql, changes: &Changes) -> Result<()> {
    sql.push("INSERT INTO ").name(changes.meta.table).push(" (");
    for (index, (field, _)) in changes.iter().enumerate() {
        sql.push(if index > 0 { ", " } else { "" }).name(field.name);
    }
    sql.push(") VALUES (");
    for (index, (field, value)) in changes.iter().enumerate() {
        sql.push(if index > 0 { ", " } else { "" });
        sql.bind(storable(field, value)?);
    }
    sql.push(") RETURNING \"id\"");
    Ok(())
}

/// Updates the changed columns of a record.
pub async fn update(context: &Context<'_>, changes: &Changes, id: i64) -> Result<()> {
    let mut sql = Sql::new(context.state().db.dialect(), "");
    sql.push("UPDATE ").name(changes.meta.table).push(" AS t SET ");
    for (index, (field, value)) in changes.iter().enumerate() {
        sql.push(if index > 0 { ", " } else { "" }).name(field.name).push(" = ");
        sql.bind(storable(field, value)?);
    }
    sql.push(" WHERE \"id\" = ").bind(id);
    sql.run(context.db()).await.map_err(|e| map_unique_violation(e, changes))?;
    Ok(())
}

/// Deletes a record, or sets its `deleted_at` if the resource has soft delete.
pub async fn delete(context: &Context<'_>, entry: &Entry, id: i64) -> Result<()> {
    let mut sql = Sql::new(context.state().db.dialect(), "");
    if entry.meta.soft_delete {
        let kind = entry.field("deleted_at").map_or(Kind::Timestamp { form: TimestampForm::Millis }, |mark| mark.kind);
        let now = rounded(kind, context.now().into());
        sql.push("UPDATE ").name(entry.meta.table).push(" SET \"deleted_at\" = ").bind(now);
    } else {
        sql.push("DELETE FROM ").name(entry.meta.table);
    }
    sql.push(" WHERE \"id\" = ").bind(id);
    sql.run(context.db()).await?;
    Ok(())
}

/// A value as its column stores it. A decimal gets exactly the scale of its column, because SQLite stores the scaled
/// integer.
pub fn storable(field: &FieldMeta, value: &Value) -> Result<Value> {
    match (field.kind, value) {
        (Kind::Decimal { places, .. }, Value::Decimal(Some(decimal))) => {
            let mut scaled = *decimal;
            scaled.rescale(u32::from(places));
            if scaled == *decimal && i64::try_from(scaled.mantissa()).is_ok() {
                Ok(scaled.into())
            } else {
                Err(Error::invalid(field.name, format!("must have at most {places} decimal places and 18 digits")))
            }
        }
        // A timestamp that is shown in seconds is stored in seconds, so that a client can filter by the value that it
        // read.
        (Kind::Timestamp { .. }, value) => Ok(rounded(field.kind, value.clone())),
        _ => Ok(value.clone()),
    }
}

/// Maps the violation of a unique index by a concurrent write to the same error as the check before the write.
pub fn map_unique_violation(error: Error, changes: &Changes) -> Error {
    match error {
        Error::UniqueViolation(index) => {
            // A restore does not change the other columns, but all of their values count again.
            let is_restore = changes.before.is_some() && changes.get("deleted_at").is_some();
            let is_written = |set: &UniqueMeta| is_restore || unique::is_touched(*set, changes).unwrap_or(true);
            let mut sets: Vec<_> = changes.meta.unique_sets().filter(is_written).collect();
            let has_index_name =
                |set: &UniqueMeta| index == format!("{}_{}_key", changes.meta.table, set.fields.join("_"));
            let set = match sets.iter().position(has_index_name) {
                Some(position) => sets.swap_remove(position),
                // The index name was truncated, or an operator chose it.
                None if sets.len() == 1 => sets.remove(0),
                None => return Error::UniqueViolation(index),
            };
            let mut errors = FieldErrors::default();
            add_not_unique(&mut errors, set.fields);
            Error::Invalid(errors)
        }
        other => other,
    }
}

/// Truncates a timestamp to seconds, unless its field shows milliseconds.
pub fn rounded(kind: Kind, value: Value) -> Value {
    match (kind, value) {
        (Kind::Timestamp { form }, Value::ChronoDateTimeUtc(Some(time))) if form != TimestampForm::Millis => {
            time.trunc_subsecs(0).into()
        }
        (_, value) => value,
    }
}
