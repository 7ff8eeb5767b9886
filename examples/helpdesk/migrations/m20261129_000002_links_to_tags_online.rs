//! Links to tags.
//!
//! Online migration: the server keeps serving. No transaction spans the steps, and each step can be repeated.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let ticket_tags = Table::online(manager, "ticket_tags");
        ticket_tags.change(reference("ticket_id", "tickets"), reference("ticket_id", "tickets").cascade()).await?;
        ticket_tags.index(&["tag_id"]).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let ticket_tags = Table::online(manager, "ticket_tags");
        ticket_tags.drop_index("ticket_tags_tag_id_idx").await?;
        ticket_tags.change(reference("ticket_id", "tickets").cascade(), reference("ticket_id", "tickets")).await?;
        Ok(())
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(false)
    }
}
