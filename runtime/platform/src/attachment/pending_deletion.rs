//! Scheduled deletions of files without an attachment, stored before the first byte and when an attachment is deleted.

use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;

use charter_core::db::{Connection, Dialect, Sql};
use charter_core::error::Result;

/// A file is deleted after this time unless an attachment is created for it. A failed upload has ended by then.
pub(crate) const DELETE_AFTER: TimeDelta = TimeDelta::hours(1);
/// An attachment is created within this time or not at all. The rest of the hour allows for clock skew.
const ADOPTION_WINDOW: TimeDelta = TimeDelta::minutes(30);
/// Delay before another try to delete a file. One part may be deleted already: the delay is too short for the deletion
/// to be cancelled by an upload.
const RETRY_DELAY: TimeDelta = TimeDelta::minutes(15);

/// Schedules the deletion of the files of a UUID.
pub(crate) async fn schedule(
    connection: &Connection,
    dialect: Dialect,
    uuid: Uuid,
    due_at: DateTime<Utc>,
) -> Result<()> {
    let mut sql = Sql::new(dialect, "INSERT INTO \"attachment_pending_deletions\" (\"uuid\", \"due_at\") VALUES (");
    sql.bind(uuid).push(", ").bind(due_at).push(")");
    sql.run(connection).await.map(drop)
}

/// Cancels a deletion in the transaction that creates the attachment; returns false if it is too late.
pub(crate) async fn cancel(connection: &Connection, dialect: Dialect, uuid: Uuid, now: DateTime<Utc>) -> Result<bool> {
    let mut sql = Sql::new(dialect, "DELETE FROM \"attachment_pending_deletions\" WHERE \"uuid\" = ");
    sql.bind(uuid).push(" AND \"due_at\" > ").bind(now + DELETE_AFTER - ADOPTION_WINDOW);
    Ok(sql.run(connection).await? > 0)
}

/// UUIDs whose deletion is due, at most `limit`.
pub(super) async fn due(
    connection: &Connection,
    dialect: Dialect,
    now: DateTime<Utc>,
    limit: u32,
) -> Result<Vec<Uuid>> {
    let mut sql = Sql::new(dialect, "SELECT \"uuid\" FROM \"attachment_pending_deletions\" WHERE \"due_at\" <= ");
    sql.bind(now).push(" ORDER BY \"due_at\" LIMIT ").push(&limit.to_string());
    let rows = sql.all(connection).await?;
    Ok(rows.iter().map(|row| row.try_get("", "uuid")).collect::<Result<_, _>>()?)
}

/// Postpones a deletion that failed.
pub(super) async fn postpone(connection: &Connection, dialect: Dialect, uuid: Uuid, now: DateTime<Utc>) -> Result<()> {
    let mut sql = Sql::new(dialect, "UPDATE \"attachment_pending_deletions\" SET \"due_at\" = ");
    sql.bind(now + RETRY_DELAY).push(" WHERE \"uuid\" = ").bind(uuid);
    sql.run(connection).await.map(drop)
}

/// Removes a deletion that was carried out.
pub(super) async fn remove(connection: &Connection, dialect: Dialect, uuid: Uuid) -> Result<()> {
    let mut sql = Sql::new(dialect, "DELETE FROM \"attachment_pending_deletions\" WHERE \"uuid\" = ");
    sql.bind(uuid);
    sql.run(connection).await.map(drop)
}
