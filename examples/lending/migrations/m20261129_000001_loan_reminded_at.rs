//! Time at which the reader of an overdue loan was reminded.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let loans = Table::on(manager, "loans");
        loans.add(timestamp("reminded_at").nullable()).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let loans = Table::on(manager, "loans");
        loans.remove("reminded_at").await?;
        Ok(())
    }
}
