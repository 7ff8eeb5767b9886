//! The trace of the request that caused an event, as 32 hexadecimal digits, a dash and the flags of `traceparent`: its
//! deliveries are part of that trace. It is NULL where the request belonged to none, and of events from before.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "events").add(string("trace", 35).nullable()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "events").remove("trace").await
    }
}
