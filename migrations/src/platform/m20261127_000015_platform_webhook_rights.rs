//! The rights of a webhook: the token that made it, that token's abilities, and why the server disabled it.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let webhooks = Table::on(manager, "webhooks");
        webhooks.add(string("disabled_reason", 32).nullable()).await?;
        webhooks.add(bigint("token_id").nullable()).await?;
        webhooks.add(list("abilities")).await?;
        // Which token made them is not known: they keep what the roles of their user grant.
        webhooks.run("UPDATE \"webhooks\" SET \"abilities\" = '[\"*\"]'").await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let webhooks = Table::on(manager, "webhooks");
        webhooks.remove("abilities").await?;
        webhooks.remove("token_id").await?;
        webhooks.remove("disabled_reason").await
    }
}
