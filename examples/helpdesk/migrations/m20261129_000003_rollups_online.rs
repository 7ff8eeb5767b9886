//! Rollups.
//!
//! Online migration: the server keeps serving. No transaction spans the steps, and each step can be repeated.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let customers = Table::online(manager, "customers");
        customers.order(by("open_tickets")).await?;
        let tickets = Table::online(manager, "tickets");
        tickets.order(by("customer_id")).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let tickets = Table::online(manager, "tickets");
        tickets.drop_index("tickets_customer_id_sort").await?;
        let customers = Table::online(manager, "customers");
        customers.drop_index("customers_open_tickets_sort").await?;
        Ok(())
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(false)
    }
}
