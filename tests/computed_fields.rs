//! Computed fields at every way to write, in lists and in summaries, on both databases.

use serde_json::{Value, json};

use crate::routes::imports::{finished, uploaded};
use crate::support::{Client, on_both};
use lines::Lines;

on_both!(
    new_record_has_its_computed_values,
    update_of_one_field_computes_the_values_that_name_it,
    request_cannot_set_a_computed_field,
    numbers_are_exact_up_to_the_last_digit,
    rows_of_a_bulk_and_of_an_import_are_computed,
    hooks_and_actions_change_what_is_computed_and_not_the_result,
    embedded_records_are_computed,
    lists_filter_sort_sum_and_export_computed_values,
    rules_see_the_computed_value_of_the_write,
    audit_entries_and_the_document_tell_of_computed_values,
);

/// The service with lines, tasks that have hooks, and orders with embedded parts.
mod lines {
    use charter_migrations::prelude::*;
    use charter_runtime::Result;
    use charter_runtime::generated::{Decimal, Resource};
    use charter_runtime::ops::{Context, Draft, Route};
    use sea_orm::ActiveValue::Set;
    use sea_orm::entity::prelude::DateTimeUtc;

    use crate::support::{nothing, own_fixture};

    pub mod line {
        use super::*;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "line", events, ordered("total"))]
        pub struct Model {
            pub id: i64,
            #[field(string(80), required)]
            pub name: String,
            #[field(required, min = "-1000", max = "1000")]
            pub quantity: i32,
            #[field(decimal(10, 2), required)]
            pub unit_price: Decimal<2>,
            #[field(decimal(4, 2))]
            pub discount: Option<Decimal<2>>,
            pub due_on: Option<chrono::NaiveDate>,
            #[field(string(80), required_when = "total > 100000")]
            pub approved_by: Option<String>,
            #[field(decimal(16, 3), value = "quantity * unit_price")]
            pub total: Decimal<3>,
            #[field(decimal(10, 2), value = "discount * 2")]
            pub twofold: Option<Decimal<2>>,
            #[field(value = "quantity + 1")]
            pub next: i32,
            #[field(boolean, value = "quantity > 10 or discount is not null")]
            pub is_large: bool,
            #[field(value = "due_on - 7 days")]
            pub remind_on: Option<chrono::NaiveDate>,
            #[field(enumeration("small", "large"), value = "if(quantity < 10, small, large)")]
            pub size: String,
            #[field(text, value = "if(length(name) > 10, 'long', name)")]
            pub title: String,
            #[field(read_only)]
            pub created_at: DateTimeUtc,
            #[field(read_only)]
            pub updated_at: DateTimeUtc,
        }
    }

    /// Its hook changes what is computed, and the result.
    pub mod task {
        use super::*;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "task", events, action(name = "double", on = "record"))]
        pub struct Model {
            pub id: i64,
            #[field(default = "1", min = "0", max = "1000")]
            pub hours: i32,
            #[field(value = "hours * 60")]
            pub minutes: i32,
            #[field(read_only)]
            pub created_at: DateTimeUtc,
            #[field(read_only)]
            pub updated_at: DateTimeUtc,
        }

        pub fn route() -> Route {
            charter_runtime::route!(Entity, Behaviour, hooks(before_save), actions(record double))
        }

        trait Behaviour {
            fn before_save(context: &Context<'_>, draft: &mut Draft<Entity>)
            -> impl Future<Output = Result<()>> + Send;
            fn double(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
        }

        impl Behaviour for Entity {
            async fn before_save(_: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
                if draft.model.hours.try_as_ref() == Some(&13) {
                    draft.model.hours = Set(14);
                }
                draft.model.minutes = Set(1);
                Ok(())
            }

            async fn double(_: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
                let hours = draft.model.hours.try_as_ref().copied().unwrap_or_default();
                draft.model.hours = Set(hours * 2);
                Ok(())
            }
        }
    }

    pub mod order {
        use super::*;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "order", events)]
        pub struct Model {
            pub id: i64,
            #[field(string(80), required)]
            #[embedded("parts", resource = "part", by = "order_id")]
            pub name: String,
            #[field(read_only)]
            pub created_at: DateTimeUtc,
            #[field(read_only)]
            pub updated_at: DateTimeUtc,
        }
    }

    pub mod part {
        use super::*;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "part", operations())]
        pub struct Model {
            pub id: i64,
            #[field(reference("order"), required)]
            pub order_id: i64,
            #[field(default = "1", min = "0", max = "1000")]
            pub count: i32,
            #[field(value = "count * 2")]
            pub pairs: i32,
            #[field(read_only)]
            pub created_at: DateTimeUtc,
            #[field(read_only)]
            pub updated_at: DateTimeUtc,
        }
    }

    own_fixture! {
        /// The service with the computed fields.
        Lines, "lines",
        [Route::of::<line::Entity>(), task::route(), Route::of::<order::Entity>(), Route::of::<part::Entity>()], nothing
    }

    #[async_trait::async_trait]
    impl MigrationTrait for Migration {
        async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            let columns = [
                id(),
                string("name", 80),
                integer("quantity"),
                decimal("unit_price", 10, 2),
                decimal("discount", 4, 2).nullable(),
                date("due_on").nullable(),
                string("approved_by", 80).nullable(),
                decimal("total", 16, 3),
                decimal("twofold", 10, 2).nullable(),
                integer("next"),
                boolean("is_large"),
                date("remind_on").nullable(),
                enumeration("size"),
                text("title"),
                timestamp("created_at"),
                timestamp("updated_at"),
            ];
            let lines = Table::on(manager, "lines");
            lines.create(columns).await?;
            lines.order(by("total")).await?;
            let times = || [timestamp("created_at"), timestamp("updated_at")];
            let tasks = [id(), integer("hours").default(1), integer("minutes")].into_iter().chain(times());
            Table::on(manager, "tasks").create(tasks.collect::<Vec<_>>()).await?;
            let orders = [id(), string("name", 80)].into_iter().chain(times());
            Table::on(manager, "orders").create(orders.collect::<Vec<_>>()).await?;
            let parts =
                [id(), reference("order_id", "orders").cascade(), integer("count").default(1), integer("pairs")];
            Table::on(manager, "parts").create(parts.into_iter().chain(times()).collect::<Vec<_>>()).await
        }

        async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            for table in ["parts", "orders", "tasks", "lines"] {
                Table::on(manager, table).drop().await?;
            }
            Ok(())
        }
    }
}

