//! Choices of references: `where` at every way to write, in the document and in the pickers of the panel, on both databases.

use serde_json::{Value, json};

use crate::panel::signed_in;
use crate::routes::imports::{finished, uploaded};
use crate::support::{Client, on_both};
use shop::Shop;

on_both!(
    reference_gets_only_records_that_meet_its_condition,
    reference_that_ceased_to_meet_its_condition_stays_valid,
    every_way_to_write_keeps_the_choices,
    record_that_the_caller_cannot_see_is_no_choice,
    list_of_choices_is_offered_to_clients_and_in_the_panel,
    document_describes_the_choices,
);

/// The service with products, orders that take active ones, and their lines.
mod shop {
    use charter_migrations::prelude::*;
    use charter_runtime::Result;
    use charter_runtime::generated::{Input, Resource};
    use charter_runtime::ops::{Context, Draft, Route};
    use sea_orm::ActiveValue::Set;
    use sea_orm::entity::prelude::DateTimeUtc;

    use crate::support::{nothing, own_fixture, record_columns};

    pub mod product {
        use super::*;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "thing", soft_delete, search("name"))]
        pub struct Model {
            pub id: i64,
            #[field(string(80), required)]
            pub name: String,
            #[field(boolean, default = "true")]
            pub is_active: bool,
            #[field(default = "1")]
            pub size: i32,
            #[field(read_only)]
            pub created_at: DateTimeUtc,
            #[field(read_only)]
            pub updated_at: DateTimeUtc,
            #[field(internal)]
            pub deleted_at: Option<DateTimeUtc>,
        }
    }

    /// Without hooks and embedded records, so that PostgreSQL writes it in two statements.
    pub mod pick {
        use super::*;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "pick")]
        pub struct Model {
            pub id: i64,
            #[field(reference("thing"), required, where = "is_active and size < 10")]
            pub thing_id: i64,
            #[field(reference("thing"))]
            pub any_id: Option<i64>,
            #[field(string(80))]
            pub note: Option<String>,
            #[field(read_only)]
            pub created_at: DateTimeUtc,
            #[field(read_only)]
            pub updated_at: DateTimeUtc,
        }
    }

    pub mod order {
        use super::*;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "order", action(name = "swap", on = "record", input = SwapInput))]
        pub struct Model {
            pub id: i64,
            #[embedded("lines", resource = "line", by = "order_id")]
            #[field(reference("thing"), on_delete = "restrict", where = "is_active")]
            pub thing_id: Option<i64>,
            #[field(read_only)]
            pub created_at: DateTimeUtc,
            #[field(read_only)]
            pub updated_at: DateTimeUtc,
        }

        #[derive(Clone, Debug, Input)]
        pub struct SwapInput {
            #[field(reference("thing"), required, where = "size > 5")]
            pub thing_id: i64,
        }

        pub fn route() -> Route {
            charter_runtime::route!(Entity, Behaviour, hooks(), actions(record_input swap: SwapInput))
        }

        trait Behaviour {
            fn swap(
                context: &Context<'_>,
                order: &mut Draft<Entity>,
                input: SwapInput,
            ) -> impl Future<Output = Result<()>> + Send;
        }

        impl Behaviour for Entity {
            async fn swap(_: &Context<'_>, order: &mut Draft<Entity>, input: SwapInput) -> Result<()> {
                order.model.thing_id = Set(Some(input.thing_id));
                Ok(())
            }
        }
    }

    pub mod line {
        use super::*;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "line", operations())]
        pub struct Model {
            pub id: i64,
            #[field(reference("order"), required)]
            pub order_id: i64,
            #[field(reference("thing"), required, where = "size = 1")]
            pub thing_id: i64,
            #[field(read_only)]
            pub created_at: DateTimeUtc,
            #[field(read_only)]
            pub updated_at: DateTimeUtc,
        }
    }

    own_fixture! {
        /// The service with these resources.
        Shop, "shop",
        [
            Route::of::<product::Entity>(),
            Route::of::<pick::Entity>(),
            order::route(),
            Route::of::<line::Entity>(),
        ],
        nothing
    }

    #[async_trait::async_trait]
    impl MigrationTrait for Migration {
        async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            let make = async |table: &str, columns: Vec<Column>| {
                Table::on(manager, table).create(record_columns(columns)).await
            };
            let things = vec![
                string("name", 80),
                boolean("is_active").default(true),
                integer("size").default(1),
                timestamp("deleted_at").nullable(),
            ];
            make("things", things).await?;
            let thing = || reference("thing_id", "things");
            let any = reference("any_id", "things").nullable();
            make("picks", vec![thing(), any, string("note", 80).nullable()]).await?;
            make("orders", vec![thing().nullable()]).await?;
            make("lines", vec![reference("order_id", "orders").cascade(), thing()]).await
        }

        async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            for table in ["lines", "orders", "picks", "things"] {
                Table::on(manager, table).drop().await?;
            }
            Ok(())
        }
    }
}

