//! Background task that compacts PostgreSQL's `record_changes` into the totals and blocks, so that readers sum few
//! rows.

use std::time::Duration;

use tokio::time::sleep;

use crate::db::{Db, Dialect, Lock, Sql};
use crate::error::Result;
use crate::metrics::Tasks;

/// Limit on the changes of one transaction.
const MAX_BATCH_CHANGES: u64 = 5_000;
/// Pause after few changes, and after at least [`BUSY_CHANGES`].
const IDLE_INTERVAL: Duration = Duration::from_millis(1_000);
const BUSY_INTERVAL: Duration = Duration::from_millis(100);
/// Number of changes from which a round counts as busy.
const BUSY_CHANGES: u64 = 200;
/// Compacted changes between two vacuums of `record_changes`.
const CHANGES_BETWEEN_VACUUMS: u64 = 4_096;

/// One statement deletes the changes and adds them up, so that a reader sees both or neither.
const COMPACT: &str = r#"
WITH "removed" AS (
    DELETE FROM "record_changes" WHERE "ctid" = ANY(ARRAY(SELECT "ctid" FROM "record_changes" LIMIT {batch}))
    RETURNING "table", "block", "live"
), "blocks" AS (
    INSERT INTO "record_blocks" AS b ("table", "block", "live")
    SELECT "table", "block", SUM("live") FROM "removed" GROUP BY "table", "block"
    ON CONFLICT ("table", "block") DO UPDATE SET "live" = b."live" + excluded."live"
), "totals" AS (
    INSERT INTO "record_totals" AS t ("table", "live", "changes")
    SELECT "table", SUM("live"), COUNT(*) FROM "removed" GROUP BY "table"
    ON CONFLICT ("table") DO UPDATE SET "live" = t."live" + excluded."live", "changes" = t."changes" + excluded."changes"
)
SELECT COUNT(*) AS "compacted" FROM "removed""#;

/// Compacts repeatedly until the task is aborted. SQLite needs none: its single writer updates the totals directly.
pub async fn compact_in_background(db: &Db, tasks: &Tasks) {
    if db.dialect() == Dialect::Sqlite {
        return;
    }
    let mut since_vacuum = CHANGES_BETWEEN_VACUUMS;
    loop {
        let compacted = compact_and_vacuum(db, &mut since_vacuum).await;
        tasks.round("totals", &compacted);
        let pause = match compacted {
            Ok(compacted) if compacted >= BUSY_CHANGES => BUSY_INTERVAL,
            Ok(_) => IDLE_INTERVAL,
            Err(error) => {
                tracing::warn!(%error, "could not compact the record counts; retrying");
                IDLE_INTERVAL
            }
        };
        sleep(pause).await;
    }
}

async fn compact_and_vacuum(db: &Db, since_vacuum: &mut u64) -> Result<u64> {
    let compacted = compact(db).await?;
    *since_vacuum += compacted;
    if *since_vacuum >= CHANGES_BETWEEN_VACUUMS {
        vacuum(db).await?;
        *since_vacuum = 0;
    }
    Ok(compacted)
}

/// Reclaims the space of the deleted rows. Thousands of short-lived rows per second leave more dead tuples than
/// autovacuum removes once a minute, and each statement on the table scans them.
///
/// # Errors
/// When the database fails.
pub async fn vacuum(db: &Db) -> Result<()> {
    // TRUNCATE needs an exclusive lock. SKIP_LOCKED leaves the work to a vacuum that is already running.
    let text = "VACUUM (SKIP_LOCKED, TRUNCATE FALSE) \"record_changes\"";
    Sql::new(db.dialect(), text).run(db.reader()).await.map(drop)
}

/// Compacts one batch of changes, unless another process is compacting, and returns their number.
///
/// # Errors
/// When the database fails. Then nothing is compacted.
pub async fn compact(db: &Db) -> Result<u64> {
    let first = Sql::new(db.dialect(), "SELECT 1 AS \"one\" FROM \"record_changes\" LIMIT 1");
    if first.one(db.reader()).await?.is_none() {
        return Ok(0);
    }
    let transaction = db.begin_maintenance().await?;
    if !Lock::Compact.try_acquire(&transaction).await? {
        return Ok(0);
    }
    let row =
        Sql::new(db.dialect(), COMPACT.replace("{batch}", &MAX_BATCH_CHANGES.to_string())).one(&transaction).await?;
    transaction.commit().await?;
    let compacted: i64 = row.map(|row| row.try_get("", "compacted")).transpose()?.unwrap_or(0);
    Ok(compacted.unsigned_abs())
}
