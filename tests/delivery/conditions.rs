//! Conditions of webhooks: `when` is checked when a webhook is written, and evaluated when an event is fanned out and before
//! each attempt.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Receiver, count, deliver};
use crate::support::{Client, Gadgets, Server, on_both};

on_both!(
    webhook_gets_only_the_events_whose_record_meets_its_condition,
    updated_record_counts_as_it_is_after_the_change,
    invalid_condition_is_refused_with_its_place,
    condition_must_be_valid_for_the_resource_of_each_event,
    event_of_a_large_record_is_sent_without_its_condition,
    recovery_queues_only_events_that_meet_the_condition,
    conditions_that_are_no_longer_valid_deliver_nothing,
    deliveries_of_an_invalid_condition_fail_until_it_is_corrected,
    deliveries_wait_for_a_server_that_knows_the_field_of_a_condition,
    webhook_is_disabled_when_its_condition_was_invalid_for_72_hours,
    corrected_condition_applies_to_pending_deliveries,
    condition_names_only_fields_that_its_user_may_read,
);

fn hook(events: &[&str], when: &str) -> Value {
    json!({ "url": "https://receiver.example/", "events": events, "when": when })
}

async fn subscribed(client: &Client, events: &[&str], when: &str) -> Value {
    client.post("/webhooks", hook(events, when)).await.created("webhook")
}

async fn product(client: &Client, name: &str, weight: &str) -> String {
    let product = json!({ "name": name, "weight": weight });
    format!("/products/{}", client.post("/products", product).await.created("product")["id"])
}

/// The names of the records that one round of deliveries sends, each with its event.
async fn sent(server: &Server) -> Vec<String> {
    let receiver = Receiver::answering(204);
    deliver(server, &receiver).await;
    let name = |body: &str| {
        let body: Value = serde_json::from_str(body).expect("JSON");
        let record = body["data"].as_object().and_then(|data| data.values().next()).expect("a record").clone();
        format!("{} {}", body["event"].as_str().unwrap_or_default(), record["name"].as_str().unwrap_or("-"))
    };
    let mut names: Vec<String> = receiver.take().iter().map(|attempt| name(&attempt.body)).collect();
    names.sort();
    names
}

async fn webhook_gets_only_the_events_whose_record_meets_its_condition(server: Server) {
    let admin = server.admin();
    let when = "weight >= 10.5 and product_type = rental and (sku is null or starts_with(sku, 'A'))";
    let webhook = subscribed(&admin, &["product.created", "product.deleted"], when).await;
    assert_eq!(webhook["when"], when);
    subscribed(&admin, &["product.deleted"], "created_at > updated_at - 1 day and stock_method = 1").await;
    product(&admin, "Light", "10.4999").await;
    let heavy = product(&admin, "Heavy", "10.5").await;
    let sold = json!({ "name": "Sold", "weight": "99", "product_type": "sale" });
    admin.post("/products", sold).await.created("product");
    for sku in ["A1", "B1"] {
        let product = json!({ "name": sku, "weight": "99", "sku": sku });
        admin.post("/products", product).await.created("product");
    }
    assert_eq!(sent(&server).await, ["product.created A1", "product.created Heavy"]);
    admin.delete(&heavy).await.deleted();
    assert_eq!(sent(&server).await, ["product.deleted Heavy"; 2]);
    assert_eq!(count(&server, "events WHERE fanned_out_at IS NULL").await, 0);
}

async fn updated_record_counts_as_it_is_after_the_change(server: Server) {
    let admin = server.admin();
    subscribed(&admin, &["product.updated"], "weight > 10").await;
    let path = product(&admin, "Lamp", "1").await;
    for (weight, expected) in [("11", 1), ("12", 1), ("9", 0), ("8", 0), ("10.0001", 1)] {
        admin.put(&path, json!({ "weight": weight })).await.ok();
        assert_eq!(sent(&server).await.len(), expected, "{weight}");
    }
}

