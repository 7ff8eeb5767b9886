//! Defaults that are expressions, at every way to create a record, on both databases.

use serde_json::{Value, json};

use crate::routes::imports::{finished, uploaded};
use crate::support::{Client, on_both};
use leases::Leases;

on_both!(
    new_record_has_the_defaults_of_its_other_values,
    sent_values_stay_and_updates_change_no_default,
    default_of_a_default_follows_it,
    fields_of_referred_records_are_known_unless_the_caller_cannot_see_them,
    rows_of_a_bulk_and_of_an_import_have_defaults,
    embedded_records_and_records_of_actions_have_defaults,
    hooks_see_defaults_and_computed_fields_use_them,
    value_that_breaks_a_rule_of_its_field_is_refused,
    the_document_says_the_rule,
);

/// The service with customers and their leases, which have embedded lines.
mod leases {
    use charter_migrations::prelude::*;
    use charter_runtime::Result;
    use charter_runtime::generated::{Decimal, Resource};
    use charter_runtime::ops::{Context, Draft, Route};
    use sea_orm::ActiveValue::Set;
    use sea_orm::entity::prelude::DateTimeUtc;

    use crate::support::{nothing, own_fixture};

    pub mod customer {
        use super::*;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "customer", soft_delete, read_rule = "agent_id = caller.id or caller.can(leases.all)")]
        pub struct Model {
            pub id: i64,
            #[field(string(80), required)]
            pub name: String,
            #[field(default = "14", min = "0", max = "1000")]
            pub days: i32,
            #[field(decimal(6, 2), default = "2.5", min = "0", max = "100")]
            pub rate: Decimal<2>,
            #[field(reference("user"))]
            pub agent_id: Option<i64>,
            #[field(read_only)]
            pub created_at: DateTimeUtc,
            #[field(read_only)]
            pub updated_at: DateTimeUtc,
            #[field(internal)]
            pub deleted_at: Option<DateTimeUtc>,
        }
    }

    pub mod lease {
        use super::*;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "lease", events, action(name = "extend", on = "record", creates))]
        pub struct Model {
            pub id: i64,
            #[field(reference("customer"), required)]
            #[embedded("lines", resource = "lease_line", by = "lease_id")]
            pub customer_id: i64,
            #[field(default_value = "lent_on + 28 days")]
            pub due_on: chrono::NaiveDate,
            #[field(default_value = "today")]
            pub lent_on: chrono::NaiveDate,
            #[field(default = "1", min = "1", max = "100")]
            pub quantity: i32,
            #[field(decimal(10, 2), default_value = "customer.rate * quantity", max = "5000")]
            pub price: Decimal<2>,
            #[field(string(12), default_value = "customer.name")]
            pub label: String,
            #[field(enumeration("small", "large"), default_value = "if(quantity < 10, small, large)", read_only)]
            pub size: String,
            #[field(timestamp(seconds), default_value = "now + 1 day")]
            pub starts_at: DateTimeUtc,
            #[field(reference("user"), default_value = "coalesce(customer.agent_id, caller.id)")]
            pub agent_id: Option<i64>,
            #[field(boolean, value = "price > 100")]
            pub is_dear: bool,
            #[field(text)]
            pub seen: Option<String>,
            #[field(read_only)]
            pub created_at: DateTimeUtc,
            #[field(read_only)]
            pub updated_at: DateTimeUtc,
        }

        pub fn route() -> Route {
            charter_runtime::route!(Entity, Behaviour, hooks(before_save), actions(record_created extend))
        }

        trait Behaviour {
            fn before_save(context: &Context<'_>, draft: &mut Draft<Entity>)
            -> impl Future<Output = Result<()>> + Send;
            fn extend(
                context: &Context<'_>,
                record: &Model,
                draft: &mut Draft<Entity>,
            ) -> impl Future<Output = Result<()>> + Send;
        }

        impl Behaviour for Entity {
            async fn before_save(_: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
                if draft.before.is_none() {
                    draft.model.seen = Set(draft.model.label.try_as_ref().cloned());
                }
                Ok(())
            }

            async fn extend(_: &Context<'_>, record: &Model, draft: &mut Draft<Entity>) -> Result<()> {
                draft.model.customer_id = Set(record.customer_id);
                draft.model.lent_on = Set(record.due_on);
                Ok(())
            }
        }
    }

    pub mod lease_line {
        use super::*;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "lease_line", operations())]
        pub struct Model {
            pub id: i64,
            #[field(reference("lease"), required)]
            pub lease_id: i64,
            #[field(required, min = "0", max = "100")]
            pub count: i32,
            #[field(default_value = "count * 2")]
            pub legs: i32,
            #[field(read_only)]
            pub created_at: DateTimeUtc,
            #[field(read_only)]
            pub updated_at: DateTimeUtc,
        }
    }

    own_fixture! {
        /// The service with the leases.
        Leases, "leases",
        [Route::of::<customer::Entity>(), lease::route(), Route::of::<lease_line::Entity>()], nothing
    }

    #[async_trait::async_trait]
    impl MigrationTrait for Migration {
        async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            let times = || [timestamp("created_at"), timestamp("updated_at")];
            let customers = [
                id(),
                string("name", 80),
                integer("days").default(14),
                decimal("rate", 6, 2).default("2.5"),
                reference("agent_id", "users").nullable(),
                timestamp("deleted_at").nullable(),
            ];
            Table::on(manager, "customers").create(customers.into_iter().chain(times()).collect::<Vec<_>>()).await?;
            let leases = [
                id(),
                reference("customer_id", "customers"),
                date("due_on"),
                date("lent_on"),
                integer("quantity").default(1),
                decimal("price", 10, 2),
                string("label", 12),
                enumeration("size"),
                timestamp("starts_at"),
                reference("agent_id", "users").nullable(),
                boolean("is_dear"),
                text("seen").nullable(),
            ];
            Table::on(manager, "leases").create(leases.into_iter().chain(times()).collect::<Vec<_>>()).await?;
            let lines = [id(), reference("lease_id", "leases").cascade(), integer("count"), integer("legs")];
            Table::on(manager, "lease_lines").create(lines.into_iter().chain(times()).collect::<Vec<_>>()).await
        }

        async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            for table in ["lease_lines", "leases", "customers"] {
                Table::on(manager, table).drop().await?;
            }
            Ok(())
        }
    }
}

