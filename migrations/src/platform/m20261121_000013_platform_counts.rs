//! Record counts, maintained by triggers that the runtime creates on the tables of its resources.
//!
//! - `record_totals`: per table, the number of records that are not deleted, and a change counter.
//! - `record_blocks`: the same records counted by blocks of 4,096 ids, so that a page with a large offset is found
//!   without reading all rows before it.
//! - `record_changes` (PostgreSQL): the changes since then, one row for each statement and block. Writers only insert, so
//!   they do not lock each other out; readers add the rows up in their snapshot; the server folds them into the other two
//!   tables in the background.

use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend, Statement};

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// The two tables, in SQL that both databases accept.
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

/// Autovacuum starts after 2,000 dead rows, whatever the size of the table, which is nearly empty most of the time.
const CHANGES: &str = r#"
CREATE TABLE "record_changes" (
    "table" varchar(255) NOT NULL,
    "block" bigint NOT NULL,
    "live" bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE INDEX "record_changes_table" ON "record_changes" ("table")"#;

/// Trigger function of PostgreSQL. `{live}` is 1 for a row that counts and 0 for one that does not.
///
/// Each statement adds at least one row, even where no count changes, because the number of rows is the version of the
/// table. `TRUNCATE` holds an exclusive lock, so it sees every change of the table.
const FUNCTION: &str = r#"
CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO "record_changes" ("table", "block", "live")
        SELECT TG_TABLE_NAME, "id" >> 12, SUM({live}) FROM "new_rows" GROUP BY 2;
    ELSIF TG_OP = 'UPDATE' THEN
        INSERT INTO "record_changes" ("table", "block", "live") SELECT TG_TABLE_NAME, "block", SUM("live") FROM (
            SELECT "id", "id" >> 12 AS "block", {live} AS "live" FROM "new_rows"
            UNION ALL SELECT "id", "id" >> 12, -({live}) FROM "old_rows"
        ) AS "c" GROUP BY 2;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO "record_changes" ("table", "block", "live")
        SELECT TG_TABLE_NAME, "id" >> 12, -SUM({live}) FROM "old_rows" GROUP BY 2;
    ELSE
        INSERT INTO "record_changes" ("table", "block", "live") SELECT TG_TABLE_NAME, "block", -SUM("live") FROM (
            SELECT "block", "live" FROM "record_blocks" WHERE "table" = TG_TABLE_NAME
            UNION ALL SELECT "block", "live" FROM "record_changes" WHERE "table" = TG_TABLE_NAME
        ) AS "c" GROUP BY 2;
        INSERT INTO "record_changes" ("table", "block", "live") VALUES (TG_TABLE_NAME, 0, 0);
    END IF;
    RETURN NULL;
END $$"#;

/// The trigger functions, with `{live}` of each: one counts all rows, the other those that are not soft-deleted.
const FUNCTIONS: [(&str, &str); 2] =
    [("charter_count_all", "1"), ("charter_count_live", "CASE WHEN \"deleted_at\" IS NULL THEN 1 ELSE 0 END")];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let connection = manager.get_connection();
        connection.execute_unprepared(TABLES).await?;
        if manager.get_database_backend() == DbBackend::Postgres {
            connection.execute_unprepared(CHANGES).await?;
            for (name, live) in FUNCTIONS {
                let function = FUNCTION.replace("{name}", name).replace("{live}", live);
                connection.execute_unprepared(&function).await?;
            }
        }
        Ok(())
    }

    /// Drops the triggers of all tables first: without the count tables, they would fail every write.
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

/// Drops the count triggers of all tables of SQLite.
async fn drop_triggers(connection: &impl ConnectionTrait) -> Result<(), DbErr> {
    let named = "SELECT \"name\" FROM sqlite_master WHERE \"type\" = 'trigger' AND \"name\" LIKE 'charter\\_count\\_%' ESCAPE '\\'";
    for row in connection.query_all_raw(Statement::from_string(DbBackend::Sqlite, named)).await? {
        let name: String = row.try_get("", "name")?;
        connection.execute_unprepared(&format!("DROP TRIGGER \"{name}\"")).await?;
    }
    Ok(())
}
