//! PostgreSQL's changes folded into the totals and blocks, so that readers have few of them to add up. The ids of the last
//! ones are kept beside.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::trigger::RECENT;
use crate::context::State;
use crate::db::{Db, Dialect, Lock, Sql};
use crate::error::Result;

/// So many changes are folded in one transaction.
const BATCH: u64 = 5_000;
/// How long a process waits when it found few changes, and when it found many.
const IDLE: Duration = Duration::from_millis(1_000);
const BUSY: Duration = Duration::from_millis(100);
/// As many as this are many.
const MANY: u64 = 200;
/// After so many it looks which of the recent ones are recent no longer, which is to look at as many as are kept.
const TRIMMED: u64 = RECENT.unsigned_abs();

/// What is taken and what is added stand in one statement: a reader sees both or neither.
const FOLD: &str = r#"
WITH "gone" AS (
    DELETE FROM "record_changes" WHERE "ctid" = ANY(ARRAY(SELECT "ctid" FROM "record_changes" LIMIT {batch}))
    RETURNING "table", "block", "live", "ids", "xid"
), "recent" AS (
    INSERT INTO "record_recent" ("table", "xid", "ids") SELECT "table", "xid", "ids" FROM "gone"
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

/// Keeps the last changes of each table, and says in `floor` up to which transaction they are gone. Changes are not folded
/// in the order of their transactions, so a later cut may be below an earlier one.
const TRIM: &str = r#"
WITH "cut" AS (
    SELECT t."table", (
        SELECT r."xid" FROM "record_recent" r WHERE r."table" = t."table" ORDER BY r."xid" DESC OFFSET {recent} LIMIT 1
    ) AS "xid" FROM "record_totals" t
), "gone" AS (
    DELETE FROM "record_recent" r USING "cut" c WHERE r."table" = c."table" AND r."xid" <= c."xid"
)
UPDATE "record_totals" t SET "floor" = GREATEST(t."floor", c."xid") FROM "cut" c WHERE t."table" = c."table" AND c."xid" IS NOT NULL"#;

/// Folds again and again until the task is aborted. SQLite has nothing to fold: its one writer keeps the numbers itself.
pub async fn keep_folded(state: Arc<State>) {
    if state.db.dialect() == Dialect::Sqlite {
        return;
    }
    let mut untrimmed = TRIMMED;
    loop {
        let pause = match keep(&state.db, &mut untrimmed).await {
            Ok(folded) if folded >= MANY => BUSY,
            Ok(_) => IDLE,
            Err(error) => {
                tracing::warn!(%error, "the changes of totals are not folded; trying again");
                IDLE
            }
        };
        sleep(pause).await;
    }
}

async fn keep(db: &Db, untrimmed: &mut u64) -> Result<u64> {
    let folded = fold(db).await?;
    *untrimmed += folded;
    if *untrimmed >= TRIMMED && trim(db).await? {
        *untrimmed = 0;
    }
    Ok(folded)
}

/// Forgets which records the older changes touched, says from where on they are known, and makes room; unless another
/// process is at it.
///
/// # Errors
/// When the database fails.
pub async fn trim(db: &Db) -> Result<bool> {
    let transaction = db.begin_upkeep().await?;
    let mine = Lock::Fold.try_hold(&transaction).await?;
    if mine {
        Sql::new(db.dialect(), TRIM.replace("{recent}", &RECENT.to_string())).run(&transaction).await?;
        transaction.commit().await?;
        sweep(db).await?;
    }
    Ok(mine)
}

/// Gives the room of what was folded and forgotten to what comes next. Rows that come and go by the thousand a second leave
/// more behind than an autovacuum that looks once a minute takes away, and each statement here steps over all of it.
///
/// # Errors
/// When the database fails.
async fn sweep(db: &Db) -> Result<()> {
    for table in ["record_changes", "record_recent"] {
        // To cut the end of a table off, all others would have to let it go. Whoever is at it already does it.
        let text = format!("VACUUM (SKIP_LOCKED, TRUNCATE FALSE) \"{table}\"");
        Sql::new(db.dialect(), text).run(db.reader()).await?;
    }
    Ok(())
}

/// Folds the changes that are there, unless another process is folding, and answers how many there were.
///
/// # Errors
/// When the database fails; then nothing is folded.
pub async fn fold(db: &Db) -> Result<u64> {
    let any = Sql::new(db.dialect(), "SELECT 1 AS \"any\" FROM \"record_changes\" LIMIT 1");
    if any.one(db.reader()).await?.is_none() {
        return Ok(0);
    }
    let transaction = db.begin_upkeep().await?;
    if !Lock::Fold.try_hold(&transaction).await? {
        return Ok(0);
    }
    let row = Sql::new(db.dialect(), FOLD.replace("{batch}", &BATCH.to_string())).one(&transaction).await?;
    transaction.commit().await?;
    let folded: i64 = row.map(|row| row.try_get("", "folded")).transpose()?.unwrap_or(0);
    Ok(folded.unsigned_abs())
}
