//! Retention: runs that ended are deleted after 30 days, in small batches.

use std::sync::Arc;
use std::time::Duration;

use charter_core::db::{Dialect, Sql};
use charter_core::error::Result;
use charter_core::ops::State;
use chrono::TimeDelta;
use tokio::time::sleep;

/// How long a run is stored after its end.
const RETENTION: TimeDelta = TimeDelta::days(30);
/// Rows per transaction: few enough that writers on SQLite hardly wait.
const BATCH_ROWS: u64 = 1000;
/// Pause between two batches, in which others may write.
const BATCH_PAUSE: Duration = Duration::from_millis(50);
/// Interval between two rounds.
const PRUNE_INTERVAL: Duration = Duration::from_secs(600);

/// Prunes while the server runs.
pub(super) async fn prune_periodically(state: &Arc<State>) {
    loop {
        let pruned = prune(state).await;
        state.metrics.tasks.round("jobs_retention", &pruned);
        if let Err(error) = pruned {
            tracing::error!(%error, "jobs: expired runs could not be deleted");
        }
        sleep(PRUNE_INTERVAL).await;
    }
}

/// Deletes the runs that ended before the last 30 days.
///
/// # Errors
/// When the database fails; rows deleted before stay deleted.
pub async fn prune(state: &State) -> Result<()> {
    loop {
        let before = state.clock.now() - RETENTION;
        let write_expired = |sql: &mut Sql| {
            sql.push("SELECT \"id\" FROM \"background_jobs\" WHERE \"finished_at\" < ").bind(before);
            sql.push(&format!(" ORDER BY \"finished_at\" LIMIT {BATCH_ROWS}"));
        };
        // A read does not wait for other writers.
        let mut sql = Sql::new(state.db.dialect(), "");
        write_expired(&mut sql);
        if sql.one(state.db.reader()).await?.is_none() {
            return Ok(());
        }
        let mut sql = Sql::new(state.db.dialect(), "DELETE FROM \"background_jobs\" WHERE \"id\" IN (");
        write_expired(&mut sql);
        // Another process may prune the same rows.
        sql.push(if state.db.dialect() == Dialect::Postgres { " FOR UPDATE SKIP LOCKED)" } else { ")" });
        let transaction = state.db.begin().await?;
        let removed = sql.run(&transaction).await?;
        transaction.commit().await?;
        if removed < BATCH_ROWS {
            return Ok(());
        }
        sleep(BATCH_PAUSE).await;
    }
}
