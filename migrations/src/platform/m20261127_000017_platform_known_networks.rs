//! The networks from which users have signed in, which strangers cannot lock out.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let networks = Table::on(manager, "user_networks");
        networks
            .create([id(), reference("user_id", "users").cascade(), string("network", 45), timestamp("last_used_at")])
            .await?;
        networks.unique(&["user_id", "network"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "user_networks").drop().await
    }
}
