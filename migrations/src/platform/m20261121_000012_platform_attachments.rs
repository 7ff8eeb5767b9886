//! The attachments of records, and the stored files that no attachment uses and that are due for deletion.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let attachments = Table::on(manager, "attachments");
        attachments
            .create([
                id(),
                uuid("uuid"),
                string("original_name", 255),
                string("mime_type", 255),
                bigint("file_size"),
                string("category", 50).nullable(),
                string("description", 1000).nullable(),
                reference("uploaded_by", "users"),
                timestamp("created_at"),
                timestamp("updated_at"),
                string("attachable_type", 64),
                bigint("attachable_id"),
                string("thumb_type", 64).nullable(),
            ])
            .await?;
        attachments.unique(&["uuid"]).await?;
        attachments.index(&["attachable_type", "attachable_id"]).await?;
        attachments.index(&["uploaded_by"]).await?;
        let pending_deletions = Table::on(manager, "attachment_pending_deletions");
        pending_deletions.create([id(), uuid("uuid"), timestamp("due_at")]).await?;
        pending_deletions.index(&["uuid"]).await?;
        pending_deletions.index(&["due_at"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "attachment_pending_deletions").drop().await?;
        Table::on(manager, "attachments").drop().await
    }
}
