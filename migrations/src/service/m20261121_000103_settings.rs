//! The settings, a table with one row.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let settings = Table::on(manager, "settings");
        settings
            .create([
                singleton_id(),
                string("company_name", 255).nullable(),
                string("base_currency", 3).default("GBP"),
                string("timezone", 64).default("UTC"),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "settings").drop().await
    }
}
