//! Arguments that a tool does not have or cannot take: each is refused, because a dropped one changes what a call does.

use serde_json::{Value, json};

use super::{call, refused, with_mcp};
use crate::support::{Client, Server, on_both};

on_both!(
    condition_without_a_value_is_refused,
    search_and_order_must_be_text,
    order_must_be_a_known_field_or_custom_field,
    action_takes_its_own_arguments_only,
    control_arguments_of_another_type_are_refused,
    filter_that_is_longer_than_a_url_is_named,
);

/// Calls that are refused, each with the argument that the error names.
async fn refuse(client: &Client, calls: impl IntoIterator<Item = (&str, Value, &str)>) {
    for (tool, arguments, field) in calls {
        let refusal = refused(client, tool, arguments.clone(), "validation_failed").await;
        assert!(refusal["errors"][field][0].is_string(), "{tool} {arguments}: {refusal}");
    }
}

async fn condition_without_a_value_is_refused(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin();
    call(&admin, "create_member", json!({ "name": "Ada", "dry_run": false })).await;
    let refusal = refused(&admin, "list_members", json!({ "q": { "id_in": [] } }), "validation_failed").await;
    assert_eq!(refusal["errors"]["q[id_in]"], json!(["must not be empty"]));
    refuse(
        &admin,
        [
            ("summarize_members", json!({ "q": { "id_in": [] } }), "q[id_in]"),
            ("list_members", json!({ "q": { "id_in": [null] } }), "q[id_in]"),
            ("list_members", json!({ "q": { "id_in": null } }), "q[id_in]"),
            ("list_members", json!({ "q": { "name_eq": "" } }), "q[name_eq]"),
        ],
    )
    .await;
}

async fn search_and_order_must_be_text(server: Server) {
    let server = with_mcp(&server).await;
    refuse(
        &server.admin(),
        [
            ("list_members", json!({ "search": ["Ada"] }), "search"),
            ("summarize_members", json!({ "search": ["Ada"] }), "search"),
            ("list_members", json!({ "sort": ["-name"] }), "sort"),
            ("list_members", json!({ "sort": {} }), "sort"),
            ("list_members", json!({ "sort": 7 }), "sort"),
            ("list_members", json!({ "sort": "" }), "sort"),
            ("list_members", json!({ "q": { "s": "nope desc" } }), "q[s]"),
            ("list_members", json!({ "q": { "s": ["nope desc"] } }), "q[s]"),
            ("list_members", json!({ "q": { "s][": "nope desc" } }), "q[s][]"),
        ],
    )
    .await;
}

async fn order_must_be_a_known_field_or_custom_field(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin();
    let power = json!({ "entity_type": "products", "name": "power", "field_type": "integer", "dry_run": false });
    call(&admin, "create_custom_field", power).await;
    for (name, watts) in [("Lamp", 5), ("Spot", 90)] {
        let product = json!({ "name": name, "custom_fields": { "power": watts }, "dry_run": false });
        call(&admin, "create_product", product).await;
    }
    let sorted = call(&admin, "list_products", json!({ "sort": "-cf.power", "fields": ["name"] })).await;
    assert_eq!(sorted["products"], json!([{ "name": "Spot" }, { "name": "Lamp" }]));
    refuse(
        &admin,
        [
            ("list_products", json!({ "sort": "-cf.weight" }), "sort"),
            ("list_products", json!({ "sort": "cf." }), "sort"),
            ("list_tax_classes", json!({ "sort": "cf.power" }), "sort"),
            ("list_products", json!({ "sort": "nope" }), "sort"),
        ],
    )
    .await;
}

async fn action_takes_its_own_arguments_only(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin();
    let activity = call(&admin, "create_activity", json!({ "subject": "Call", "dry_run": false })).await;
    let id = &activity["activity"]["id"];
    refuse(
        &admin,
        [
            ("complete_activity", json!({ "id": id, "dry_run": false, "reason": "done" }), "reason"),
            ("complete_activity", json!({ "id": id, "dry_run": false, "complete": {} }), "complete"),
            ("test_webhook", json!({ "id": 1, "dry_run": false, "if_match": "x" }), "if_match"),
            ("convert_exchange_rates", json!({ "from": "EUR", "to": "EUR", "amount": 1, "dry_run": true }), "dry_run"),
            ("convert_exchange_rates", json!({ "from": "EUR", "to": "EUR", "amount": 1, "if_match": "x" }), "if_match"),
            ("convert_exchange_rates", json!({ "from": "EUR", "to": "EUR", "amount": 1, "round": "up" }), "round"),
            ("create_member", json!({ "name": "Ada", "dry_run": false, "if_match": "x" }), "if_match"),
            ("update_activity", json!({ "id": id, "dry_run": false, "idempotency_key": "x" }), "idempotency_key"),
        ],
    )
    .await;
    assert_eq!(call(&admin, "show_activity", json!({ "id": id })).await["activity"]["completed"], false);
}

async fn control_arguments_of_another_type_are_refused(server: Server) {
    let server = with_mcp(&server).await;
    let admin = server.admin();
    let activity = call(&admin, "create_activity", json!({ "subject": "Call", "dry_run": false })).await;
    let id = &activity["activity"]["id"];
    refuse(
        &admin,
        [
            ("complete_activity", json!({ "id": id, "dry_run": false, "idempotency_key": 42 }), "idempotency_key"),
            ("complete_activity", json!({ "id": id, "dry_run": false, "if_match": ["x"] }), "if_match"),
            ("update_activity", json!({ "id": id, "dry_run": false, "if_match": 42 }), "if_match"),
            ("complete_activity", json!({ "id": id, "dry_run": 0 }), "dry_run"),
        ],
    )
    .await;
    assert_eq!(call(&admin, "show_activity", json!({ "id": id })).await["activity"]["completed"], false);
    // Clients send null for an argument that they do not use.
    let unused = json!({ "id": id, "dry_run": false, "idempotency_key": null, "if_match": null });
    assert_eq!(call(&admin, "complete_activity", unused).await["activity"]["completed"], true);
}

async fn filter_that_is_longer_than_a_url_is_named(server: Server) {
    let server = with_mcp(&server).await;
    let names: Vec<String> = (0..1_000).map(|number| format!("{number:090}")).collect();
    let long = json!({ "q": { "name_in": names } });
    refuse(&server.admin(), [("list_members", long.clone(), "q"), ("summarize_members", long, "q")]).await;
}