/// A product of each kind: the id of one that is small and active, of an inactive one, and of a large one.
async fn things(client: &Client) -> [Value; 3] {
    let mut ids = [Value::Null, Value::Null, Value::Null];
    let things = [
        json!({ "name": "Small" }),
        json!({ "name": "Gone", "is_active": false }),
        json!({ "name": "Large", "size": 10 }),
    ];
    for (id, thing) in ids.iter_mut().zip(things) {
        *id = client.post("/things", thing).await.created("thing")["id"].clone();
    }
    ids
}

const UNFIT: &str = "must refer to a record (thing) with is_active and size < 10";

async fn reference_gets_only_records_that_meet_its_condition(server: Shop) {
    let admin = server.admin();
    let [small, gone, large] = things(&admin).await;
    for thing in [&gone, &large] {
        let refused = admin.post("/picks", json!({ "thing_id": thing })).await;
        assert_eq!(refused.invalid("thing_id"), UNFIT);
    }
    let missing = admin.post("/picks", json!({ "thing_id": 99 })).await;
    assert_eq!(missing.invalid("thing_id"), "does not refer to an existing thing");
    assert_eq!(admin.get("/picks").await.ok()["meta"]["total"], 0);
    // Another reference to the same resource has no condition.
    let pick = admin.post("/picks", json!({ "thing_id": small, "any_id": gone })).await.created("pick");
    let path = format!("/picks/{}", pick["id"]);
    assert_eq!(admin.put(&path, json!({ "thing_id": large })).await.invalid("thing_id"), UNFIT);
    assert_eq!(admin.get(&path).await.record("pick")["thing_id"], small);
}

async fn reference_that_ceased_to_meet_its_condition_stays_valid(server: Shop) {
    let admin = server.admin();
    let [small, ..] = things(&admin).await;
    let pick = admin.post("/picks", json!({ "thing_id": small })).await.created("pick");
    let order = admin.post("/orders", json!({ "thing_id": small })).await.created("order");
    admin.put(&format!("/things/{small}"), json!({ "is_active": false })).await.ok();
    let path = format!("/picks/{}", pick["id"]);
    let pick = admin.put(&path, json!({ "thing_id": small, "note": "Kept" })).await.record("pick");
    assert_eq!((&pick["thing_id"], &pick["note"]), (&small, &json!("Kept")));
    let path = format!("/orders/{}", order["id"]);
    assert_eq!(admin.put(&path, json!({ "thing_id": small, "lines": [] })).await.record("order")["thing_id"], small);
    // Once cleared, it cannot be chosen again.
    admin.put(&path, json!({ "thing_id": "" })).await.ok();
    let refused = admin.put(&path, json!({ "thing_id": small })).await;
    assert_eq!(refused.invalid("thing_id"), "must refer to a record (thing) with is_active");
}

