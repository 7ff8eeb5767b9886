//! Suspension: a webhook is disabled when the token that made it is revoked or expires, or its user is deactivated.

use chrono::{DateTime, SubsecRound, Utc};

use super::cancellation::cancel;
use charter_core::db::{Db, Sql};
use charter_core::error::Result;

/// Disables the active webhooks that have lost their token or user, with the reason, and cancels their pending deliveries.
///
/// # Errors
/// When the database fails; the next call finds the same webhooks.
pub(super) async fn suspend(db: &Db, now: DateTime<Utc>) -> Result<()> {
    let shown = now.trunc_subsecs(0);
    for (id, reason) in lost(db, now).await? {
        let dialect = db.dialect();
        let transaction = db.begin().await?;
        let mut sql = Sql::new(dialect, "UPDATE \"webhooks\" SET \"is_active\" = ");
        sql.bind(false)
            .push(", \"disabled_at\" = ")
            .bind(shown)
            .push(", \"updated_at\" = ")
            .bind(shown)
            .push(", \"disabled_reason\" = ")
            .bind(reason.as_str());
        sql.push(" WHERE \"id\" = ").bind(id).push(" AND \"is_active\" = ").bind(true);
        if sql.run(&transaction).await? > 0 {
            cancel(dialect, &transaction, id, now).await?;
            transaction.commit().await?;
            tracing::warn!(webhook = id, reason, "webhook disabled: it lost the token or the user that made it");
        }
    }
    Ok(())
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
