//! Files that no attachment has: the promise to delete them, made before their first byte and when their owner goes.

use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;

use crate::db::{Connection, Dialect, Sql};
use crate::error::Result;

/// A file without an owner is deleted after this time: an upload that failed is over by then.
pub const KEPT: TimeDelta = TimeDelta::hours(1);
/// An owner comes within this time, or not at all. The rest of the hour is for clocks that differ.
const ADOPTED: TimeDelta = TimeDelta::minutes(30);
/// What could not be deleted is tried again after this time. Half of it may be gone: it is never due so late that an owner
/// could still come.
const AGAIN: TimeDelta = TimeDelta::minutes(15);

/// Promises that the files of this UUID are deleted when the time has come.
pub async fn add(connection: &Connection, dialect: Dialect, uuid: Uuid, due_at: DateTime<Utc>) -> Result<()> {
    let mut sql = Sql::new(dialect, "INSERT INTO \"attachment_pending_deletions\" (\"uuid\", \"due_at\") VALUES (");
    sql.bind(uuid).push(", ").bind(due_at).push(")");
    sql.run(connection).await.map(drop)
}

/// Takes a promise back in the transaction that makes the owner; `false` when it is too late for that.
pub async fn adopt(connection: &Connection, dialect: Dialect, uuid: Uuid, now: DateTime<Utc>) -> Result<bool> {
    let mut sql = Sql::new(dialect, "DELETE FROM \"attachment_pending_deletions\" WHERE \"uuid\" = ");
    sql.bind(uuid).push(" AND \"due_at\" > ").bind(now + KEPT - ADOPTED);
    Ok(sql.run(connection).await? > 0)
}

/// Some of those whose time has come.
pub async fn due(connection: &Connection, dialect: Dialect, now: DateTime<Utc>, most: u32) -> Result<Vec<Uuid>> {
    let mut sql = Sql::new(dialect, "SELECT \"uuid\" FROM \"attachment_pending_deletions\" WHERE \"due_at\" <= ");
    sql.bind(now).push(" ORDER BY \"due_at\" LIMIT ").push(&most.to_string());
    let rows = sql.all(connection).await?;
    Ok(rows.iter().map(|row| row.try_get("", "uuid")).collect::<Result<_, _>>()?)
}

/// The files could not be deleted now.
pub async fn put_off(connection: &Connection, dialect: Dialect, uuid: Uuid, now: DateTime<Utc>) -> Result<()> {
    let mut sql = Sql::new(dialect, "UPDATE \"attachment_pending_deletions\" SET \"due_at\" = ");
    sql.bind(now + AGAIN).push(" WHERE \"uuid\" = ").bind(uuid);
    sql.run(connection).await.map(drop)
}

/// The files are gone, and so is the promise.
pub async fn kept(connection: &Connection, dialect: Dialect, uuid: Uuid) -> Result<()> {
    let mut sql = Sql::new(dialect, "DELETE FROM \"attachment_pending_deletions\" WHERE \"uuid\" = ");
    sql.bind(uuid);
    sql.run(connection).await.map(drop)
}
