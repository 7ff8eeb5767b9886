//! `record_stretches`: the records of 64 blocks together, so that a page far down a table of ten million is found without
//! adding up thousands of blocks.
//!
//! Triggers of `record_blocks` keep it, whoever writes there: those who count on SQLite, who folds on PostgreSQL, and who
//! counts anew.

use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

const TABLE: &str = r#"
CREATE TABLE "record_stretches" (
    "table" varchar(255) NOT NULL,
    "stretch" bigint NOT NULL,
    "live" bigint NOT NULL,
    PRIMARY KEY ("table", "stretch")
)"#;

/// What is there already, once the triggers keep everyone out who would change it meanwhile.
const FILL: &str = r#"
INSERT INTO "record_stretches" ("table", "stretch", "live")
SELECT "table", "block" >> 6, SUM("live") FROM "record_blocks" GROUP BY "table", "block" >> 6"#;

/// Once a statement: those who fold take turns, so that no two of them wait for one another's rows.
const POSTGRES: &str = r#"
CREATE FUNCTION charter_stretch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP IN ('INSERT', 'UPDATE') THEN
        INSERT INTO "record_stretches" AS s ("table", "stretch", "live")
        SELECT "table", "block" >> 6, SUM("live") FROM "new_rows" GROUP BY 1, 2
        ON CONFLICT ("table", "stretch") DO UPDATE SET "live" = s."live" + excluded."live";
    END IF;
    IF TG_OP IN ('UPDATE', 'DELETE') THEN
        INSERT INTO "record_stretches" AS s ("table", "stretch", "live")
        SELECT "table", "block" >> 6, -SUM("live") FROM "old_rows" GROUP BY 1, 2
        ON CONFLICT ("table", "stretch") DO UPDATE SET "live" = s."live" + excluded."live";
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER charter_stretch_insert AFTER INSERT ON "record_blocks" REFERENCING NEW TABLE AS "new_rows"
    FOR EACH STATEMENT EXECUTE FUNCTION charter_stretch();
CREATE TRIGGER charter_stretch_update AFTER UPDATE ON "record_blocks" REFERENCING OLD TABLE AS "old_rows" NEW TABLE AS "new_rows"
    FOR EACH STATEMENT EXECUTE FUNCTION charter_stretch();
CREATE TRIGGER charter_stretch_delete AFTER DELETE ON "record_blocks" REFERENCING OLD TABLE AS "old_rows"
    FOR EACH STATEMENT EXECUTE FUNCTION charter_stretch()"#;

/// What a trigger adds on SQLite, once a row.
fn sqlite(event: &str, row: &str, live: &str) -> String {
    format!(
        "CREATE TRIGGER \"charter_stretch_{event}\" AFTER {event} ON \"record_blocks\" BEGIN \
         INSERT INTO \"record_stretches\" VALUES ({row}.\"table\", {row}.\"block\" >> 6, {live}) \
         ON CONFLICT (\"table\", \"stretch\") DO UPDATE SET \"live\" = \"live\" + excluded.\"live\"; END"
    )
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        create(manager).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop(manager).await
    }
}

pub(super) async fn create(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let connection = manager.get_connection();
    connection.execute_unprepared(TABLE).await?;
    if manager.get_database_backend() == DbBackend::Postgres {
        connection.execute_unprepared(POSTGRES).await?;
        return connection.execute_unprepared(FILL).await.map(std::mem::drop);
    }
    for (event, row, live) in [
        ("insert", "NEW", "NEW.\"live\""),
        ("update", "NEW", "NEW.\"live\" - OLD.\"live\""),
        ("delete", "OLD", "-OLD.\"live\""),
    ] {
        connection.execute_unprepared(&sqlite(event, row, live)).await?;
    }
    connection.execute_unprepared(FILL).await.map(std::mem::drop)
}

pub(super) async fn drop(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let connection = manager.get_connection();
    if manager.get_database_backend() == DbBackend::Postgres {
        connection.execute_unprepared("DROP FUNCTION charter_stretch() CASCADE").await?;
    } else {
        for event in ["insert", "update", "delete"] {
            connection.execute_unprepared(&format!("DROP TRIGGER \"charter_stretch_{event}\"")).await?;
        }
    }
    connection.execute_unprepared("DROP TABLE \"record_stretches\"").await.map(std::mem::drop)
}
