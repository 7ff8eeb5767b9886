//! Fixture of a resource for tools of agents: an action with an output of its own, a JSON field with a schema of the
//! application, and a field named like an argument of the tools.

use charter_migrations::prelude::*;
use charter_runtime::Result;
use charter_runtime::generated::{Output, Resource};
use charter_runtime::ops::{Context, Route};
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::Expr;
use serde_json::json;

use super::custom_app::own_fixture;
use super::server::nothing;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "probe")]
#[resource(action(name = "measure", on = "record", output = Reading, key = "reading"))]
pub struct Model {
    pub id: i64,
    #[field(string(255), required)]
    pub name: String,
    #[field(string(20), required)]
    pub dry_run: String,
    #[field(json, schema = shape)]
    pub shape: Option<Json>,
    #[field(read_only)]
    pub created_at: DateTimeUtc,
    #[field(read_only)]
    pub updated_at: DateTimeUtc,
}

/// A constant or an object, which has a property named like a keyword.
fn shape() -> Json {
    json!({ "anyOf": [
        { "const": "none" },
        { "type": "object", "title": "Box", "properties": { "title": { "type": "string" } } },
    ] })
}

#[derive(Clone, Debug, Output)]
pub struct Reading {
    pub value: i64,
}

trait Behaviour {
    fn measure(context: &Context<'_>, probe: &Model) -> impl Future<Output = Result<Reading>> + Send;
}

impl Behaviour for Entity {
    async fn measure(context: &Context<'_>, probe: &Model) -> Result<Reading> {
        let named = Entity::update_many().col_expr(Column::Name, Expr::value("Measured"));
        named.filter(Column::Id.eq(probe.id)).exec(context.db()).await?;
        Ok(Reading { value: 7 })
    }
}

fn route() -> Route {
    charter_runtime::route!(Entity, Behaviour, hooks(), actions(record_output measure))
}

own_fixture! {
    /// The service with the probes.
    Probes, "probes", [route()], nothing
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let columns = [id(), string("name", 255), string("dry_run", 20), json("shape").nullable()];
        let times = [timestamp("created_at"), timestamp("updated_at")];
        Table::on(manager, "probes").create(columns.into_iter().chain(times)).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "probes").drop().await
    }
}
