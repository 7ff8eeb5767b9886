//! Counters of numbered fields: the last number of each, by table, field and period.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let numbers = Table::on(manager, "record_numbers");
        numbers.create([id(), string("counter", 400), bigint("last_number")]).await?;
        numbers.unique(&["counter"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "record_numbers").drop().await
    }
}
