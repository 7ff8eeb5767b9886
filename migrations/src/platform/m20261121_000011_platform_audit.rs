//! The audit log. It has no foreign keys, because entries outlive the records and users that they name.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let entries = Table::on(manager, "audit_entries");
        entries
            .create([
                id(),
                string("action", 64),
                string("entity_type", 64),
                bigint("record_id"),
                bigint("user_id").nullable(),
                bigint("token_id").nullable(),
                string("request_id", 255).nullable(),
                json("changes"),
                timestamp("created_at"),
            ])
            .await?;
        entries.index(&["entity_type", "record_id"]).await?;
        entries.index(&["user_id"]).await?;
        entries.index(&["created_at"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "audit_entries").drop().await
    }
}