async fn every_way_to_write_keeps_the_choices(server: Shop) {
    let admin = server.admin();
    let [small, gone, large] = things(&admin).await;
    let operations = json!([{ "method": "create", "pick": { "thing_id": gone } }]);
    let refused = admin.post("/picks/bulk", json!({ "operations": operations })).await;
    assert_eq!(refused.invalid("operations.0.thing_id"), UNFIT);

    let refused = admin.post("/orders", json!({ "thing_id": gone })).await;
    assert_eq!(refused.invalid("thing_id"), "must refer to a record (thing) with is_active");
    let lines = json!([{ "thing_id": small }, { "thing_id": large }]);
    let refused = admin.post("/orders", json!({ "lines": lines })).await;
    assert_eq!(refused.invalid("lines.1.thing_id"), "must refer to a record (thing) with size = 1");

    let order = admin.post("/orders", json!({ "lines": [{ "thing_id": small }] })).await.created("order");
    let swap = format!("/orders/{}/swap", order["id"]);
    let refused = admin.post(&swap, json!({ "thing_id": small })).await;
    assert_eq!(refused.invalid("thing_id"), "must refer to a record (thing) with size > 5");
    let order = admin.post(&swap, json!({ "thing_id": large })).await.record("order");
    assert_eq!(order["thing_id"], large);

    let import = uploaded(&admin, "picks", &format!("thing_id\n{small}\n{gone}\n99\n")).await;
    let rehearsed = finished(&admin, &import, "rehearse").await;
    let rows = admin.get(&format!("/imports/{}/rows", import["id"])).await.ok().to_string();
    assert!(rows.contains(UNFIT), "{rows} {rehearsed}");
    assert!(rows.contains("does not refer to an existing thing"), "{rows}");
    finished(&admin, &import, "run").await;
    assert_eq!(admin.get("/picks").await.column("picks", "thing_id"), [small]);
}

async fn record_that_the_caller_cannot_see_is_no_choice(server: Shop) {
    let admin = server.admin();
    let [small, gone, _] = things(&admin).await;
    for thing in [&small, &gone] {
        admin.delete(&format!("/things/{thing}")).await.deleted();
        let refused = admin.post("/picks", json!({ "thing_id": thing })).await;
        assert_eq!(refused.invalid("thing_id"), "does not refer to an existing thing");
    }
}

async fn list_of_choices_is_offered_to_clients_and_in_the_panel(server: Shop) {
    let admin = server.admin();
    let [small, gone, large] = things(&admin).await;
    let ids = async |name: &str| admin.get(&format!("/things?sort=id&choices_of={name}")).await.column("things", "id");
    assert_eq!(ids("pick.thing_id").await, std::slice::from_ref(&small));
    assert_eq!(ids("order.thing_id").await, [small.clone(), large.clone()]);
    assert_eq!(ids("order.swap.thing_id").await, std::slice::from_ref(&large));
    admin.put(&format!("/things/{gone}"), json!({ "is_active": true })).await.ok();
    assert_eq!(ids("pick.thing_id").await, [small.clone(), gone.clone()]);
    assert_eq!(admin.get("/things?choices_of=order.thing_id&cursor=").await.records("things").len(), 3);
    let summary = admin.get("/things/summary?choices_of=order.swap.thing_id&sum=size").await.ok();
    assert!(summary.to_string().contains("10"), "{summary}");
    for unknown in ["pick.any_id", "pick", "", "x.y"] {
        let refused = admin.get(&format!("/things?choices_of={unknown}")).await;
        let message = refused.invalid("choices_of");
        assert!(message.starts_with("is not a field that limits its choices of thing: pick.thing_id"), "{message}");
    }
    let refused = admin.get("/picks?choices_of=pick.thing_id").await;
    assert_eq!(refused.invalid("choices_of"), "is not a field that limits its choices of pick");

    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let form = panel.get("/picks/new").await;
    assert!(form.text.contains("/panel/titles/things?choices_of=pick.thing_id"), "{}", form.text);
    let offered = panel.get("/panel/titles/things?choices_of=pick.thing_id&q=").await.status(200).text.clone();
    assert!(offered.contains("Small") && !offered.contains("Large"), "{offered}");
    let offered = panel.get("/panel/titles/things?q=").await.status(200).text.clone();
    assert!(offered.contains("Large"), "{offered}");
}

async fn document_describes_the_choices(server: Shop) {
    let document = server.admin().get("/openapi.json").await.ok();
    let field = &document["components"]["schemas"]["PickCreate"]["properties"]["thing_id"];
    let described = "A new value must refer to a record with `is_active and size < 10`.";
    assert!(field["description"].as_str().is_some_and(|text| text.contains(described)), "{field}");
    let parameters = document["paths"]["/api/v1/things"]["get"]["parameters"].as_array().expect("parameters");
    let parameter = parameters.iter().find(|one| one["name"] == "choices_of").expect("the parameter");
    let names = json!(["pick.thing_id", "order.thing_id", "order.swap.thing_id", "line.thing_id"]);
    assert_eq!(parameter["schema"]["enum"], names, "{parameter}");
    let of_orders = document["paths"]["/api/v1/orders"]["get"]["parameters"].to_string();
    assert!(!of_orders.contains("choices_of"), "{of_orders}");
}
