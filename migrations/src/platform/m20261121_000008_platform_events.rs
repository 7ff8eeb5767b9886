//! The outbox: each event is inserted in the transaction of the change that caused it.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let events = Table::on(manager, "events");
        events
            .create([
                id(),
                string("name", 255),
                text("body"),
                timestamp("created_at"),
                // NULL until the deliveries of the event are created.
                timestamp("fanned_out_at").nullable(),
                // The user who owns the record: 0 where records have no owner, NULL where only administrators see the
                // record.
                bigint("owner_id").nullable(),
                // The trace of the request: 32 hexadecimal digits, a dash and the flags of `traceparent`.
                string("trace", 35).nullable(),
            ])
            .await?;
        // The dispatcher reads pending events in the order of this index. Ordered by `id` alone, PostgreSQL would scan
        // the primary key through all past events while the table has no statistics.
        events.index_where("\"fanned_out_at\", \"id\"", "waiting", "\"fanned_out_at\" IS NULL").await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "events").drop().await
    }
}
