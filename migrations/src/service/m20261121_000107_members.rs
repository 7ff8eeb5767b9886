//! The members: people, organisations, venues and vehicles.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let members = Table::on(manager, "members");
        members
            .create([
                id(),
                string("name", 255),
                enumeration("membership_type").default("contact"),
                boolean("is_active").default(true),
                custom_fields(),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        members.search("name").await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "members").drop().await
    }
}
