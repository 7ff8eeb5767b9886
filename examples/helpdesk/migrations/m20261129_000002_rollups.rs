//! Rollups.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let customers = Table::on(manager, "customers");
        customers.add(bigint("open_tickets").default(0)).await?;
        let invoices = Table::on(manager, "invoices");
        invoices.add(decimal("total", 18, 2).default(0)).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let invoices = Table::on(manager, "invoices");
        invoices.remove("total").await?;
        let customers = Table::on(manager, "customers");
        customers.remove("open_tickets").await?;
        Ok(())
    }
}
