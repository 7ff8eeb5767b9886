//! The roles: named sets of permissions, which are assigned to users.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let roles = Table::on(manager, "roles");
        roles
            .create([
                id(),
                string("name", 255),
                text("description").nullable(),
                list("permissions"),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        roles.unique(&["name"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "roles").drop().await
    }
}
