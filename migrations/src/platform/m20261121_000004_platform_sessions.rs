//! Sign-in to the panel: password hashes, browser sessions, and invitations, with which a user sets a password.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let passwords = Table::on(manager, "user_passwords");
        passwords
            .create([id(), reference("user_id", "users").cascade(), text("hash"), timestamp("changed_at")])
            .await?;
        passwords.unique(&["user_id"]).await?;
        let sessions = Table::on(manager, "user_sessions");
        sessions
            .create([
                id(),
                reference("user_id", "users").cascade(),
                string("digest", 64),
                string("previous", 64).nullable(),
                timestamp("created_at"),
                timestamp("rotated_at"),
                timestamp("last_used_at"),
            ])
            .await?;
        sessions.unique(&["digest"]).await?;
        sessions.index(&["previous"]).await?;
        sessions.index(&["user_id"]).await?;
        let invitations = Table::on(manager, "user_invitations");
        invitations
            .create([id(), reference("user_id", "users").cascade(), string("digest", 64), timestamp("expires_at")])
            .await?;
        invitations.unique(&["digest"]).await?;
        invitations.index(&["user_id"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["user_invitations", "user_sessions", "user_passwords"] {
            Table::on(manager, table).drop().await?;
        }
        Ok(())
    }
}
