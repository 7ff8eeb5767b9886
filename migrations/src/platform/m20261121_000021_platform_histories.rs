//! The deliveries of one webhook are found by it: who deletes a webhook, or its user, deletes them, and read those of all
//! webhooks for that.

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
