//! Delivery of the specified events to a receiver.

use std::time::Duration;

use charter_runtime::webhook::SigningSecret;
use serde_json::{Value, json};

use super::{delivering, path, webhook};
use crate::support::{Receiver, Server, keys, on_both};

on_both!(
    every_event_of_the_specification_is_delivered,
    events_of_a_resource_wildcard_are_delivered,
    only_subscribed_events_are_delivered,
    refused_write_delivers_no_event,
    events_are_delivered_only_to_users_who_can_read_the_record,
);

async fn every_event_of_the_specification_is_delivered(server: Server) {
    let server = delivering(&server).await;
    let admin = server.admin();
    let receiver = Receiver::answering(200).await;
    let hook = webhook(&admin, &receiver.url(), &["*"]).await;
    let role = admin.post("/roles", json!({ "name": "Clerk" })).await.created("role");
    let user = json!({ "name": "Ada", "email": "ada@example.com" });
    let user = admin.post("/users", user).await.created("user");
    let user_path = format!("/users/{}", user["id"]);
    admin.put(&user_path, json!({ "name": "Ada L.", "role_ids": [role["id"]] })).await.record("user");
    admin.post(&format!("{user_path}/deactivate"), json!({})).await.record("user");
    admin.put(&format!("/roles/{}", role["id"]), json!({ "permissions": ["users.manage"] })).await.record("role");
    admin.put("/settings", json!({ "company_name": "Hire & Co." })).await.record("settings");
    admin.delete(&format!("/roles/{}", role["id"])).await.deleted();
    // The user with the deleted role is updated once more.
    let received = receiver.wait_for(8).await;
    let secret = SigningSecret::parse(hook["secret"].as_str().unwrap_or_default()).expect("a secret");
    let mut bodies: Vec<Value> = Vec::new();
    for sent in &received {
        assert!(secret.verify(&sent.body, sent.header("x-service-signature")));
        let body = sent.json();
        assert_eq!(keys(&body), ["data", "event", "timestamp"]);
        assert_eq!(body["event"], sent.header("x-service-event"));
        let time = body["timestamp"].as_str().unwrap_or_default();
        assert!(time.ends_with('Z') && time.contains('T'), "{time}");
        bodies.push(body);
    }
    let data = |event: &str| {
        let found = bodies.iter().find(|body| body["event"] == event);
        found.unwrap_or_else(|| panic!("{event} did not arrive: {bodies:?}"))["data"].clone()
    };
    for event in ["user.created", "user.updated", "user.deactivated"] {
        let data = data(event);
        assert_eq!(keys(&data), ["user"]);
        assert_eq!([&data["user"]["id"], &data["user"]["email"]], [&user["id"], &user["email"]], "{event}");
    }
    assert_eq!(data("user.created")["user"]["name"], "Ada");
    assert_eq!(data("user.deactivated")["user"]["is_active"], false);
    for event in ["role.created", "role.updated", "role.deleted"] {
        let data = data(event);
        assert_eq!((keys(&data), &data["role"]["name"]), (vec!["role"], &json!("Clerk")), "{event}");
    }
    assert_eq!(data("role.deleted")["role"]["permissions"], json!(["users.manage"]));
    let change = &data("settings.updated")["changes"]["company_name"];
    assert_eq!(change, &json!({ "old": null, "new": "Hire & Co." }));
}

async fn events_of_a_resource_wildcard_are_delivered(server: Server) {
    let server = delivering(&server).await;
    let admin = server.admin();
    let receiver = Receiver::answering(200).await;
    webhook(&admin, &receiver.url(), &["product.created", "product.updated", "product.deleted"]).await;
    let product = admin.post("/products", json!({ "name": "Lamp" })).await.created("product");
    receiver.wait_for(1).await;
    let path = format!("/products/{}", product["id"]);
    let updated = admin.put(&path, json!({ "sku": "L-1" })).await.record("product");
    receiver.wait_for(2).await;
    admin.delete(&path).await.deleted();
    let received = receiver.wait_for(3).await;
    let events = received.iter().map(|sent| sent.json());
    let told: Vec<Value> = events.map(|body| json!([body["event"], body["data"]["product"]])).collect();
    let expected = [("created", &product), ("updated", &updated), ("deleted", &updated)]
        .map(|(e, p)| json!([format!("product.{e}"), p]));
    assert_eq!(told, expected);
}

