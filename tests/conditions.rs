//! Conditions over the fields of a record: `required_when` at every way to write, on both databases.

use serde_json::{Value, json};

use crate::support::{Client, on_both};
use tickets::Tickets;

on_both!(
    value_is_required_in_a_record_for_which_the_condition_holds,
    update_is_checked_with_the_stored_values,
    rows_of_a_bulk_are_checked_one_by_one,
    description_of_the_field_has_the_condition,
);

/// The service with tickets: solved ones have a day, and long ones a reason.
mod tickets {
    use charter_migrations::prelude::*;
    use charter_runtime::generated::{Decimal, Resource};
    use charter_runtime::ops::Route;
    use sea_orm::entity::prelude::DateTimeUtc;

    use crate::support::{nothing, own_fixture};

    pub mod ticket {
        use super::*;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "ticket", events)]
        pub struct Model {
            pub id: i64,
            #[field(string(80), required)]
            pub title: String,
            #[field(enumeration("open", "solved"), default = "open")]
            pub status: String,
            #[field(decimal(8, 2), default = "0")]
            pub hours: Decimal<2>,
            #[field(required_when = "status = solved")]
            pub solved_on: Option<chrono::NaiveDate>,
            #[field(string(200), required_when = "hours * 1.5 > 30 and status != open")]
            pub reason: Option<String>,
            #[field(read_only)]
            pub created_at: DateTimeUtc,
            #[field(read_only)]
            pub updated_at: DateTimeUtc,
        }
    }

    own_fixture! {
        /// The service with tickets.
        Tickets, "tickets", [Route::of::<ticket::Entity>()], nothing
    }

    #[async_trait::async_trait]
    impl MigrationTrait for Migration {
        async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            let columns = [
                id(),
                string("title", 80),
                enumeration("status").default("open"),
                decimal("hours", 8, 2).default(0),
                date("solved_on").nullable(),
                string("reason", 200).nullable(),
                timestamp("created_at"),
                timestamp("updated_at"),
            ];
            Table::on(manager, "tickets").create(columns).await
        }

        async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            Table::on(manager, "tickets").drop().await
        }
    }
}

async fn problems(client: &Client, ticket: Value) -> Value {
    client.post("/tickets", ticket).await.refused(422, "validation_failed")["errors"].clone()
}

async fn value_is_required_in_a_record_for_which_the_condition_holds(server: Tickets) {
    let admin = server.admin();
    let found = problems(&admin, json!({ "title": "Leak", "status": "solved", "hours": "20.01" })).await;
    let expected = json!({
        "solved_on": ["is required when status = solved"],
        "reason": ["is required when hours * 1.5 > 30 and status != open"],
    });
    assert_eq!(found, expected);
    let complete =
        json!({ "title": "Leak", "status": "solved", "hours": "20.01", "solved_on": "2026-11-28", "reason": "Old" });
    admin.post("/tickets", complete).await.created("ticket");
    // At the edge: 20 * 1.5 is not more than 30.
    let edge = json!({ "title": "Leak", "status": "solved", "hours": "20.00", "solved_on": "2026-11-28" });
    admin.post("/tickets", edge).await.created("ticket");
    admin.post("/tickets", json!({ "title": "Leak", "hours": "99" })).await.created("ticket");
}

async fn update_is_checked_with_the_stored_values(server: Tickets) {
    let admin = server.admin();
    let ticket = admin.post("/tickets", json!({ "title": "Leak" })).await.created("ticket");
    let path = format!("/tickets/{}", ticket["id"]);
    let refused = admin.put(&path, json!({ "status": "solved" })).await.refused(422, "validation_failed");
    assert_eq!(refused["errors"], json!({ "solved_on": ["is required when status = solved"] }));
    admin.put(&path, json!({ "solved_on": "2026-11-28" })).await.ok();
    admin.put(&path, json!({ "status": "solved" })).await.ok();
    let refused = admin.put(&path, json!({ "solved_on": "" })).await.refused(422, "validation_failed");
    assert_eq!(refused["errors"], json!({ "solved_on": ["is required when status = solved"] }));
    admin.put(&path, json!({ "solved_on": "", "status": "open" })).await.ok();
    // A text of white space is blank.
    let long = json!({ "hours": "20.01", "status": "solved", "solved_on": "2026-11-28", "reason": " \n " });
    let refused = admin.put(&path, long).await.refused(422, "validation_failed");
    let reason = "is required when hours * 1.5 > 30 and status != open";
    assert_eq!(refused["errors"], json!({ "reason": [reason] }));
    admin.put(&path, json!({ "reason": "  " })).await.ok();
    // An error of a field that the condition names comes alone.
    let refused = admin.put(&path, json!({ "status": "solvd" })).await.refused(422, "validation_failed");
    assert_eq!(refused["errors"].as_object().unwrap().keys().collect::<Vec<_>>(), ["status"]);
}

async fn rows_of_a_bulk_are_checked_one_by_one(server: Tickets) {
    let rows = [json!({ "title": "One" }), json!({ "title": "Two", "status": "solved" })];
    let operations = rows.map(|ticket| json!({ "method": "create", "ticket": ticket }));
    let refused = server.admin().post("/tickets/bulk", json!({ "operations": operations })).await;
    assert_eq!(refused.invalid("operations.1.solved_on"), "is required when status = solved");
    assert_eq!(server.admin().get("/tickets").await.ok()["meta"]["total"], 0);
}

async fn description_of_the_field_has_the_condition(server: Tickets) {
    let document = server.admin().get("/openapi.json").await.ok();
    let field = &document["components"]["schemas"]["TicketCreate"]["properties"]["solved_on"];
    assert!(field.to_string().contains("Required when `status = solved`."), "{field}");
}
