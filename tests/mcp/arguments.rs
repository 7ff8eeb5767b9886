//! Arguments that a tool does not have or cannot take: each is refused, because a dropped one changes what a call does.

use serde_json::{Value, json};

use super::{call, refused, tools, with_mcp};
use crate::many_to_many::fixture::Articles;
use crate::many_to_many::{labels, made};
use crate::support::{Client, Server, on_both};

on_both!(
    condition_without_a_value_is_refused,
    search_and_order_must_be_text,
    order_must_be_a_known_field_or_custom_field,
    action_takes_its_own_arguments_only,
    control_arguments_of_another_type_are_refused,
    filter_that_is_longer_than_a_url_is_named,
    conditions_on_the_records_of_a_relation_are_an_object,
    relations_of_filters_are_those_that_the_caller_may_read,
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

async fn conditions_on_the_records_of_a_relation_are_an_object(server: Articles) {
    let admin = server.admin();
    let ids = labels(&admin, &["one", "two"]).await;
    for (title, labels) in [("A", json!(ids)), ("B", json!([ids[1]])), ("C", json!([]))] {
        let lines = json!([{ "quantity": 3, "price": "9.00" }, { "quantity": 1, "price": "2.00" }]);
        let lines = if title == "A" { lines } else { json!([]) };
        made(&admin, "article", json!({ "title": title, "label_ids": labels, "lines": lines })).await;
    }
    for (q, expected) in [
        (json!({ "labels.name_eq": "two" }), "AB"),
        (json!({ "labels.some": { "name_eq": "two", "id_in": ids } }), "AB"),
        (json!({ "labels.some": { "name_eq": "one", "id_in": [ids[1]] } }), ""),
        (json!({ "labels.none": { "name_eq": "one" } }), "BC"),
        (json!({ "labels.none": { "name_eq": "one" }, "labels.some": { "name_eq": "two" }, "title_eq": "B" }), "B"),
        (json!({ "lines.some": { "quantity_gt": 2, "price_lt": 5 } }), ""),
        (json!({ "lines.some": { "quantity_gt": 2, "price_gt": 5 } }), "A"),
    ] {
        let found = call(&admin, "list_articles", json!({ "q": q, "sort": "id" })).await;
        let titles =
            found["articles"].as_array().expect("a list").iter().map(|one| one["title"].as_str().expect("a text"));
        assert_eq!(titles.collect::<String>(), expected, "{q}");
        let counted = call(&admin, "summarize_articles", json!({ "q": q })).await;
        assert_eq!(counted["summary"][0]["count"], expected.len(), "{counted}");
    }
    let q = |conditions: Value| json!({ "q": conditions });
    refuse(
        &admin,
        [
            ("list_articles", q(json!({ "labels.some": {} })), "q[labels.some]"),
            ("list_articles", q(json!({ "labels.some": { "name_eq": null } })), "q[labels.some][name_eq]"),
            ("list_articles", q(json!({ "labels.some": { "name_in": [] } })), "q[labels.some][name_in]"),
            ("list_articles", q(json!({ "labels.some": { "name_eq": { "x": 1 } } })), "q[labels.some][name_eq]"),
            ("list_articles", q(json!({ "labels.some": { "name][x": "one" } })), "q[labels.some][name][x]"),
            ("list_articles", q(json!({ "labels.some][x": { "name_eq": "one" } })), "q[labels.some][x]"),
            ("list_articles", q(json!({ "labels.some": { "nme_eq": "one" } })), "q[labels.some][nme_eq]"),
            ("list_articles", q(json!({ "lables.some": { "name_eq": "one" } })), "q[lables.some]"),
            ("list_articles", q(json!({ "title_eq": { "name_eq": "one" } })), "q[title_eq]"),
            ("summarize_articles", q(json!({ "labels.some": {} })), "q[labels.some]"),
        ],
    )
    .await;
}

async fn relations_of_filters_are_those_that_the_caller_may_read(server: Articles) {
    let described = async |abilities: &[&str]| {
        let tools = tools(&server.able(abilities).await).await;
        let list = tools.iter().find(|tool| tool["name"] == "list_articles").expect("a tool");
        list["inputSchema"]["properties"]["q"]["description"].as_str().expect("a text").to_string()
    };
    let all = described(&["*"]).await;
    assert!(all.ends_with("; of one of lines, labels, topics, remarks: lines.some (or none): {conditions}"), "{all}");
    let few = described(&["articles:read", "topics:read"]).await;
    assert!(few.ends_with("; of one of lines, topics: lines.some (or none): {conditions}"), "{few}");
}
