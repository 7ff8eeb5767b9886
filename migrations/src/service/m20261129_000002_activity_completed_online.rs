//! Activity completed.
//!
//! Online migration: the server keeps serving. No transaction spans the steps, and each step can be repeated.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let activities = Table::online(manager, "activities");
        activities.compute("completed", "(\"status_id\" = 2002)", "(\"status_id\" = 2002)").await?;
        Ok(())
    }

    async fn down(&self, _manager: &SchemaManager) -> Result<(), DbErr> {
        Ok(())
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(false)
    }
}
