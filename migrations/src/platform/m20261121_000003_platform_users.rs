//! The users and their roles.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let users = Table::on(manager, "users");
        users
            .create([
                id(),
                string("name", 255),
                string("email", 255),
                boolean("is_active").default(true),
                boolean("is_admin").default(false),
                list("role_ids"),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        users.unique_folded("email").await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "users").drop().await
    }
}
