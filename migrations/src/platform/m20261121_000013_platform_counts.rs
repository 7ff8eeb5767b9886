//! How many records each table holds, kept by triggers that the runtime puts on the tables of its resources.
//!
//! - `record_totals`: one row a table: its records that are not deleted, and how often it has changed.
//! - `record_blocks`: the same records by 4,096 ids in a row, so that a deep page is found without walking to it.
//! - `record_changes`, on PostgreSQL: what has happened to either since, a row for each statement and block. Writers only
//!   add rows, so that none waits for another; a reader adds them up in its own snapshot; the server folds them into the
//!   two tables from time to time.

use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend, Statement};

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// The two tables, in words that both databases understand.
const TABLES: &str = r#"
CREATE TABLE "record_totals" (
    "table" varchar(255) PRIMARY KEY,
    "live" bigint NOT NULL,
    "changes" bigint NOT NULL
);
CREATE TABLE "record_blocks" (
    "table" varchar(255) NOT NULL,
    "block" bigint NOT NULL,
    "live" bigint NOT NULL,
    PRIMARY KEY ("table", "block")
)"#;

/// Rows come and go all the time: they are vacuumed by their number, not by their part of a table that is nearly empty.
const CHANGES: &str = r#"
CREATE TABLE "record_changes" (
    "table" varchar(255) NOT NULL,
    "block" bigint NOT NULL,
    "live" bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE INDEX "record_changes_table" ON "record_changes" ("table")"#;

/// What the triggers of a table call on PostgreSQL. `{live}` is 1 for a row that counts and 0 for one that does not;
/// `{columns}` and the two lists of ids are empty here, and filled by the migration that keeps them.
///
/// An update adds a row also when it changes no count, because the number of rows tells that something has changed. A
/// table that is emptied is locked against everyone, so that what is seen of its changes is all of them.
const FUNCTION: &str = r#"
CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO "record_changes" ({columns})
        SELECT TG_TABLE_NAME, "id" >> 12, SUM({live}){ids} FROM "new_rows" GROUP BY 2;
    ELSIF TG_OP = 'UPDATE' THEN
        INSERT INTO "record_changes" ({columns}) SELECT TG_TABLE_NAME, "block", SUM("live"){distinct} FROM (
            SELECT "id", "id" >> 12 AS "block", {live} AS "live" FROM "new_rows"
            UNION ALL SELECT "id", "id" >> 12, -({live}) FROM "old_rows"
        ) AS "c" GROUP BY 2;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO "record_changes" ({columns})
        SELECT TG_TABLE_NAME, "id" >> 12, -SUM({live}){ids} FROM "old_rows" GROUP BY 2;
    ELSE
        INSERT INTO "record_changes" ("table", "block", "live") SELECT TG_TABLE_NAME, "block", -SUM("live") FROM (
            SELECT "block", "live" FROM "record_blocks" WHERE "table" = TG_TABLE_NAME
            UNION ALL SELECT "block", "live" FROM "record_changes" WHERE "table" = TG_TABLE_NAME
        ) AS "c" GROUP BY 2;
    END IF;
    RETURN NULL;
END $$"#;

/// A statement that changes more records of a block than this says only that it has changed it.
const MOST_IDS: usize = 100;

/// The statement that makes a function; `ids`: it keeps the ids of what changed.
pub(super) fn function(name: &str, live: &str, ids: bool) -> String {
    let list = |what: &str, most: usize| match ids {
        true => format!(", CASE WHEN COUNT(*) <= {most} THEN array_agg({what}) END"),
        false => String::new(),
    };
    FUNCTION
        .replace("{name}", name)
        .replace("{live}", live)
        .replace("{columns}", if ids { r#""table", "block", "live", "ids""# } else { r#""table", "block", "live""# })
        .replace("{ids}", &list("\"id\"", MOST_IDS))
        // An updated row is seen twice.
        .replace("{distinct}", &list("DISTINCT \"id\"", 2 * MOST_IDS))
}

/// The functions by name: all rows count, or those that are not deleted.
pub(super) const FUNCTIONS: [(&str, &str); 2] =
    [("charter_count_all", "1"), ("charter_count_live", "CASE WHEN \"deleted_at\" IS NULL THEN 1 ELSE 0 END")];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let connection = manager.get_connection();
        connection.execute_unprepared(TABLES).await?;
        if manager.get_database_backend() == DbBackend::Postgres {
            connection.execute_unprepared(CHANGES).await?;
            for (name, live) in FUNCTIONS {
                connection.execute_unprepared(&function(name, live, false)).await?;
            }
        }
        Ok(())
    }

    /// Takes the triggers with it: without these tables they would refuse every write.
    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let connection = manager.get_connection();
        if manager.get_database_backend() == DbBackend::Postgres {
            for (name, _) in FUNCTIONS {
                connection.execute_unprepared(&format!("DROP FUNCTION {name}() CASCADE")).await?;
            }
            connection.execute_unprepared("DROP TABLE \"record_changes\"").await?;
        } else {
            drop_triggers(connection).await?;
        }
        connection.execute_unprepared("DROP TABLE \"record_blocks\"").await?;
        connection.execute_unprepared("DROP TABLE \"record_totals\"").await.map(drop)
    }
}

/// Takes the triggers of all tables away, on SQLite. The next start puts them there again, and counts.
pub(super) async fn drop_triggers(connection: &impl ConnectionTrait) -> Result<(), DbErr> {
    let named = "SELECT \"name\" FROM sqlite_master WHERE \"type\" = 'trigger' AND \"name\" LIKE 'charter\\_count\\_%' ESCAPE '\\'";
    for row in connection.query_all_raw(Statement::from_string(DbBackend::Sqlite, named)).await? {
        let name: String = row.try_get("", "name")?;
        connection.execute_unprepared(&format!("DROP TRIGGER \"{name}\"")).await?;
    }
    Ok(())
}