const COMPUTED: [&str; 7] = ["total", "twofold", "next", "is_large", "remind_on", "size", "title"];

fn computed(line: &Value) -> Value {
    COMPUTED.iter().map(|name| line[name].clone()).collect()
}

async fn create(client: &Client, line: Value) -> Value {
    client.post("/lines", line).await.created("line")
}

async fn new_record_has_its_computed_values(server: Lines) {
    let admin = server.admin();
    let line = create(&admin, json!({ "name": "Chair", "quantity": 3, "unit_price": "2.50" })).await;
    assert_eq!(computed(&line), json!(["7.500", null, 4, false, null, "small", "Chair"]));
    let line = json!({
        "name": "Chair of oak", "quantity": "12", "unit_price": "-0.01", "discount": "1.25", "due_on": "2026-03-03"
    });
    let line = create(&admin, line).await;
    assert_eq!(computed(&line), json!(["-0.120", "2.50", 13, true, "2026-02-24", "large", "long"]));
    let stored = admin.get(&format!("/lines/{}", line["id"])).await.record("line");
    assert_eq!(stored, line);
}

async fn update_of_one_field_computes_the_values_that_name_it(server: Lines) {
    let admin = server.admin();
    let line = json!({ "name": "Chair", "quantity": 3, "unit_price": "2.50", "discount": "4", "due_on": "0001-01-03" });
    let line = create(&admin, line).await;
    // A day before the year 1 is null.
    assert_eq!(line["remind_on"], json!(null));
    let path = format!("/lines/{}", line["id"]);
    let line = admin.patch(&path, json!({ "quantity": 20 })).await.record("line");
    assert_eq!(computed(&line), json!(["50.000", "8.00", 21, true, null, "large", "Chair"]));
    let line = admin.put(&path, json!({ "discount": "", "quantity": 4 })).await.record("line");
    assert_eq!(computed(&line), json!(["10.000", null, 5, false, null, "small", "Chair"]));
    let same = admin.put(&path, json!({ "approved_by": "Ann" })).await.record("line");
    assert_eq!(computed(&same), computed(&line));
}

