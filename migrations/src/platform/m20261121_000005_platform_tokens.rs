//! The API tokens, stored as SHA-256 hashes.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let tokens = Table::on(manager, "tokens");
        tokens
            .create([
                id(),
                string("name", 255),
                reference("user_id", "users").cascade(),
                // 64 hexadecimal digits. With char(64), PostgreSQL would not use the index for a text parameter.
                string("token_hash", 64),
                list("abilities"),
                timestamp("expires_at").nullable(),
                timestamp("last_used_at").nullable(),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        tokens.unique(&["token_hash"]).await?;
        tokens.index(&["user_id"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "tokens").drop().await
    }
}
