//! The tax classes of products.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let tax_classes = Table::on(manager, "tax_classes");
        tax_classes
            .create([
                id(),
                string("name", 255),
                decimal("percentage", 6, 2).default(0),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        tax_classes.unique(&["name"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "tax_classes").drop().await
    }
}
