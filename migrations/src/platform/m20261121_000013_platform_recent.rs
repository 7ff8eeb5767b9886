//! Which records changed lately, so that what a filter finds is carried from one state of a table to the next and not
//! counted again.
//!
//! - `record_recent`: the ids that the last changes of each table touched. On PostgreSQL a row stands for a statement and a
//!   block, with the transaction that made it, because a snapshot says of a transaction whether it sees it; on SQLite for
//!   one change, with its number.
//! - `record_totals.floor`: from where on `record_recent` holds all changes of a table: a transaction, or a number.

use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

use super::m20261121_000012_platform_totals::{FUNCTIONS, drop_triggers, function};
use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

pub(super) const POSTGRES: &str = r#"
ALTER TABLE "record_totals" ADD COLUMN "floor" xid8;
ALTER TABLE "record_changes" ADD COLUMN "ids" bigint[], ADD COLUMN "xid" xid8 NOT NULL DEFAULT pg_current_xact_id();
CREATE TABLE "record_recent" (
    "table" varchar(255) NOT NULL,
    "xid" xid8 NOT NULL,
    "ids" bigint[]
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE INDEX "record_recent_table_xid" ON "record_recent" ("table", "xid")"#;

pub(super) const SQLITE: &str = r#"
ALTER TABLE "record_totals" ADD COLUMN "floor" bigint;
CREATE TABLE "record_recent" (
    "table" varchar(255) NOT NULL,
    "change" bigint NOT NULL,
    "id" bigint NOT NULL,
    PRIMARY KEY ("table", "change", "id")
) WITHOUT ROWID"#;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let connection = manager.get_connection();
        if manager.get_database_backend() == DbBackend::Postgres {
            connection.execute_unprepared(POSTGRES).await?;
            for (name, live) in FUNCTIONS {
                connection.execute_unprepared(&function(name, live, true)).await?;
            }
        } else {
            // The start puts the new ones there, which have other names.
            drop_triggers(connection).await?;
            connection.execute_unprepared(SQLITE).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let connection = manager.get_connection();
        if manager.get_database_backend() == DbBackend::Postgres {
            for (name, live) in FUNCTIONS {
                connection.execute_unprepared(&function(name, live, false)).await?;
            }
        } else {
            drop_triggers(connection).await?;
        }
        drop(manager).await
    }
}

/// Drops what this migration adds to tables.
pub(super) async fn drop(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let connection = manager.get_connection();
    if manager.get_database_backend() == DbBackend::Postgres {
        let columns = "ALTER TABLE \"record_changes\" DROP COLUMN \"ids\", DROP COLUMN \"xid\"";
        connection.execute_unprepared(columns).await?;
    }
    connection.execute_unprepared("DROP TABLE \"record_recent\"").await?;
    connection.execute_unprepared("ALTER TABLE \"record_totals\" DROP COLUMN \"floor\"").await.map(std::mem::drop)
}
