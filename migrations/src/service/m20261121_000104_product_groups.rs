//! The product groups.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let product_groups = Table::on(manager, "product_groups");
        product_groups
            .create([
                id(),
                string("name", 255),
                text("description").nullable(),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        product_groups.unique(&["name"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "product_groups").drop().await
    }
}