async fn only_subscribed_events_are_delivered(server: Server) {
    let server = delivering(&server).await;
    let admin = server.admin();
    let (some, all) = (Receiver::answering(200).await, Receiver::answering(200).await);
    let hook = webhook(&admin, &some.url(), &["role.deleted"]).await;
    webhook(&admin, &all.url(), &["*"]).await;
    let role = admin.post("/roles", json!({ "name": "Clerk" })).await.created("role");
    all.wait_for(1).await;
    admin.delete(&format!("/roles/{}", role["id"])).await.deleted();
    all.wait_for(2).await;
    let received = some.wait_for(1).await;
    assert_eq!(received[0].header("x-service-event"), "role.deleted");
    assert_eq!(some.received().len(), 1);
    assert_eq!(admin.get(&format!("{}/logs", path(&hook))).await.ok()["meta"]["page"], 1);
}

async fn refused_write_delivers_no_event(server: Server) {
    let server = delivering(&server).await;
    let admin = server.admin();
    let receiver = Receiver::answering(200).await;
    webhook(&admin, &receiver.url(), &["*"]).await;
    admin.post("/roles", json!({ "name": "" })).await.refused(422, "validation_failed");
    admin.post("/roles", json!({ "name": "Clerk" })).await.created("role");
    admin.post("/roles", json!({ "name": "Clerk" })).await.refused(422, "validation_failed");
    admin.post("/roles", json!({ "name": "Driver" })).await.created("role");
    let names: Vec<Value> =
        receiver.wait_for(2).await.iter().map(|sent| sent.json()["data"]["role"]["name"].clone()).collect();
    assert!(names.contains(&json!("Clerk")) && names.contains(&json!("Driver")), "{names:?}");
    assert_eq!(receiver.received().len(), 2);
}

/// Neither by name nor by `*`, until a role grants the permission.
async fn events_are_delivered_only_to_users_who_can_read_the_record(server: Server) {
    let server = delivering(&server).await;
    let (admin, receiver) = (server.admin(), Receiver::answering(200).await);
    let (user, client) = server.user(&[], &["*"]).await;
    // Events from before a webhook do not count as missed.
    server.state.clock.advance(Duration::from_secs(90));
    let named = json!({ "url": receiver.url(), "events": ["role.created", "settings.updated"] });
    let refused = client.post("/webhooks", named.clone()).await;
    assert_eq!(
        refused.invalid("events"),
        "contains `settings.updated`, which requires the permission `settings.manage`"
    );
    let hook = webhook(&client, &receiver.url(), &["*"]).await;
    // A change by an administrator gives the owner no more events.
    admin.put(&path(&hook), named).await.record("webhook");
    admin.put("/settings", json!({ "company_name": "Hidden" })).await.record("settings");
    admin.put(&path(&hook), json!({ "events": ["*"] })).await.record("webhook");
    admin.put("/settings", json!({ "company_name": "Secret" })).await.record("settings");
    admin.post("/roles", json!({ "name": "Clerk" })).await.created("role");
    assert_eq!(receiver.wait_for(1).await[0].header("x-service-event"), "role.created");
    let since = json!({ "since": "2020-01-01T00:00:00Z" });
    let recovered = client.post(&format!("{}/recover", path(&hook)), since).await;
    assert_eq!(recovered.record("recovery")["queued"], 0);

    let role = format!("/roles/{}", user["role_ids"][0]);
    admin.put(&role, json!({ "permissions": ["settings.manage"] })).await.record("role");
    admin.put("/settings", json!({ "company_name": "Told" })).await.record("settings");
    let received = receiver.wait_for(3).await;
    let mut events: Vec<&str> = received.iter().map(|sent| sent.header("x-service-event")).collect();
    events.sort_unstable();
    assert_eq!(events, ["role.created", "role.updated", "settings.updated"]);
    let told =
        received.iter().find(|sent| sent.header("x-service-event") == "settings.updated").map(|sent| sent.json());
    assert_eq!(told.expect("it arrived")["data"]["changes"]["company_name"]["new"], "Told");
}
