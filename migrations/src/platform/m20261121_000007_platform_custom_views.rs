//! The saved views: columns, filters and order of a list, visible to their owner, to roles or to all users.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let custom_views = Table::on(manager, "custom_views");
        custom_views
            .create([
                id(),
                string("name", 255),
                string("entity_type", 64),
                enumeration("visibility").default("personal"),
                reference("user_id", "users").cascade(),
                list("columns"),
                list("filters"),
                string("sort_column", 255).nullable(),
                enumeration("sort_direction").default("asc"),
                integer("per_page").default(20),
                list("role_ids"),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        custom_views.index(&["entity_type"]).await?;
        custom_views.index(&["user_id"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "custom_views").drop().await
    }
}
