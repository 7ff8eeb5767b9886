//! The webhooks, their deliveries, and the log of delivery attempts.

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

        let deliveries = Table::on(manager, "webhook_deliveries");
        deliveries
            .create([
                id(),
                // The header `webhook-id`.
                string("uid", 64),
                reference("webhook_id", "webhooks").cascade(),
                reference("event_id", "events"),
                // `pending`, `delivered`, `failed` or `cancelled`.
                enumeration("status").default("pending"),
                // A redelivery that a user requested: its failures start no failure streak.
                boolean("manual").default(false),
                integer("attempts").default(0),
                // The attempts that count for the retry schedule.
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
        // Due deliveries are read by webhook, first attempts and retries apart, because a scan must not pass over the
        // backlog of one webhook, or of retries, to find the other rows.
        deliveries.index_where("webhook_id, due_at", "first", "\"status\" = 'pending' AND \"retries\" = 0").await?;
        deliveries.index_where("webhook_id, due_at", "retry", "\"status\" = 'pending' AND \"retries\" > 0").await?;
        deliveries.index(&["webhook_id"]).await?;

        let logs = Table::on(manager, "webhook_logs");
        logs.create([
            id(),
            reference("webhook_id", "webhooks").cascade(),
            string("event", 255),
            // The `uid` of the delivery, which may be pruned before the log.
            string("delivery_id", 64),
            integer("attempt"),
            integer("response_status").nullable(),
            text("response_body").nullable(),
            text("error").nullable(),
            integer("duration_ms"),
            timestamp("next_attempt_at").nullable(),
            timestamp("created_at"),
            string("url", 2048).nullable(),
            timestamp("sent_at").nullable(),
        ])
        .await?;
        logs.index(&["webhook_id", "id"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["webhook_logs", "webhook_deliveries", "webhooks"] {
            Table::on(manager, table).drop().await?;
        }
        Ok(())
    }
}
