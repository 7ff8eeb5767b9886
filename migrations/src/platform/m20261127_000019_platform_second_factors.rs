//! Second factors of the sign-in: sealed TOTP secrets, and digests of recovery codes.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let factors = Table::on(manager, "user_second_factors");
        factors
            .create([
                id(),
                reference("user_id", "users").cascade(),
                string("secret", 255),
                bigint("last_step"),
                timestamp("created_at"),
            ])
            .await?;
        factors.unique(&["user_id"]).await?;
        let codes = Table::on(manager, "user_recovery_codes");
        codes.create([id(), reference("user_id", "users").cascade(), string("digest", 64)]).await?;
        codes.unique(&["user_id", "digest"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["user_recovery_codes", "user_second_factors"] {
            Table::on(manager, table).drop().await?;
        }
        Ok(())
    }
}
