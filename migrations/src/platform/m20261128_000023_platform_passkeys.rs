//! Passkeys of users: public keys in the format of WebAuthn.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let passkeys = Table::on(manager, "user_passkeys");
        passkeys
            .create([
                id(),
                reference("user_id", "users").cascade(),
                string("name", 100),
                string("credential_id", 1364),
                text("credential"),
                timestamp("created_at"),
                timestamp("last_used_at").nullable(),
            ])
            .await?;
        passkeys.unique(&["credential_id"]).await?;
        passkeys.index(&["user_id"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "user_passkeys").drop().await
    }
}
