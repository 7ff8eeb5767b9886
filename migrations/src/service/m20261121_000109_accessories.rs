//! The accessories of products, which are products too.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let accessories = Table::on(manager, "accessories");
        accessories
            .create([
                id(),
                reference("product_id", "products"),
                reference("accessory_product_id", "products"),
                decimal("quantity", 10, 1).default("1"),
                boolean("included").default(false),
                boolean("zero_priced").default(false),
                integer("sort_order").default(0),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        accessories.unique(&["product_id", "accessory_product_id"]).await?;
        accessories.index(&["accessory_product_id"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "accessories").drop().await
    }
}
