//! What several updates tell of on PostgreSQL when they are one statement: requests that come at the same time are.
//!
//! Most of them move no record into or out of a count. Then what they tell is that these records have changed, which is one
//! row, whatever blocks they are in.

use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

use super::m20261121_000012_platform_totals::FUNCTIONS;
use super::m20261121_000015_platform_room::with_one;
use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// What stands behind the way of one row. Both tables have their rows in one order, that of the updates. Of more records
/// the ids are told apart by blocks, as before.
const FEW: &str = r#"
    IF TG_OP = 'UPDATE' AND "rows" <= 100 THEN
        SELECT array_agg("id"), array_agg({live}) INTO "ids", "lives" FROM "new_rows";
        SELECT array_agg("id"), array_agg({live}) INTO "former_ids", "former_lives" FROM "old_rows";
        IF "ids" = "former_ids" AND "lives" = "former_lives" THEN
            INSERT INTO "record_changes" ("table", "block", "live", "ids") VALUES (TG_TABLE_NAME, "one" >> 12, 0, "ids");
            RETURN NULL;
        END IF;
    END IF;"#;

/// The statement that makes a function which has that way.
pub(super) fn with_few(name: &str, live: &str) -> String {
    let names = "DECLARE \"ids\" bigint[]; \"former_ids\" bigint[]; \"lives\" int[]; \"former_lives\" int[]; ";
    let first = "\n    IF TG_OP = 'INSERT' THEN";
    let few = FEW.replace("{live}", live) + first;
    with_one(name, live).replacen("DECLARE ", names, 1).replacen(first, &few, 1)
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        make(manager, with_few).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        make(manager, with_one).await
    }
}

/// Makes each function by the statement that `function` writes, on PostgreSQL.
pub(super) async fn make(manager: &SchemaManager<'_>, function: fn(&str, &str) -> String) -> Result<(), DbErr> {
    if manager.get_database_backend() == DbBackend::Postgres {
        for (name, live) in FUNCTIONS {
            manager.get_connection().execute_unprepared(&function(name, live)).await?;
        }
    }
    Ok(())
}
