//! Choices of users for the panel: language, formats, and the columns of each list.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let preferences = Table::on(manager, "user_preferences");
        preferences.create([id(), reference("user_id", "users").cascade(), string("name", 100), text("value")]).await?;
        preferences.unique(&["user_id", "name"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "user_preferences").drop().await
    }
}
