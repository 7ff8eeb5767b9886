//! The exchange rates between two currencies, each with the time from which it is effective.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let exchange_rates = Table::on(manager, "exchange_rates");
        exchange_rates
            .create([
                id(),
                string("source_currency_code", 3),
                string("target_currency_code", 3),
                decimal("rate", 18, 8),
                decimal("inverse_rate", 18, 8),
                string("source", 255).default("manual"),
                timestamp("effective_at"),
                timestamp("expires_at").nullable(),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        exchange_rates.index(&["source_currency_code", "target_currency_code", "effective_at"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "exchange_rates").drop().await
    }
}
