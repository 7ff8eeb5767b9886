//! The idempotency keys of executed requests, with the stored responses.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let keys = Table::on(manager, "idempotency_keys");
        keys.create([
            id(),
            reference("user_id", "users").cascade(),
            bigint("token_id").nullable(),
            string("key", 255),
            string("fingerprint", 64),
            integer("status"),
            text("location").nullable(),
            text("etag").nullable(),
            text("body"),
            boolean("sealed"),
            timestamp("created_at"),
        ])
        .await?;
        keys.unique(&["user_id", "key"]).await?;
        keys.index(&["created_at"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "idempotency_keys").drop().await
    }
}
