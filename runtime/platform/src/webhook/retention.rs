//! Retention: delivery logs, finished deliveries and their events are deleted after 30 days, in small batches.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::watch;
use tokio::time::sleep;

use charter_core::db::{Db, Dialect, Sql};
use charter_core::error::Result;
use charter_core::ops::State;

/// How long logs, finished deliveries and events are stored.
pub(super) const RETENTION: TimeDelta = TimeDelta::days(30);
/// Rows per transaction: few enough that writers on SQLite hardly wait.
const BATCH_ROWS: usize = 1000;
/// Pause between two batches, in which others may write.
const BATCH_PAUSE: Duration = Duration::from_millis(50);
/// Interval between two runs.
const PRUNE_INTERVAL: Duration = Duration::from_secs(600);

/// Prunes periodically until the dispatcher stops.
pub(super) async fn run(state: Arc<State>, mut stopped: watch::Receiver<bool>) {
    loop {
        let pruned = async {
            let pruned = prune(&state.db, state.clock.now()).await;
            state.metrics.tasks.round("retention", &pruned);
            if let Err(error) = pruned {
                tracing::error!(%error, "webhook retention: expired rows could not be deleted");
            }
            sleep(PRUNE_INTERVAL).await;
        };
        tokio::select! {
            () = pruned => {}
            _ = stopped.wait_for(|stop| *stop) => return,
        }
    }
}

/// Deletes everything older than `RETENTION` and returns the number of rows.
///
/// Ids grow with time, which lets each batch scan only the oldest rows. Pending deliveries, and events that a delivery
/// still references, are skipped.
///
/// # Errors
/// If the database fails; rows deleted before stay deleted.
pub async fn prune(db: &Db, now: DateTime<Utc>) -> Result<u64> {
    let mut pruned = 0;
    let done = "\"finished_at\" < ";
    let unneeded = "\"fanned_out_at\" IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \"webhook_deliveries\" d \
                    WHERE d.\"event_id\" = t.\"id\") AND \"created_at\" < ";
    for (table, condition) in
        [("webhook_logs", "\"created_at\" < "), ("webhook_deliveries", done), ("events", unneeded)]
    {
        let mut after = 0;
        while let Some((removed, last)) = prune_batch(db, table, condition, after, now).await? {
            pruned += removed;
            after = last;
            sleep(BATCH_PAUSE).await;
        }
    }
    Ok(pruned)
}

/// Deletes those of the next [`BATCH_ROWS`] rows after the id `after` that meet the condition, which ends before a
/// timestamp. Returns the number of deleted rows and the last id; `None` if the next rows are not old.
async fn prune_batch(
    db: &Db,
    table: &str,
    condition: &str,
    after: i64,
    now: DateTime<Utc>,
) -> Result<Option<(u64, i64)>> {
    let rows = format!("SELECT \"id\", \"created_at\" FROM \"{table}\" WHERE \"id\" > ");
    let mut sql = Sql::new(db.dialect(), "SELECT MAX(\"id\") AS \"last\", MIN(\"created_at\") AS \"oldest\" FROM (");
    sql.push(&rows).bind(after).push(&format!(" ORDER BY \"id\" LIMIT {BATCH_ROWS}) AS b"));
    let Some(row) = sql.one(db.reader()).await? else { return Ok(None) };
    let (last, oldest): (Option<i64>, Option<DateTime<Utc>>) = (row.try_get("", "last")?, row.try_get("", "oldest")?);
    let Some(last) = last.filter(|_| oldest.is_some_and(|oldest| oldest < now - RETENTION)) else { return Ok(None) };
    let rows = format!("SELECT t.\"id\" FROM \"{table}\" t WHERE t.\"id\" > ");
    let mut sql = Sql::new(db.dialect(), format!("DELETE FROM \"{table}\" WHERE \"id\" IN ({rows}"));
    sql.bind(after).push(" AND t.\"id\" <= ").bind(last).push(" AND ").push(condition).bind(now - RETENTION);
    // Another process may prune the same rows.
    sql.push(if db.dialect() == Dialect::Postgres { " FOR UPDATE SKIP LOCKED)" } else { ")" });
    let transaction = db.begin().await?;
    let removed = sql.run(&transaction).await?;
    transaction.commit().await?;
    Ok(Some((removed, last)))
}
