//! Statements on one resource's table: a row by id, and the three writes.

use std::sync::Arc;

use chrono::SubsecRound;
use sea_orm::{QueryResult, Value};

use super::input::changeset::Changes;
use super::input::references::add_not_unique;
use super::visibility::visible;
use crate::catalog::Entry;
use crate::context::Context;
use crate::db::{Dialect, Sql};
use crate::error::{Error, FieldErrors, Result};
use crate::meta::{FieldMeta, Kind, TimestampForm};
use crate::query::{Condition, write_condition};
use crate::record::write_from;

/// The stored row of a record with every column, if `condition` holds for it; locked against other writers when
/// `lock` says so.
pub async fn load(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    condition: &Condition,
    lock: bool,
) -> Result<Option<Arc<QueryResult>>> {
    let mut sql = select(context, entry, condition, "");
    // An immediate transaction on SQLite already excludes other writers.
    if !lock || sql.dialect == Dialect::Sqlite {
        sql.push(" AND t.\"id\" = ").bind(id);
        return Ok(sql.one(context.db()).await?.map(Arc::new));
    }
    // Those who refer to it need not wait: its id stays. A deletion takes the stronger lock by itself.
    sql.push(" AND t.\"id\" = ").bind(id).push(" FOR NO KEY UPDATE OF t");
    Ok(sql.one(context.db()).await?.map(Arc::new))
}

/// Whether a record is there, within `within`, that the caller may see.
///
/// # Errors
/// [`Error::NotFound`] when there is none.
pub async fn require(context: &Context<'_>, entry: &Entry, id: i64, within: Condition) -> Result<()> {
    let condition = visible(context, entry).and(within);
    load(context, entry, id, &condition, false).await?.map(drop).ok_or(Error::NotFound)
}

/// The stored rows of all records that are not deleted and for which `condition` holds, with every column.
pub async fn load_all(context: &Context<'_>, entry: &Entry, condition: &Condition) -> Result<Vec<QueryResult>> {
    let mut sql = select(context, entry, condition, "");
    if entry.meta.soft_delete {
        sql.push(" AND t.\"deleted_at\" IS NULL");
    }
    sql.all(context.db()).await
}

/// The row of [`load`] on PostgreSQL, not locked, with `xmin` and `ctid`: the transaction that wrote it, and its place.
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

/// `SELECT` of every column and of `more`, `WHERE` the condition holds.
fn select(context: &Context<'_>, entry: &Entry, condition: &Condition, more: &str) -> Sql {
    let mut sql = Sql::new(context.state().db.dialect(), String::with_capacity(2 << 10));
    sql.push(&entry.stored).push(more);
    let mut sources = Vec::new();
    condition.sources(&mut sources);
    write_from(&mut sql, entry.meta.table, &sources);
    sql.push(" WHERE ");
    write_condition(&mut sql, condition);
    sql
}

/// Inserts a record and answers its id.
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

/// Stores the changed columns of a record.
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

/// Deletes a record, or marks it as deleted.
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

/// A value as its column holds it. A decimal must carry exactly its column's places, because that is what SQLite stores
/// it by.
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
        // What is shown to the second is stored to the second: what a client reads back is what it can ask for.
        (Kind::Timestamp { .. }, value) => Ok(rounded(field.kind, value.clone())),
        _ => Ok(value.clone()),
    }
}

/// A unique index that another writer reached first answers as the check before it would have.
pub fn map_unique_violation(error: Error, changes: &Changes) -> Error {
    match error {
        Error::Taken(index) => {
            // A record that returns brings all of its values back.
            let returns = changes.before.is_some() && changes.get("deleted_at").is_some();
            let given = |set: &&[&str]| returns || set.iter().any(|name| changes.get(name).is_some());
            let mut sets: Vec<_> = changes.meta.unique_sets().filter(given).collect();
            let named = |set: &&[&str]| index == format!("{}_{}_key", changes.meta.table, set.join("_"));
            let set = match sets.iter().position(named) {
                Some(place) => sets.swap_remove(place),
                // Its name was too long, or is the operator's own.
                None if sets.len() == 1 => sets.remove(0),
                None => return Error::Taken(index),
            };
            let mut errors = FieldErrors::default();
            add_not_unique(&mut errors, set);
            Error::Invalid(errors)
        }
        other => other,
    }
}

/// A time in whole seconds, unless its field shows milliseconds.
pub fn rounded(kind: Kind, value: Value) -> Value {
    match (kind, value) {
        (Kind::Timestamp { form }, Value::ChronoDateTimeUtc(Some(time))) if form != TimestampForm::Millis => {
            time.trunc_subsecs(0).into()
        }
        (_, value) => value,
    }
}
