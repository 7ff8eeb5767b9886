//! The currencies of ISO 4217.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let currencies = Table::on(manager, "currencies");
        currencies
            .create([
                id(),
                string("code", 3),
                string("name", 100),
                string("symbol", 10),
                integer("decimal_places").default(2),
                enumeration("symbol_position").default("before"),
                string("thousand_separator", 1).default(","),
                string("decimal_separator", 1).default("."),
                boolean("is_enabled").default(true),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        currencies.unique(&["code"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "currencies").drop().await
    }
}
