//! Removes what filtered lists no longer use from the tables of totals: the ids of recent changes, and sums of 64 blocks.
//! The trigger functions of PostgreSQL get one plain body.

use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

use super::m20261121_000012_platform_totals::{drop_triggers, function};
use super::m20261121_000013_platform_recent as recent;
use super::m20261121_000016_platform_together::make;
use super::m20261121_000017_platform_stretches as stretches;
use super::m20261121_000022_platform_emptied::{EMPTIED, with_emptied};
use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// The function of migration 12, which adds a row per block that a statement touched, also when a table is truncated that
/// has no record that counts: the number of rows is the version of the table.
fn plain(name: &str, live: &str) -> String {
    let end = "\n    END IF;\n    RETURN NULL;\nEND $$";
    function(name, live, false).replacen(end, &format!("{EMPTIED}{end}"), 1)
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        if manager.get_database_backend() == DbBackend::Sqlite {
            // The server makes the new ones, which have other names, when it starts.
            drop_triggers(manager.get_connection()).await?;
        }
        stretches::drop(manager).await?;
        make(manager, plain).await?;
        recent::drop(manager).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let connection = manager.get_connection();
        if manager.get_database_backend() == DbBackend::Postgres {
            connection.execute_unprepared(recent::POSTGRES).await?;
        } else {
            drop_triggers(connection).await?;
            connection.execute_unprepared(recent::SQLITE).await?;
        }
        make(manager, with_emptied).await?;
        stretches::create(manager).await
    }
}
