//! The client address and browser of sessions, by which users recognize them.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let sessions = Table::on(manager, "user_sessions");
        sessions.add(string("address", 45).nullable()).await?;
        sessions.add(string("user_agent", 255).nullable()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let sessions = Table::on(manager, "user_sessions");
        sessions.remove("user_agent").await?;
        sessions.remove("address").await
    }
}
