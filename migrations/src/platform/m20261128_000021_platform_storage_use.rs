//! An index for the sum of the files that a user has uploaded.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let attachments = Table::on(manager, "attachments");
        attachments.index(&["uploaded_by", "file_size"]).await?;
        // The new index begins with the same column.
        attachments.drop_index("attachments_uploaded_by_idx").await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let attachments = Table::on(manager, "attachments");
        attachments.index(&["uploaded_by"]).await?;
        attachments.drop_index("attachments_uploaded_by_file_size_idx").await
    }
}
