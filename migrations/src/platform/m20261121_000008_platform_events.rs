//! The outbox: events in the transaction of the change that caused them, until they are delivered.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let events = Table::on(manager, "events");
        events.create([id(), string("name", 255), text("body"), timestamp("created_at")]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "events").drop().await
    }
}