async fn invalid_condition_is_refused_with_its_place(server: Server) {
    let admin = server.admin();
    for (when, expected) in [
        ("wieght > 1", "is not valid for product at character 1: there is no field `wieght`; did you mean `weight`?"),
        ("name = 'ä' and weight", "is not valid for product at character 16: this is a number"),
        ("product_type = rentl", "is not valid for product at character 16: "),
        ("weight >", "is not valid for product at character "),
        ("caller.id = 1", "is not valid for product at character 1: `caller` is not known here"),
        ("created_at < now", "is not valid for product at character 14: `now` is not known here"),
        ("product_group.name = 'x'", "is not valid for product at character 1: fields of other records"),
        ("deleted_at is null", "is not valid for product at character 1: there is no field"),
        ("name = 'x\u{1F600}", "is not valid for product at character "),
        ("'", "is not valid for product at character "),
    ] {
        let refused = admin.post("/webhooks", hook(&["product.created"], when)).await;
        let message = refused.invalid("when");
        assert!(message.starts_with(expected), "{when}: {message}");
    }
    let deep = format!("{}weight > 1{}", "(".repeat(40), ")".repeat(40));
    let many = (0..60).map(|n| format!("id > {n}")).collect::<Vec<_>>().join(" or ");
    for when in [deep, many] {
        let refused = admin.post("/webhooks", hook(&["product.created"], &when)).await;
        assert!(refused.invalid("when").starts_with("is not valid for product at character "), "{}", refused.text);
    }
    let long = format!("name = '{}'", "x".repeat(1000));
    let refused = admin.post("/webhooks", hook(&["product.created"], &long)).await;
    assert_eq!(refused.invalid("when"), "must have at most 1000 characters");
    assert_eq!(admin.get("/webhooks").await.ok()["meta"]["total"], 0);
    // An empty text is no condition.
    let webhook = subscribed(&admin, &["product.created"], "").await;
    assert_eq!(webhook["when"], Value::Null);
}

async fn condition_must_be_valid_for_the_resource_of_each_event(server: Server) {
    let admin = server.admin();
    let refused = admin.post("/webhooks", hook(&["product.created", "role.created"], "weight > 1")).await;
    assert!(refused.invalid("when").starts_with("is not valid for role at character 1: "), "{}", refused.text);
    let refused = admin.post("/webhooks", hook(&["*"], "weight > 1")).await;
    assert!(refused.invalid("when").starts_with("is not valid for "), "{}", refused.text);
    let refused = admin.post("/webhooks", hook(&["settings.updated"], "id = 1")).await;
    assert_eq!(refused.invalid("when"), "cannot be checked for settings, whose events have no record");
    let webhook = subscribed(&admin, &["product.created", "role.created"], "name = 'Both'").await;
    let path = format!("/webhooks/{}", webhook["id"]);
    // Other events are checked against the stored condition.
    let refused = admin.put(&path, json!({ "events": ["settings.updated"] })).await;
    assert_eq!(refused.invalid("when"), "cannot be checked for settings, whose events have no record");
    product(&admin, "Both", "1").await;
    for name in ["Both", "Neither"] {
        admin.post("/roles", json!({ "name": name })).await.created("role");
    }
    assert_eq!(sent(&server).await, ["product.created Both", "role.created Both"]);
    admin.put(&path, json!({ "when": "name = 'Neither'" })).await.ok();
    product(&admin, "Both", "1").await;
    product(&admin, "Neither", "1").await;
    assert_eq!(sent(&server).await, ["product.created Neither"]);
    let changes = admin.get("/audit_entries?q[entity_type_eq]=webhooks&sort=-id").await.records("audit_entries");
    assert_eq!(changes[0]["changes"]["when"]["new"], "name = 'Neither'", "{changes:?}");
    admin.put(&path, json!({ "when": "", "events": ["*"] })).await.ok();
    product(&admin, "Any", "1").await;
    assert!(sent(&server).await.contains(&"product.created Any".to_string()));
}

async fn event_of_a_large_record_is_sent_without_its_condition(server: Server) {
    let admin = server.admin();
    subscribed(&admin, &["product.created"], "weight > 10").await;
    let large = json!({ "name": "Large", "weight": "1", "description": "x".repeat(300_000) });
    admin.post("/products", large).await.created("product");
    product(&admin, "Small", "1").await;
    assert_eq!(sent(&server).await, ["product.created -"]);
}

