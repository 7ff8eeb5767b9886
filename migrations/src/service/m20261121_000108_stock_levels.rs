//! The stock levels of products, by location.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let stock_levels = Table::on(manager, "stock_levels");
        stock_levels
            .create([
                id(),
                reference("product_id", "products"),
                string("location", 100).nullable(),
                decimal("quantity_held", 12, 1).default(0),
                list("serial_numbers"),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        stock_levels.index(&["product_id", "location"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "stock_levels").drop().await
    }
}
