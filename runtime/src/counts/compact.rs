//! Background task that folds PostgreSQL's `record_changes` into the totals and blocks, so that readers add up few rows.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use crate::context::State;
use crate::db::{Db, Dialect, Lock, Sql};
use crate::error::Result;

/// So many changes are folded in one transaction.
const MAX_BATCH_CHANGES: u64 = 5_000;
/// How long a process waits when it found few changes, and when it found many.
const IDLE_INTERVAL: Duration = Duration::from_millis(1_000);
const BUSY_INTERVAL: Duration = Duration::from_millis(100);
/// As many as this are many.
const BUSY_CHANGES: u64 = 200;
/// The room of folded rows is reclaimed once per this many changes.
const CHANGES_BETWEEN_VACUUMS: u64 = 4_096;

/// What is taken and what is added stand in one statement: a reader sees both or neither.
const COMPACT: &str = r#"
WITH "gone" AS (
    DELETE FROM "record_changes" WHERE "ctid" = ANY(ARRAY(SELECT "ctid" FROM "record_changes" LIMIT {batch}))
    RETURNING "table", "block", "live"
), "blocks" AS (
    INSERT INTO "record_blocks" AS b ("table", "block", "live")
    SELECT "table", "block", SUM("live") FROM "gone" GROUP BY "table", "block"
    ON CONFLICT ("table", "block") DO UPDATE SET "live" = b."live" + excluded."live"
), "totals" AS (
    INSERT INTO "record_totals" AS t ("table", "live", "changes")
    SELECT "table", SUM("live"), COUNT(*) FROM "gone" GROUP BY "table"
    ON CONFLICT ("table") DO UPDATE SET "live" = t."live" + excluded."live", "changes" = t."changes" + excluded."changes"
)
SELECT COUNT(*) AS "folded" FROM "gone""#;

/// Folds again and again until the task is aborted. SQLite has nothing to fold: its one writer keeps the numbers itself.
pub async fn keep_compacted(state: Arc<State>) {
    if state.db.dialect() == Dialect::Sqlite {
        return;
    }
    let mut unswept = CHANGES_BETWEEN_VACUUMS;
    loop {
        let folded = keep(&state.db, &mut unswept).await;
        state.metrics.tasks.round("totals", &folded);
        let pause = match folded {
            Ok(folded) if folded >= BUSY_CHANGES => BUSY_INTERVAL,
            Ok(_) => IDLE_INTERVAL,
            Err(error) => {
                tracing::warn!(%error, "the changes of totals are not folded; trying again");
                IDLE_INTERVAL
            }
        };
        sleep(pause).await;
    }
}

async fn keep(db: &Db, unswept: &mut u64) -> Result<u64> {
    let folded = compact(db).await?;
    *unswept += folded;
    if *unswept >= CHANGES_BETWEEN_VACUUMS {
        vacuum(db).await?;
        *unswept = 0;
    }
    Ok(folded)
}

/// Reclaims the room of folded rows. Thousands of short-lived rows a second leave more dead ones than an autovacuum that
/// runs once a minute takes away, and each statement here steps over all of them.
///
/// # Errors
/// When the database fails.
pub async fn vacuum(db: &Db) -> Result<()> {
    // To truncate the table, all others would have to release it. A vacuum that is already running does the work.
    let text = "VACUUM (SKIP_LOCKED, TRUNCATE FALSE) \"record_changes\"";
    Sql::new(db.dialect(), text).run(db.reader()).await.map(drop)
}

/// Folds the changes that are there, unless another process is folding, and answers how many there were.
///
/// # Errors
/// When the database fails; then nothing is folded.
pub async fn compact(db: &Db) -> Result<u64> {
    let any = Sql::new(db.dialect(), "SELECT 1 AS \"any\" FROM \"record_changes\" LIMIT 1");
    if any.one(db.reader()).await?.is_none() {
        return Ok(0);
    }
    let transaction = db.begin_maintenance().await?;
    if !Lock::Fold.try_acquire(&transaction).await? {
        return Ok(0);
    }
    let row =
        Sql::new(db.dialect(), COMPACT.replace("{batch}", &MAX_BATCH_CHANGES.to_string())).one(&transaction).await?;
    transaction.commit().await?;
    let folded: i64 = row.map(|row| row.try_get("", "folded")).transpose()?.unwrap_or(0);
    Ok(folded.unsigned_abs())
}
