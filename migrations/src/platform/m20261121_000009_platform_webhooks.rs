//! The webhooks: who is told of which events, what is to be delivered to whom, and every attempt at it.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let webhooks = Table::on(manager, "webhooks");
        webhooks
            .create([
                id(),
                reference("user_id", "users").cascade(),
                string("url", 2048),
                list("events"),
                boolean("is_active").default(true),
                string("secret", 255),
                string("previous_secret", 255).nullable(),
                timestamp("previous_secret_until").nullable(),
                timestamp("failing_since").nullable(),
                timestamp("last_failure_at").nullable(),
                timestamp("disabled_at").nullable(),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        webhooks.index(&["user_id"]).await?;

        let events = Table::on(manager, "events");
        events.add(timestamp("fanned_out_at").nullable()).await?;
        events.index_where("id", "pending", "\"fanned_out_at\" IS NULL").await?;

        let deliveries = Table::on(manager, "webhook_deliveries");
        deliveries
            .create([
                id(),
                // What the receiver knows it by: the header `webhook-id`.
                string("uid", 64),
                reference("webhook_id", "webhooks").cascade(),
                reference("event_id", "events"),
                // `pending`, `delivered`, `failed` or `cancelled`.
                enumeration("status").default("pending"),
                // Asked for by a person: its failures start no streak.
                boolean("manual").default(false),
                // Attempts that were made, and how many of them count in the schedule.
                integer("attempts").default(0),
                integer("retries").default(0),
                timestamp("due_at"),
                string("lease_owner", 64).nullable(),
                timestamp("lease_until").nullable(),
                timestamp("finished_at").nullable(),
                timestamp("created_at"),
            ])
            .await?;
        deliveries.unique(&["uid"]).await?;
        deliveries.unique(&["event_id", "webhook_id"]).await?;
        // What is due is asked for by webhook, first attempts apart from retries: a long backlog of one webhook, or of
        // retries, is never read through to find the rest.
        deliveries.index_where("webhook_id, due_at", "first", "\"status\" = 'pending' AND \"retries\" = 0").await?;
        deliveries.index_where("webhook_id, due_at", "retry", "\"status\" = 'pending' AND \"retries\" > 0").await?;

        let logs = Table::on(manager, "webhook_logs");
        logs.create([
            id(),
            reference("webhook_id", "webhooks").cascade(),
            string("event", 255),
            // The `uid` of the delivery, which may be pruned before.
            string("delivery_id", 64),
            integer("attempt"),
            integer("response_status").nullable(),
            text("response_body").nullable(),
            text("error").nullable(),
            integer("duration_ms"),
            timestamp("next_attempt_at").nullable(),
            timestamp("created_at"),
        ])
        .await?;
        logs.index(&["webhook_id", "id"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "webhook_logs").drop().await?;
        Table::on(manager, "webhook_deliveries").drop().await?;
        let events = Table::on(manager, "events");
        events.drop_index("events_pending_idx").await?;
        events.remove("fanned_out_at").await?;
        Table::on(manager, "webhooks").drop().await
    }
}
