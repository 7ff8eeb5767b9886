//! Identities of users at an identity provider (OpenID Connect).

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let identities = Table::on(manager, "user_identities");
        identities
            .create([
                id(),
                reference("user_id", "users").cascade(),
                string("issuer", 255),
                string("subject", 255),
                timestamp("created_at"),
            ])
            .await?;
        identities.unique(&["issuer", "subject"]).await?;
        identities.unique(&["user_id", "issuer"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "user_identities").drop().await
    }
}
