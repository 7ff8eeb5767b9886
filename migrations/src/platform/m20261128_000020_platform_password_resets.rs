//! The time at which a user asked for a link to reset the password; null for an invitation.

use sea_orm_migration::sea_orm::ConnectionTrait;

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "user_invitations").add(timestamp("reset_requested_at").nullable()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let connection = manager.get_connection();
        // An older version would accept a link for a reset as an invitation.
        connection
            .execute_unprepared("DELETE FROM \"user_invitations\" WHERE \"reset_requested_at\" IS NOT NULL")
            .await?;
        Table::on(manager, "user_invitations").remove("reset_requested_at").await
    }
}
