//! The files that are attached to records, and those in storage that no attachment has.

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
        let leftovers = Table::on(manager, "attachment_leftovers");
        leftovers.create([id(), uuid("uuid"), timestamp("due_at")]).await?;
        leftovers.index(&["uuid"]).await?;
        leftovers.index(&["due_at"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "attachment_leftovers").drop().await?;
        Table::on(manager, "attachments").drop().await
    }
}
