//! Fixture resource with a nullable field of each type, and the ten rows of the conformance table.

use std::sync::Arc;

use charter_migrations::prelude::*;
use charter_runtime::Result;
use charter_runtime::generated::{Decimal, Resource};
use charter_runtime::ops::State;
use charter_runtime::ops::{BoxFuture, Context, Draft, Route};
use sea_orm::ActiveValue::Set;
use sea_orm::entity::prelude::{ActiveModelTrait, Date, DateTimeUtc, Json, Time};
use serde_json::json;

use super::create;
use super::custom_app::own_fixture;

// Both actions run on a record, as declared on each.
#[allow(clippy::duplicated_attributes)]
#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "specimen", custom_fields, search("name", "sku"))]
#[resource(include(name = "productGroup", via = "group_id"))]
#[resource(action(name = "weigh", on = "record"))]
#[resource(action(name = "count", on = "record"))]
#[resource(deprecated(field = "sku", since = "2026-03-01", sunset = "2027-03-01", instead = "name"))]
#[resource(deprecated(filter = "rate_gt", since = "2026-01-01", instead = "rate_gteq"))]
#[resource(deprecated(action = "weigh", since = "2025-06-01", sunset = "2026-12-01", instead = "count"))]
pub struct Model {
    pub id: i64,
    #[field(string(255))]
    pub name: Option<String>,
    #[field(string(64))]
    pub sku: Option<String>,
    #[field(decimal(18, 8))]
    pub rate: Option<Decimal<8>>,
    pub qty: Option<i32>,
    pub active: Option<bool>,
    #[field(reference("product_group"))]
    pub group_id: Option<i64>,
    #[field(reference("specimen"))]
    #[derived("parent_name", from = "parent_id.name")]
    pub parent_id: Option<i64>,
    #[field(enumeration("small", "Large"))]
    pub size: Option<String>,
    pub bought_on: Option<Date>,
    pub opens_at: Option<Time>,
    pub custom_fields: Json,
    #[field(read_only)]
    pub created_at: DateTimeUtc,
    #[field(read_only)]
    pub updated_at: DateTimeUtc,
}

/// Two actions that change nothing, one of them deprecated.
trait Behaviour {
    fn weigh(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn count(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
}

impl Behaviour for Entity {
    async fn weigh(_: &Context<'_>, _: &mut Draft<Entity>) -> Result<()> {
        Ok(())
    }

    async fn count(_: &Context<'_>, _: &mut Draft<Entity>) -> Result<()> {
        Ok(())
    }
}

fn route() -> Route {
    charter_runtime::route!(Entity, Behaviour, hooks(), actions(record weigh, record count))
}

own_fixture! {
    /// The service with the specimens.
    Specimens, "specimens", [route()], fill
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let specimens = Table::on(manager, "specimens");
        specimens
            .create([
                id(),
                string("name", 255).nullable(),
                string("sku", 64).nullable(),
                decimal("rate", 18, 8).nullable(),
                integer("qty").nullable(),
                boolean("active").nullable(),
                reference("group_id", "product_groups").nullable(),
                reference("parent_id", "specimens").nullable(),
                enumeration("size").nullable(),
                date("bought_on").nullable(),
                time("opens_at").nullable(),
                custom_fields(),
                timestamp("created_at"),
                timestamp("updated_at"),
            ])
            .await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "specimens").drop().await
    }
}

/// A row of the fixture in the notation of `query.tsv`.
type Row =
    (Option<&'static str>, Option<&'static str>, &'static str, Option<i32>, Option<bool>, Option<i64>, &'static str);

/// The rows, with ids from 1: name, sku, rate, qty, active, group, custom fields. Decimal custom fields are text, as
/// the service stores them. They equal the rows of `query.tsv`, created on successive days of 2026.
#[rustfmt::skip]
const ROWS: [Row; 10] = [
    (Some("Lamp"), Some("LMP-1"), "10.5", Some(5), Some(true), Some(1), r#"{"power":"150W","rig":"5"}"#),
    (Some("lamp stand"), Some("LMP-2"), "9.5", Some(0), Some(false), Some(1), r#"{"power":"150w","rig":"10"}"#),
    (Some("a_c"), None, "1.27", None, None, Some(2), "{}"),
    (Some("abc"), Some(""), "100", Some(-1), Some(true), Some(2), r#"{"rig":null}"#),
    (Some("50% off"), Some("X%Y"), "0.00000001", Some(10), Some(false), None, r#"{"rig":"9","vip":true}"#),
    (Some("back\\slash"), Some("b\\s"), "9.5", Some(5), Some(true), Some(3), r#"{"vip":false}"#),
    (Some(""), Some("SKU.7"), "1234567890.12345678", Some(100), None, Some(3), r#"{"power":""}"#),
    (None, Some("lmp-8"), "1234567890.12345679", Some(20), Some(true), None, r#"{"rig":"100"}"#),
    (Some("Äpfel"), Some("SKUX7"), "0.1", Some(3), Some(false), Some(1), r#"{"rig":"20.5"}"#),
    (Some("a,b"), Some("A,B"), "0.3", Some(7), Some(true), Some(2), r#"{"rig":"5"}"#),
];

fn fill(state: &Arc<State>) -> BoxFuture<'_, ()> {
    Box::pin(async move {
        for name in ["Lighting", "Audio", "Rigging"] {
            create(state, "product_group", &json!({ "name": name })).await;
        }
        for (name, field_type) in [("power", "string"), ("rig", "decimal"), ("vip", "boolean")] {
            let definition = json!({ "entity_type": "specimens", "name": name, "field_type": field_type });
            create(state, "custom_field", &definition).await;
        }
        let transaction = state.db.begin().await.expect("the database takes rows");
        for (day, (name, sku, rate, qty, active, group_id, custom_fields)) in (1..).zip(ROWS) {
            let created_at: DateTimeUtc = format!("2026-01-{day:02}T00:00:00Z").parse().expect("a time");
            let row = ActiveModel {
                name: Set(name.map(String::from)),
                sku: Set(sku.map(String::from)),
                rate: Set(Some(rate.parse().expect("a number"))),
                qty: Set(qty),
                active: Set(active),
                group_id: Set(group_id),
                custom_fields: Set(serde_json::from_str(custom_fields).expect("an object")),
                created_at: Set(created_at),
                updated_at: Set(created_at),
                ..Default::default()
            };
            let stored = row.insert(&transaction).await.expect("a row is stored");
            assert_eq!(stored.id, day, "ids begin at 1");
        }
        transaction.commit().await.expect("the rows are stored");
    })
}