async fn request_cannot_set_a_computed_field(server: Lines) {
    let admin = server.admin();
    let sent = json!({ "name": "Chair", "quantity": 3, "unit_price": "2.50", "total": "99", "size": "large" });
    let line = create(&admin, sent).await;
    assert_eq!((&line["total"], &line["size"]), (&json!("7.500"), &json!("small")));
    let path = format!("/lines/{}", line["id"]);
    let changed = admin.put(&path, json!({ "total": "99", "next": "x" })).await.record("line");
    assert_eq!(changed, line);
    // A record that is sent back unchanged stays as it is.
    assert_eq!(admin.put(&path, line.clone()).await.record("line"), line);
}

async fn numbers_are_exact_up_to_the_last_digit(server: Lines) {
    let admin = server.admin();
    for (quantity, price, total) in [
        (1000, "99999999.99", "99999999990.000"),
        (-1000, "99999999.99", "-99999999990.000"),
        (0, "99999999.99", "0.000"),
        (3, "0.01", "0.030"),
        (7, "14285714.29", "100000000.030"),
    ] {
        let line = json!({ "name": "Edge", "quantity": quantity, "unit_price": price, "approved_by": "Ann" });
        assert_eq!(create(&admin, line).await["total"], total, "{quantity} * {price}");
    }
}

async fn rows_of_a_bulk_and_of_an_import_are_computed(server: Lines) {
    let admin = server.admin();
    let first = create(&admin, json!({ "name": "One", "quantity": 1, "unit_price": "1" })).await;
    let operations = json!([
        { "method": "update", "id": first["id"], "line": { "quantity": 5 } },
        { "method": "create", "line": { "name": "Two", "quantity": 2, "unit_price": "2" } },
    ]);
    admin.post("/lines/bulk", json!({ "operations": operations })).await.status(200);
    let import = uploaded(&admin, "lines", "name,quantity,unit_price\nThree,3,3\n").await;
    let import = finished(&admin, &import, "rehearse").await;
    let import = finished(&admin, &import, "run").await;
    assert_eq!(import["status"], "done", "{import}");
    let totals = admin.get("/lines?sort=id").await.column("lines", "total");
    assert_eq!(totals, ["5.000", "4.000", "9.000"]);
}

async fn hooks_and_actions_change_what_is_computed_and_not_the_result(server: Lines) {
    let admin = server.admin();
    let task = admin.post("/tasks", json!({})).await.created("task");
    assert_eq!(task["minutes"], 60);
    let path = format!("/tasks/{}", task["id"]);
    // The hook makes 14 of 13, and sets 1 as the result.
    let task = admin.put(&path, json!({ "hours": 13 })).await.record("task");
    assert_eq!((&task["hours"], &task["minutes"]), (&json!(14), &json!(840)));
    let task = admin.post(&format!("{path}/double"), json!({})).await.record("task");
    assert_eq!((&task["hours"], &task["minutes"]), (&json!(28), &json!(1680)));
}