async fn recovery_queues_only_events_that_meet_the_condition(server: Server) {
    let admin = server.admin();
    let webhook = subscribed(&admin, &["product.created"], "weight > 10").await;
    let path = format!("/webhooks/{}", webhook["id"]);
    product(&admin, "Failed", "11").await;
    product(&admin, "Light", "1").await;
    deliver(&server, &Receiver::answering(410)).await;
    admin.put(&path, json!({ "is_active": false })).await.ok();
    product(&admin, "Missed", "11").await;
    product(&admin, "Lighter", "1").await;
    deliver(&server, &Receiver::answering(204)).await;
    admin.put(&path, json!({ "is_active": true })).await.ok();
    let since = json!({ "since": webhook["created_at"] });
    let recovered = admin.post(&format!("{path}/recover"), since).await.ok();
    assert_eq!(recovered["recovery"]["queued"], 2, "{recovered}");
    assert_eq!(sent(&server).await, ["product.created Failed", "product.created Missed"]);
}

/// Sets the condition without its check, as an upgrade of the application that removes the field of it does.
async fn set_condition(server: &Server, when: &str) {
    server.sql(&format!("UPDATE webhooks SET \"when\" = '{when}'")).await;
}

async fn statuses(server: &Server) -> Vec<String> {
    server.texts("SELECT status AS text FROM webhook_deliveries ORDER BY event_id").await
}

async fn deliveries_of_an_invalid_condition_fail_until_it_is_corrected(server: Server) {
    let admin = server.admin();
    let webhook = subscribed(&admin, &["product.created"], "weight > 10").await;
    let path = format!("/webhooks/{}", webhook["id"]);
    set_condition(&server, "wait > 10").await;
    product(&admin, "Heavy", "11").await;
    product(&admin, "Light", "9").await;
    assert_eq!(sent(&server).await, Vec::<String>::new());
    let shown = admin.get(&path).await.record("webhook");
    assert_eq!((&shown["is_active"], &shown["disabled_reason"]), (&json!(true), &Value::Null));
    assert!(shown["failing_since"].is_string(), "{shown}");
    let logs = admin.get(&format!("{path}/logs")).await.records("logs");
    let reason = "`when` is not valid for product at character 1: there is no field `wait`";
    assert!(logs.len() == 2 && logs[0]["error"].as_str().is_some_and(|error| error.starts_with(reason)), "{logs:?}");
    // The same condition is not accepted again, and the correction ends the streak of failures.
    let refused = admin.put(&path, json!({ "events": ["product.created", "product.updated"] })).await;
    assert!(refused.invalid("when").contains("there is no field `wait`"), "{}", refused.text);
    let corrected = admin.put(&path, json!({ "when": "weight > 10" })).await.record("webhook");
    assert_eq!(corrected["failing_since"], Value::Null);
    server.state.clock.advance(Duration::from_secs(60));
    assert_eq!(sent(&server).await, ["product.created Heavy"]);
    assert_eq!(statuses(&server).await, ["delivered", "cancelled"]);
}

async fn conditions_that_are_no_longer_valid_deliver_nothing(server: Server) {
    let admin = server.admin();
    let webhook = subscribed(&admin, &["product.created"], "weight > 10").await;
    let logs = format!("/webhooks/{}/logs", webhook["id"]);
    // As after an upgrade of the application that removes the field, gives it another type, or changes the language.
    for (stored, problem) in [
        ("wait > 10", "there is no field `wait`"),
        ("name > 10", "a text is compared with a number"),
        ("weight >", "is not valid for product at character "),
        ("weight ? 10", "is not valid for product at character "),
        ("caller.id = 1", "`caller` is not known here"),
    ] {
        set_condition(&server, stored).await;
        product(&admin, "Heavy", "11").await;
        assert_eq!(sent(&server).await, Vec::<String>::new(), "{stored}");
        let logs = admin.get(&logs).await.records("logs");
        let newest = logs.iter().max_by_key(|log| log["id"].as_i64()).expect("a log");
        assert!(newest["error"].as_str().is_some_and(|error| error.contains(problem)), "{stored}: {newest}");
    }
}

