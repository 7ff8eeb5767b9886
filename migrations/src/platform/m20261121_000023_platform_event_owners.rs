//! The user whose record an event tells of, so that a webhook of somebody else is not told. It is 0 where the record is
//! nobody's own, and NULL where only administrators see it: also of events from before this migration, whose owners are
//! unknown.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "events").add(bigint("owner_id").nullable()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "events").remove("owner_id").await
    }
}
