//! The runs of background jobs: those that wait, those that a worker has, and the history.

use crate::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let jobs = Table::on(manager, "background_jobs");
        jobs.create([
            id(),
            string("name", 64),
            json("arguments"),
            timestamp("scheduled_for").nullable(),
            enumeration("status").default("waiting"),
            integer("attempts").default(0),
            timestamp("due_at"),
            text("error").nullable(),
            // No foreign key: a queued job outlives the user whose request queued it.
            bigint("user_id").nullable(),
            string("lease_owner", 64).nullable(),
            timestamp("lease_until").nullable(),
            timestamp("started_at").nullable(),
            timestamp("finished_at").nullable(),
            timestamp("created_at"),
            timestamp("updated_at"),
        ])
        .await?;
        // One run for each interval, and one at a time, with any number of processes.
        jobs.unique(&["name", "scheduled_for"]).await?;
        let active = "\"status\" IN ('waiting', 'running')";
        jobs.unique_where("\"name\"", "scheduled", &format!("\"scheduled_for\" IS NOT NULL AND {active}")).await?;
        jobs.index_where("\"due_at\", \"id\"", "active", active).await?;
        jobs.index(&["finished_at"]).await?;
        jobs.index(&["created_at"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "background_jobs").drop().await
    }
}