async fn deliveries_wait_for_a_server_that_knows_the_field_of_a_condition(server: Server) {
    let admin = server.admin();
    subscribed(&admin, &["product.created"], "weight > 10").await;
    // This server is one of the former version, and the next one to which the retry belongs knows the field.
    set_condition(&server, "mass > 10").await;
    product(&admin, "Heavy", "11").await;
    assert_eq!(sent(&server).await, Vec::<String>::new());
    assert_eq!(count(&server, "webhooks WHERE is_active AND \"when\" = 'mass > 10'").await, 1);
    assert_eq!(statuses(&server).await, ["pending"]);
    set_condition(&server, "weight > 10").await;
    server.state.clock.advance(Duration::from_secs(60));
    assert_eq!(sent(&server).await, ["product.created Heavy"]);
}

async fn webhook_is_disabled_when_its_condition_was_invalid_for_72_hours(server: Server) {
    let admin = server.admin();
    let webhook = subscribed(&admin, &["product.created"], "weight > 10").await;
    let path = format!("/webhooks/{}", webhook["id"]);
    set_condition(&server, "wait > 10").await;
    // Less than a day, because a gap of more than 24 hours ends the streak.
    for _ in 0..4 {
        product(&admin, "Heavy", "11").await;
        assert_eq!(sent(&server).await, Vec::<String>::new());
        assert_eq!(admin.get(&path).await.record("webhook")["is_active"], true);
        server.state.clock.advance(Duration::from_secs(23 * 3600));
    }
    product(&admin, "Heavy", "11").await;
    assert_eq!(sent(&server).await, Vec::<String>::new());
    let shown = admin.get(&path).await.record("webhook");
    assert_eq!((&shown["is_active"], &shown["disabled_reason"]), (&json!(false), &json!("condition")));
    assert_eq!(shown["when"], "wait > 10");
    // Other changes are possible, and enabling is not.
    admin.put(&path, json!({ "url": "https://other.example/" })).await.ok();
    let refused = admin.put(&path, json!({ "is_active": true })).await;
    assert!(refused.invalid("when").contains("there is no field `wait`"), "{}", refused.text);
    admin.put(&path, json!({ "is_active": true, "when": "weight > 10" })).await.ok();
    let since = json!({ "since": webhook["created_at"] });
    admin.post(&format!("{path}/recover"), since).await.ok();
    assert_eq!(sent(&server).await, ["product.created Heavy"; 5]);
}

async fn corrected_condition_applies_to_pending_deliveries(server: Server) {
    let admin = server.admin();
    let webhook = subscribed(&admin, &["product.created"], "weight > 10").await;
    for (name, weight) in [("Heavy", "20"), ("Light", "11")] {
        product(&admin, name, weight).await;
    }
    deliver(&server, &Receiver::answering(500)).await;
    admin.put(&format!("/webhooks/{}", webhook["id"]), json!({ "when": "weight > 15" })).await.ok();
    server.state.clock.advance(Duration::from_secs(60));
    assert_eq!(sent(&server).await, ["product.created Heavy"]);
    assert_eq!(statuses(&server).await, ["delivered", "cancelled"]);
}

async fn condition_names_only_fields_that_its_user_may_read(server: Gadgets) {
    let (user, plain) = server.user(&[], &["*"]).await;
    let (_, trusted) = server.user(&["costs.view", "costs.manage"], &["*"]).await;
    let refused = plain.post("/webhooks", hook(&["gadget.created"], "cost > 1")).await;
    assert!(refused.invalid("when").starts_with("is not valid for gadget at character 1: there is no field `cost`"));
    subscribed(&trusted, &["gadget.created"], "cost > 1").await;
    let webhook = subscribed(&plain, &["gadget.created"], "id > 0").await;
    // An administrator changes it. Its user has no right to the field, so that it would tell of it.
    let path = format!("/webhooks/{}", webhook["id"]);
    server.admin().put(&path, json!({ "when": "cost > 1" })).await.ok();
    for cost in [1, 2] {
        server.admin().post("/gadgets", json!({ "name": "Any", "cost": cost })).await.created("gadget");
    }
    assert_eq!(sent(&server).await, ["gadget.created Any"]);
    let logs = plain.get(&format!("{path}/logs")).await.records("logs");
    let reason = "`when` is not valid for gadget at character 1: there is no field `cost`";
    assert!(
        logs.len() == 2 && logs[0]["error"].as_str().is_some_and(|error| error.starts_with(reason)),
        "{logs:?} of {user}"
    );
}