async fn embedded_records_are_computed(server: Lines) {
    let admin = server.admin();
    let parts = json!([{ "count": 4 }, {}]);
    let order = admin.post("/orders", json!({ "name": "Chairs", "parts": parts })).await.created("order");
    let pairs = |order: &Value| -> Vec<Value> {
        order["parts"].as_array().unwrap().iter().map(|part| part["pairs"].clone()).collect()
    };
    assert_eq!(pairs(&order), [8, 2]);
    let parts = json!([{ "id": order["parts"][0]["id"], "count": 5, "pairs": 99 }, { "count": 7 }]);
    let path = format!("/orders/{}", order["id"]);
    let order = admin.put(&path, json!({ "parts": parts })).await.record("order");
    assert_eq!(pairs(&order), [10, 14]);
}

async fn lists_filter_sort_sum_and_export_computed_values(server: Lines) {
    let admin = server.admin();
    for (name, quantity, price) in [("A", 2, "10"), ("B", 20, "0.5"), ("C", 1, "30")] {
        create(&admin, json!({ "name": name, "quantity": quantity, "unit_price": price })).await;
    }
    let names = async |query: &str| admin.get(&format!("/lines?{query}")).await.column("lines", "name");
    assert_eq!(names("sort=-total").await, ["C", "A", "B"]);
    assert_eq!(names("q[total_gteq]=20&sort=total").await, ["A", "C"]);
    assert_eq!(names("q[size_eq]=large").await, ["B"]);
    let summary = admin.get("/lines/summary?sum=total&group=size").await.records("summary");
    assert_eq!(summary[0]["sum"]["total"], "10.000", "{summary:?}");
    assert_eq!(summary[1]["sum"]["total"], "50.000", "{summary:?}");
    let csv = admin.with("accept", "text/csv").get("/lines?fields=name,total,size&sort=id").await;
    assert_eq!(csv.text, "name,total,size\r\nA,20.000,small\r\nB,10.000,large\r\nC,30.000,small\r\n");
}

async fn rules_see_the_computed_value_of_the_write(server: Lines) {
    let admin = server.admin();
    let line = json!({ "name": "Chair", "quantity": 1000, "unit_price": "100.01" });
    let refused = admin.post("/lines", line).await;
    assert_eq!(refused.invalid("approved_by"), "is required when total > 100000");
    let line = create(&admin, json!({ "name": "Chair", "quantity": 1000, "unit_price": "100" })).await;
    let path = format!("/lines/{}", line["id"]);
    let refused = admin.put(&path, json!({ "unit_price": "100.01" })).await;
    assert_eq!(refused.invalid("approved_by"), "is required when total > 100000");
    assert_eq!(admin.get(&path).await.record("line")["total"], "100000.000");
}

async fn audit_entries_and_the_document_tell_of_computed_values(server: Lines) {
    let admin = server.admin();
    let line = create(&admin, json!({ "name": "Chair", "quantity": 3, "unit_price": "2.50" })).await;
    let path = format!("/lines/{}", line["id"]);
    admin.put(&path, json!({ "quantity": 4 })).await.ok();
    admin.put(&path, json!({ "name": "Stool" })).await.ok();
    let entries = admin.get("/audit_entries?q[entity_type_eq]=lines&sort=-id").await.records("audit_entries");
    let fields = |entry: &Value| entry["changes"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(fields(&entries[0]), ["name", "title"], "{entries:?}");
    assert_eq!(fields(&entries[1]), ["next", "quantity", "total"], "{entries:?}");
    let document = admin.get("/openapi.json").await.ok();
    let schemas = &document["components"]["schemas"];
    let total = &schemas["Line"]["properties"]["total"];
    assert!(total.to_string().contains("Computed: `quantity * unit_price`."), "{total}");
    let create = &schemas["LineCreate"];
    assert_eq!(create["properties"]["total"]["readOnly"], true, "{create}");
    assert_eq!(create["required"], json!(["name", "quantity", "unit_price"]));
}
