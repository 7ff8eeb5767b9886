//! The products, with soft delete.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let products = Table::on(manager, "products");
        products
            .create([
                id(),
                string("name", 255),
                text("description").nullable(),
                enumeration("product_type").default("rental"),
                reference("product_group_id", "product_groups").nullable(),
                string("sku", 64).nullable(),
                string("barcode", 64).nullable(),
                boolean("is_active").default(true),
                integer("stock_method").default(1),
                decimal("weight", 12, 4).default(0),
                decimal("replacement_charge", 12, 2).default(0),
                custom_fields(),
                timestamp("created_at"),
                timestamp("updated_at"),
                integer("allowed_stock_type").default(1),
                decimal("buffer_percent", 6, 2).default(0),
                integer("post_rent_unavailability").default(0),
                boolean("accessory_only").default(false),
                boolean("system").default(false),
                boolean("discountable").default(true),
                reference("tax_class_id", "tax_classes").nullable(),
                reference("purchase_tax_class_id", "tax_classes").nullable(),
                integer("rental_revenue_group_id").nullable(),
                integer("sale_revenue_group_id").nullable(),
                integer("sub_rental_cost_group_id").nullable(),
                decimal("sub_rental_price", 12, 2).default(0),
                integer("purchase_cost_group_id").nullable(),
                decimal("purchase_price", 12, 2).default(0),
                integer("country_of_origin_id").nullable(),
                list("tag_list"),
                timestamp("deleted_at").nullable(),
            ])
            .await?;
        products.index_live(&["id"]).await?;
        products.index_live(&["product_group_id", "id"]).await?;
        products.index_live(&["sku"]).await?;
        products.index_live(&["barcode"]).await?;
        products.order(by("name").text().live()).await?;
        products.search("name").await?;
        products.search("sku").await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "products").drop().await
    }
}
