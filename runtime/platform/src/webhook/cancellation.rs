//! Cancellation of pending deliveries of disabled webhooks, in batches: a backlog of days would exceed the statement
//! timeout and hold SQLite's only write lock.

use chrono::{DateTime, Utc};

use super::delivery::AttemptKind;
use super::fan_out::MAX_BATCH_DELIVERIES;
use charter_core::db::{Connection, Db, Dialect, Sql};
use charter_core::error::Result;

/// Cancels up to `MAX_BATCH_DELIVERIES` pending deliveries of a webhook. Returns true if more may be left, which
/// `cancel_remaining` cancels. Call it in the transaction that disables the webhook, or in one that locks the
/// disabled webhook.
pub async fn cancel(dialect: Dialect, transaction: &Connection, webhook_id: i64, now: DateTime<Utc>) -> Result<bool> {
    let mut remaining = MAX_BATCH_DELIVERIES as u64;
    for kind in AttemptKind::ALL {
        let mut sql =
            Sql::new(dialect, "UPDATE \"webhook_deliveries\" SET \"status\" = 'cancelled', \"finished_at\" = ");
        sql.bind(now).push(" WHERE \"id\" IN (SELECT \"id\" FROM \"webhook_deliveries\" WHERE \"status\" = 'pending'");
        sql.push(" AND \"id\" IN (SELECT d.\"id\" FROM \"webhook_deliveries\" d WHERE d.\"webhook_id\" = ");
        sql.bind(webhook_id).push(" AND ").push(kind.condition());
        // The order of the partial indexes.
        sql.push(&format!(" ORDER BY d.\"due_at\" LIMIT {remaining})"));
        // Locks rows in the same order as `record_results`, which prevents deadlocks.
        sql.push(if dialect == Dialect::Postgres { " ORDER BY \"id\" FOR UPDATE)" } else { ")" });
        remaining = remaining.saturating_sub(sql.run(transaction).await?);
    }
    Ok(remaining == 0)
}

/// Cancels a batch of pending deliveries of a disabled webhook. Returns true if more may be left.
pub(super) async fn cancel_remaining(db: &Db, now: DateTime<Utc>) -> Result<bool> {
    let dialect = db.dialect();
    let mut sql = Sql::new(dialect, "SELECT w.\"id\" FROM \"webhooks\" w WHERE NOT w.\"is_active\" AND (");
    for (kind, or) in [(AttemptKind::First, " OR "), (AttemptKind::Retry, ")")] {
        sql.push("EXISTS (SELECT 1 FROM \"webhook_deliveries\" d WHERE d.\"webhook_id\" = w.\"id\" AND ");
        sql.push(kind.condition()).push(")").push(or);
    }
    let Some(row) = sql.push(" LIMIT 1").clone().one(db.reader()).await? else { return Ok(false) };
    let id: i64 = row.try_get("", "id")?;
    let transaction = db.begin().await?;
    let mut sql = Sql::new(dialect, "SELECT \"id\" FROM \"webhooks\" WHERE NOT \"is_active\" AND \"id\" = ");
    sql.bind(id);
    if dialect == Dialect::Postgres {
        // A request that enables the webhook waits for this transaction.
        sql.push(" FOR SHARE");
    }
    if sql.one(&transaction).await?.is_some() {
        cancel(dialect, &transaction, id, now).await?;
        transaction.commit().await?;
    }
    Ok(true)
}
