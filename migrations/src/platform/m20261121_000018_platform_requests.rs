//! Where an attempt at a delivery was sent, and when it began: the rest of its request follows from the event.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let logs = Table::on(manager, "webhook_logs");
        // Of attempts before it is not known.
        logs.add(string("url", 2048).nullable()).await?;
        logs.add(timestamp("sent_at").nullable()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let logs = Table::on(manager, "webhook_logs");
        logs.remove("sent_at").await?;
        logs.remove("url").await
    }
}
