//! The role of new users, which is Member until an administrator chooses another.

use charter_migrations::prelude::*;
use sea_orm_migration::sea_orm::ConnectionTrait;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "settings").add(reference("default_role_id", "roles").nullable()).await?;
        let member = "(SELECT \"id\" FROM \"roles\" WHERE \"name\" = 'Member')";
        let sql = format!("UPDATE \"settings\" SET \"default_role_id\" = {member}");
        manager.get_connection().execute_unprepared(&sql).await.map(drop)
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "settings").remove("default_role_id").await
    }
}
