//! Time of day at which a loan is due.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let loans = Table::on(manager, "loans");
        loans.add(time("due_time").default("18:00:00")).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let loans = Table::on(manager, "loans");
        loans.remove("due_time").await?;
        Ok(())
    }
}
