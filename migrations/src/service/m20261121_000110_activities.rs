//! The activities and their participants.

use charter_migrations::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let activities = Table::on(manager, "activities");
        activities
            .create([
                id(),
                string("subject", 255),
                text("description").nullable(),
                string("location", 255).nullable(),
                enumeration("regarding_type").nullable(),
                bigint("regarding_id").nullable(),
                reference("owned_by", "users"),
                timestamp("starts_at").nullable(),
                timestamp("ends_at").nullable(),
                integer("priority").default(1),
                integer("type_id").default(1001),
                integer("status_id").default(2001),
                boolean("completed").default(false),
                integer("time_status").default(0),
                custom_fields(),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        activities.index(&["regarding_type", "regarding_id"]).await?;
        activities.index(&["owned_by"]).await?;
        activities.index(&["starts_at"]).await?;
        activities.search("subject").await?;
        let participants = Table::on(manager, "activity_participants");
        participants
            .create([
                id(),
                reference("activity_id", "activities").cascade(),
                reference("member_id", "members"),
                boolean("mute").default(false),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await?;
        participants.unique(&["activity_id", "member_id"]).await?;
        participants.index(&["member_id"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "activity_participants").drop().await?;
        Table::on(manager, "activities").drop().await
    }
}
