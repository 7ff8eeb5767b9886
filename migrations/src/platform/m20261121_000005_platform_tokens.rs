//! The tokens: what a caller shows to be let in, by its SHA-256 alone.

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
                // 64 hexadecimal digits, and not char(64): PostgreSQL does not use its index for a text parameter.
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
