//! What a statement tells of its rows on PostgreSQL is written by one statement, where it was up to four: each begins and ends
//! an executor, which is more than what it does for a few rows.

use super::m20261121_000012_platform_totals::function;
use super::m20261121_000016_platform_together::{make, with_few};
use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// What a function does first. Rows of one block that are new tell their ids and their number in one row. So do rows that
/// were changed under their ids where the count stays, whatever blocks they are in, and one whose count changes: both
/// tables have their rows in one order, that of the updates. Of all else the blocks are told apart, as before.
const SOON: &str = r#"
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO "record_changes" ("table", "block", "live", "ids")
        SELECT TG_TABLE_NAME, MIN("id") >> 12, SUM({live}), array_agg("id")
        FROM (SELECT * FROM "new_rows" LIMIT 101) AS "n"
        HAVING COUNT(*) <= 100 AND MIN("id") >> 12 = MAX("id") >> 12;
        IF FOUND THEN
            RETURN NULL;
        END IF;
    ELSIF TG_OP = 'UPDATE' THEN
        INSERT INTO "record_changes" ("table", "block", "live", "ids")
        SELECT TG_TABLE_NAME, n."ids"[1] >> 12, n."lives"[1] - o."lives"[1], n."ids"
        FROM (
            SELECT array_agg("id") AS "ids", array_agg({live}) AS "lives" FROM (SELECT * FROM "new_rows" LIMIT 101) AS "r"
        ) AS n, (
            SELECT array_agg("id") AS "ids", array_agg({live}) AS "lives" FROM (SELECT * FROM "old_rows" LIMIT 101) AS "r"
        ) AS o
        WHERE cardinality(n."ids") <= 100 AND n."ids" = o."ids" AND (n."lives" = o."lives" OR cardinality(n."ids") = 1);
        IF FOUND THEN
            RETURN NULL;
        END IF;
    END IF;"#;

/// The statement that makes a function which does that first.
fn with_soon(name: &str, live: &str) -> String {
    function(name, live, true).replacen("\nBEGIN", &SOON.replace("{live}", live), 1)
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        make(manager, with_soon).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        make(manager, with_few).await
    }
}
