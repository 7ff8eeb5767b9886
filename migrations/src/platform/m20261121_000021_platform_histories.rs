//! The deliveries of one webhook are found by it. They go with it, or with its user; to find them, those of all webhooks were
//! read.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "webhook_deliveries").index(&["webhook_id"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "webhook_deliveries").drop_index("webhook_deliveries_webhook_id_idx").await
    }
}