async fn customer(client: &Client, fields: Value) -> Value {
    let customer = client.post("/customers", fields).await.created("customer");
    customer["id"].clone()
}

async fn lease(client: &Client, fields: Value) -> Value {
    client.post("/leases", fields).await.created("lease")
}

/// The days from one date of a record to another.
fn days(record: &Value, from: &str, to: &str) -> i64 {
    let day = |name: &str| record[name].as_str().and_then(|day| day.parse::<chrono::NaiveDate>().ok()).expect("a date");
    (day(to) - day(from)).num_days()
}

async fn new_record_has_the_defaults_of_its_other_values(server: Leases) {
    let admin = server.admin();
    let customer = customer(&admin, json!({ "name": "Ann", "rate": "12.50" })).await;
    let lease = json!({ "customer_id": customer, "lent_on": "2026-03-01", "quantity": 3 });
    let lease = self::lease(&admin, lease).await;
    let found = ["due_on", "price", "label", "size"].map(|name| lease[name].clone());
    assert_eq!(Value::from(found.to_vec()), json!(["2026-03-29", "37.50", "Ann", "small"]));
    let (user, staff) = server.user(&["leases.all"], &["leases:write", "leases:read", "customers:read"]).await;
    let theirs = self::lease(&staff, json!({ "customer_id": customer })).await;
    assert_eq!(theirs["agent_id"], user["id"]);
    let starts: chrono::DateTime<chrono::Utc> = lease["starts_at"].as_str().unwrap().parse().unwrap();
    let created: chrono::DateTime<chrono::Utc> = lease["created_at"].as_str().unwrap().parse().unwrap();
    assert_eq!((starts - created).num_hours(), 24);
    assert_eq!(admin.get(&format!("/leases/{}", lease["id"])).await.record("lease"), lease);
}

async fn sent_values_stay_and_updates_change_no_default(server: Leases) {
    let admin = server.admin();
    let customer = customer(&admin, json!({ "name": "Ann" })).await;
    let sent = json!({ "customer_id": customer, "lent_on": "2026-03-01", "due_on": "2026-03-02", "price": "1", "size": "large" });
    let lease = lease(&admin, sent).await;
    assert_eq!((&lease["due_on"], &lease["price"]), (&json!("2026-03-02"), &json!("1.00")));
    assert_eq!(lease["size"], "small", "clients do not write a read-only field");
    let path = format!("/leases/{}", lease["id"]);
    let moved = admin.patch(&path, json!({ "lent_on": "2026-06-01", "quantity": 50 })).await.record("lease");
    for name in ["due_on", "price", "size", "label", "starts_at"] {
        assert_eq!(moved[name], lease[name], "{name}");
    }
    let refused = admin.patch(&path, json!({ "due_on": "" })).await;
    assert_eq!(refused.invalid("due_on"), "must not be blank");
}

async fn default_of_a_default_follows_it(server: Leases) {
    let admin = server.admin();
    let customer = customer(&admin, json!({ "name": "Ann" })).await;
    let lease = lease(&admin, json!({ "customer_id": customer })).await;
    assert_eq!(days(&lease, "lent_on", "due_on"), 28);
}

