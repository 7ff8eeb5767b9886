//! The service with tickets, which have a lifecycle.

use charter_migrations::prelude::*;
use charter_runtime::generated::{Context, Draft, Result, run_action};
use sea_orm::ActiveValue::Set;
use serde_json::json;

use crate::support::{nothing, own_fixture};

/// The resource as the generator writes it from `ticket.yaml`.
#[allow(clippy::duplicated_attributes, reason = "all transitions are on a record")]
pub mod ticket {
    include!(concat!(env!("CARGO_MANIFEST_DIR"), "/codegen/tests/golden/ticket.rs"));
}

impl ticket::Behaviour for ticket::Entity {
    async fn check(_: &Context<'_>, draft: &mut Draft<ticket::Entity>) -> Result<()> {
        let title = draft.before.as_ref().map(|before| before.title.as_str());
        if title == Some("refuse") && draft.model.status == Set(ticket::Status::Solved) {
            draft.error(ticket::Column::Title, "says no");
        }
        Ok(())
    }

    async fn after_save(context: &Context<'_>, record: &ticket::Model, before: Option<&ticket::Model>) -> Result<()> {
        match record.follows.filter(|_| before.is_none()) {
            Some(other) => run_action(context, ticket::Action::Solve, other, json!({})).await.map(drop),
            None => Ok(()),
        }
    }
}

own_fixture! {
    /// The service with tickets.
    Tickets, "tickets_with_states", [ticket::route()], nothing
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let columns = [
            id(),
            string("title", 80),
            enumeration("status").default("open"),
            enumeration("priority").default("low"),
            bigint("hours").nullable(),
            string("note", 200).nullable(),
            string("source", 20).nullable(),
            reference("agent_id", "users").nullable(),
            bigint("follows").nullable(),
            boolean("touched").default(false),
            timestamp("solved_at").nullable(),
            date("solved_on").nullable(),
            timestamp("created_at"),
            timestamp("updated_at"),
        ];
        Table::on(manager, "tickets").create(columns).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "tickets").drop().await
    }
}
