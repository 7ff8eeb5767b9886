//! What waits for a webhook that is no longer active is cancelled, some of it at a time: a backlog of days would be longer
//! than a statement may take, and hold SQLite's only writer.

use chrono::{DateTime, Utc};

use super::delivery::{MAX_BATCH_DELIVERIES, AttemptKind};
use crate::db::{Connection, Db, Dialect, Sql};
use crate::error::Result;

/// Cancels what is pending for a webhook, or as much of it as one transaction does: answers whether more may be left, which
/// [`cancel_rest`] finds. To be called in the transaction that disables it, or one that holds it while it is disabled.
pub async fn cancel(dialect: Dialect, transaction: &Connection, webhook_id: i64, now: DateTime<Utc>) -> Result<bool> {
    let mut room = MAX_BATCH_DELIVERIES as u64;
    for kind in AttemptKind::ALL {
        let mut sql =
            Sql::new(dialect, "UPDATE \"webhook_deliveries\" SET \"status\" = 'cancelled', \"finished_at\" = ");
        sql.bind(now).push(" WHERE \"id\" IN (SELECT \"id\" FROM \"webhook_deliveries\" WHERE \"status\" = 'pending'");
        sql.push(" AND \"id\" IN (SELECT d.\"id\" FROM \"webhook_deliveries\" d WHERE d.\"webhook_id\" = ");
        sql.bind(webhook_id).push(" AND ").push(kind.condition());
        // As the partial indexes have them.
        sql.push(&format!(" ORDER BY d.\"due_at\" LIMIT {room})"));
        // In the order in which attempts are completed, so that neither waits for the other for ever.
        sql.push(if dialect == Dialect::Postgres { " ORDER BY \"id\" FOR UPDATE)" } else { ")" });
        room = room.saturating_sub(sql.run(transaction).await?);
    }
    Ok(room == 0)
}

/// Cancels some of what is left for a webhook that was disabled, and answers whether more may be.
pub async fn cancel_rest(db: &Db, now: DateTime<Utc>) -> Result<bool> {
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
        // Who enables it waits, and finds nothing that is left.
        sql.push(" FOR SHARE");
    }
    if sql.one(&transaction).await?.is_some() {
        cancel(dialect, &transaction, id, now).await?;
        transaction.commit().await?;
    }
    Ok(true)
}