async fn fields_of_referred_records_are_known_unless_the_caller_cannot_see_them(server: Leases) {
    let admin = server.admin();
    let secret = customer(&admin, json!({ "name": "Secret", "rate": "99" })).await;
    let gone = customer(&admin, json!({ "name": "Gone" })).await;
    admin.delete(&format!("/customers/{gone}")).await.deleted();
    let (_, staff) = server.user(&[], &["leases:read", "leases:write", "customers:read"]).await;
    for id in [secret, gone] {
        let refused = staff.post("/leases", json!({ "customer_id": id })).await.refused(422, "validation_failed");
        let text = refused.to_string();
        assert!(text.contains("does not refer to an existing customer"), "{text}");
        assert!(!text.contains("99") && !text.contains("Secret"), "{text}");
    }
    // A field with an error gives no default.
    assert_eq!(admin.post("/leases", json!({ "customer_id": "x" })).await.invalid_fields(), ["customer_id"]);
}

async fn rows_of_a_bulk_and_of_an_import_have_defaults(server: Leases) {
    let admin = server.admin();
    let customer = customer(&admin, json!({ "name": "Ann" })).await;
    let operations = json!([
        { "method": "create", "lease": { "customer_id": customer, "lent_on": "2026-01-01" } },
        { "method": "create", "lease": { "customer_id": customer, "lent_on": "2026-02-01", "due_on": "2026-02-02" } },
    ]);
    admin.post("/leases/bulk", json!({ "operations": operations })).await.ok();
    let rows = format!("customer_id,lent_on,quantity\n{customer},2026-03-01,20\n");
    let import = uploaded(&admin, "leases", &rows).await;
    let import = finished(&admin, &import, "rehearse").await;
    let import = finished(&admin, &import, "run").await;
    assert_eq!(import["status"], "done", "{import}");
    let list = admin.get("/leases?sort=id").await;
    assert_eq!(list.column("leases", "due_on"), ["2026-01-29", "2026-02-02", "2026-03-29"]);
    assert_eq!(list.column("leases", "size"), ["small", "small", "large"]);
}

async fn embedded_records_and_records_of_actions_have_defaults(server: Leases) {
    let admin = server.admin();
    let customer = customer(&admin, json!({ "name": "Ann" })).await;
    let lines = json!([{ "count": 4 }, { "count": 4, "legs": 3 }]);
    let first = json!({ "customer_id": customer, "lent_on": "2026-03-01", "lines": lines });
    let first = lease(&admin, first).await;
    let legs = |record: &Value| -> Vec<Value> {
        record["lines"].as_array().unwrap().iter().map(|line| line["legs"].clone()).collect()
    };
    assert_eq!(legs(&first), [8, 3]);
    let path = format!("/leases/{}", first["id"]);
    let kept = json!({ "id": first["lines"][0]["id"], "count": 5 });
    let changed = admin.patch(&path, json!({ "lines": [kept, { "count": 6 }] })).await.record("lease");
    assert_eq!(legs(&changed), [8, 12], "an existing record keeps its value");
    let next = admin.post(&format!("{path}/extend"), json!({})).await.created("lease");
    assert_eq!((&next["lent_on"], &next["due_on"]), (&json!("2026-03-29"), &json!("2026-04-26")));
}

async fn hooks_see_defaults_and_computed_fields_use_them(server: Leases) {
    let admin = server.admin();
    let customer = customer(&admin, json!({ "name": "Ann", "rate": "60" })).await;
    let lease = lease(&admin, json!({ "customer_id": customer, "quantity": 2 })).await;
    assert_eq!((&lease["seen"], &lease["is_dear"]), (&json!("Ann"), &json!(true)));
}

async fn value_that_breaks_a_rule_of_its_field_is_refused(server: Leases) {
    let admin = server.admin();
    let customer = customer(&admin, json!({ "name": "A long name of a customer", "rate": "100" })).await;
    let lease = json!({ "customer_id": customer, "quantity": 60, "lent_on": "9999-12-20" });
    let refused = admin.post("/leases", lease).await.refused(422, "validation_failed");
    assert_eq!(
        refused["errors"],
        json!({
            "label": ["must have at most 12 characters"],
            "price": ["must be at most 5000"],
            "due_on": ["is required, because its default lent_on + 28 days has no value"],
        })
    );
}

async fn the_document_says_the_rule(server: Leases) {
    let document = server.admin().get("/openapi.json").await.ok();
    let create = &document["components"]["schemas"]["LeaseCreate"];
    assert_eq!(create["required"], json!(["customer_id"]), "{create}");
    let due_on = &create["properties"]["due_on"];
    assert!(due_on.to_string().contains("If it is left out: `lent_on + 28 days`."), "{due_on}");
    assert!(due_on["default"].is_null(), "{due_on}");
}
