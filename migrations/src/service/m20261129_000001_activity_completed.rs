//! Activity completed.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let activities = Table::on(manager, "activities");
        activities.change(boolean("completed").default(false), boolean("completed")).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let activities = Table::on(manager, "activities");
        activities.change(boolean("completed"), boolean("completed").default(false)).await?;
        Ok(())
    }
}
