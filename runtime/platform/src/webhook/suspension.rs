//! Suspension: a webhook is disabled when the token that made it is revoked or expires, its user is deactivated, or its
//! user has too many pending deliveries.

use chrono::{DateTime, SubsecRound, Utc};

use super::Webhooks;
use super::cancellation::cancel;
use super::delivery::AttemptKind;
use charter_core::db::{Db, Sql};
use charter_core::error::Result;
use charter_core::ops::State;

/// `disabled_reason` of a webhook whose user has more pending deliveries than the limit.
const DELIVERY_LIMIT: &str = "delivery_limit";

/// Disables the active webhooks that have lost their token or user, with the reason, and cancels their pending deliveries.
///
/// # Errors
/// When the database fails; the next call finds the same webhooks.
pub(super) async fn suspend(db: &Db, now: DateTime<Utc>) -> Result<()> {
    for (id, reason) in lost(db, now).await? {
        if disable(db, id, &reason, now).await? {
            tracing::warn!(webhook = id, reason, "webhook disabled: it lost the token or the user that made it");
        }
    }
    Ok(())
}

/// Disables, of each user with more pending deliveries than the limit, the webhook that has the most. Its pending deliveries
/// are cancelled, and `recover` queues them again.
///
/// # Errors
/// When the database fails; the next call finds the same webhooks.
pub(super) async fn enforce_delivery_limit(state: &State, now: DateTime<Utc>) -> Result<()> {
    let Some(limit) = state.extension::<Webhooks>()?.max_pending_per_user else { return Ok(()) };
    let mut sql = Sql::new(state.db.dialect(), "WITH p AS (SELECT w.\"id\", w.\"user_id\", ");
    write_pending(&mut sql, limit + 1);
    sql.push(" AS \"pending\" FROM \"webhooks\" w WHERE w.\"is_active\" = ").bind(true);
    sql.push("), r AS (SELECT \"id\", CAST(SUM(\"pending\") OVER (PARTITION BY \"user_id\") AS BIGINT) AS \"total\", ");
    sql.push("ROW_NUMBER() OVER (PARTITION BY \"user_id\" ORDER BY \"pending\" DESC, \"id\") AS \"position\" FROM p) ");
    sql.push("SELECT \"id\" FROM r WHERE \"position\" = 1 AND \"total\" > ").bind(as_i64(limit));
    for row in sql.all(state.db.reader()).await? {
        let id: i64 = row.try_get("", "id")?;
        if disable(&state.db, id, DELIVERY_LIMIT, now).await? {
            tracing::warn!(webhook = id, limit, "webhook disabled: its user has too many pending deliveries");
        }
    }
    Ok(())
}

/// How many more deliveries the user of a webhook may have pending; `None` without a limit.
///
/// # Errors
/// When the database fails.
pub(super) async fn room(state: &State, webhook_id: i64) -> Result<Option<u64>> {
    let Some(limit) = state.extension::<Webhooks>()?.max_pending_per_user else { return Ok(None) };
    let mut sql = Sql::new(state.db.dialect(), "SELECT CAST(COALESCE(SUM(");
    write_pending(&mut sql, limit);
    sql.push("), 0) AS BIGINT) AS \"pending\" FROM \"webhooks\" w WHERE w.\"is_active\" = ").bind(true);
    sql.push(" AND w.\"user_id\" = (SELECT \"user_id\" FROM \"webhooks\" WHERE \"id\" = ").bind(webhook_id).push(")");
    let row = sql.one(state.db.reader()).await?;
    let pending: i64 = row.map_or(Ok(0), |row| row.try_get("", "pending"))?;
    Ok(Some(limit.saturating_sub(pending.unsigned_abs())))
}

/// Writes the number of pending deliveries of the webhook `w`, counted up to `most` of each kind: a count of a large backlog
/// takes long, and each kind has an index.
fn write_pending(sql: &mut Sql, most: u64) {
    for (kind, before) in AttemptKind::ALL.into_iter().zip(["(", " + "]) {
        sql.push(before).push("(SELECT COUNT(*) FROM (SELECT 1 FROM \"webhook_deliveries\" d WHERE ");
        sql.push("d.\"webhook_id\" = w.\"id\" AND ").push(kind.condition());
        sql.push(&format!(" LIMIT {most}) AS b)"));
    }
    sql.push(")");
}

fn as_i64(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Disables an active webhook, and cancels its pending deliveries. Returns false if it is not active.
async fn disable(db: &Db, id: i64, reason: &str, now: DateTime<Utc>) -> Result<bool> {
    let (dialect, shown) = (db.dialect(), now.trunc_subsecs(0));
    let transaction = db.begin().await?;
    let mut sql = Sql::new(dialect, "UPDATE \"webhooks\" SET \"is_active\" = ");
    sql.bind(false)
        .push(", \"disabled_at\" = ")
        .bind(shown)
        .push(", \"updated_at\" = ")
        .bind(shown)
        .push(", \"disabled_reason\" = ")
        .bind(reason);
    sql.push(" WHERE \"id\" = ").bind(id).push(" AND \"is_active\" = ").bind(true);
    if sql.run(&transaction).await? == 0 {
        return Ok(false);
    }
    cancel(dialect, &transaction, id, now).await?;
    transaction.commit().await?;
    Ok(true)
}

/// The active webhooks that have lost their token or user, with the reason.
async fn lost(db: &Db, now: DateTime<Utc>) -> Result<Vec<(i64, String)>> {
    let mut sql = Sql::new(db.dialect(), "SELECT w.\"id\" AS \"id\", CASE WHEN u.\"is_active\" = ");
    sql.bind(false)
        .push(" THEN 'user_deactivated' WHEN t.\"id\" IS NULL THEN 'token_revoked' ELSE 'token_expired' END");
    sql.push(" AS \"reason\" FROM \"webhooks\" w JOIN \"users\" u ON u.\"id\" = w.\"user_id\"");
    sql.push(" LEFT JOIN \"tokens\" t ON t.\"id\" = w.\"token_id\" WHERE w.\"is_active\" = ").bind(true);
    sql.push(" AND (u.\"is_active\" = ").bind(false);
    sql.push(" OR w.\"token_id\" IS NOT NULL AND (t.\"id\" IS NULL OR t.\"expires_at\" <= ").bind(now);
    sql.push(")) ORDER BY w.\"id\"");
    let rows = sql.all(db.reader()).await?;
    rows.iter().map(|row| Ok((row.try_get("", "id")?, row.try_get("", "reason")?))).collect()
}
