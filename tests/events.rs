//! Events in the outbox: names and data.

use charter_runtime::ops::Context;
use charter_runtime::ops::Transaction;
use charter_runtime::principal::Principal;
use serde_json::{Value, json};

use crate::support::{Server, keys, on_both};

on_both!(
    event_catalog_contains_every_event,
    user_create_update_and_deactivate_emit_events,
    deactivating_a_user_twice_emits_one_event,
    update_that_deactivates_a_user_emits_both_events,
    settings_updated_event_contains_the_changed_keys_with_old_and_new_values,
    role_create_update_and_delete_emit_events,
    deleting_a_role_emits_updates_of_its_users,
    rolled_back_write_emits_no_event,
);

fn names(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["event"].as_str().expect("an event has a name")).collect()
}

async fn event_catalog_contains_every_event(server: Server) {
    let known = server.state.catalog.events();
    let named = ["user.created", "user.updated", "user.deactivated", "settings.updated"];
    for name in named.into_iter().chain(["role.created", "role.updated", "role.deleted"]) {
        assert!(known.iter().any(|event| event == name), "{name}");
    }
    for other in ["settings.created", "settings.deleted", "token.created", "currency.created"] {
        assert!(!known.iter().any(|event| event == other), "{other}");
    }
}

async fn user_create_update_and_deactivate_emit_events(server: Server) {
    let admin = server.admin();
    let before = server.event_bodies(0).await.len();
    let created = admin.post("/users", json!({ "name": "Ada", "email": "ada@example.com" })).await.created("user");
    let path = format!("/users/{}", created["id"]);
    let updated = admin.put(&path, json!({ "name": "Ada L." })).await.record("user");
    let stopped = admin.post(&format!("{path}/deactivate"), json!({})).await.record("user");
    let events = server.event_bodies(before).await;
    assert_eq!(names(&events), ["user.created", "user.updated", "user.deactivated"]);
    for (event, user) in events.iter().zip([created, updated, stopped]) {
        assert_eq!(keys(event), ["data", "event", "timestamp"]);
        assert_eq!(event["data"], json!({ "user": user }));
    }
}

async fn deactivating_a_user_twice_emits_one_event(server: Server) {
    let (user, _) = server.user(&[], &["*"]).await;
    let path = format!("/users/{}/deactivate", user["id"]);
    let before = server.event_bodies(0).await.len();
    server.admin().post(&path, json!({})).await.ok();
    server.admin().post(&path, json!({})).await.ok();
    assert_eq!(names(&server.event_bodies(before).await), ["user.deactivated"]);
}

async fn update_that_deactivates_a_user_emits_both_events(server: Server) {
    let (user, _) = server.user(&[], &["*"]).await;
    let path = format!("/users/{}", user["id"]);
    let before = server.event_bodies(0).await.len();
    server.admin().put(&path, json!({ "is_active": false })).await.ok();
    server.admin().put(&path, json!({ "is_active": true })).await.ok();
    assert_eq!(names(&server.event_bodies(before).await), ["user.updated", "user.deactivated", "user.updated"]);
}

async fn settings_updated_event_contains_the_changed_keys_with_old_and_new_values(server: Server) {
    let admin = server.admin();
    let before = server.event_bodies(0).await.len();
    admin.put("/settings", json!({ "company_name": "Hire", "base_currency": "EUR", "timezone": "UTC" })).await.ok();
    admin.put("/settings", json!({ "company_name": "Hire" })).await.ok();
    let events = server.event_bodies(before).await;
    assert_eq!(names(&events), ["settings.updated"]);
    let changes = json!({
        "company_name": { "old": null, "new": "Hire" },
        "base_currency": { "old": "GBP", "new": "EUR" },
    });
    assert_eq!(events[0]["data"], json!({ "changes": changes }));
}

async fn role_create_update_and_delete_emit_events(server: Server) {
    let admin = server.admin();
    let before = server.event_bodies(0).await.len();
    let created = admin.post("/roles", json!({ "name": "Crew" })).await.created("role");
    let path = format!("/roles/{}", created["id"]);
    let renamed = admin.put(&path, json!({ "name": "Stage crew" })).await.record("role");
    let permitted = admin.put(&path, json!({ "permissions": ["settings.manage"] })).await.record("role");
    admin.delete(&path).await.deleted();
    let events = server.event_bodies(before).await;
    assert_eq!(names(&events), ["role.created", "role.updated", "role.updated", "role.deleted"]);
    for (event, role) in events.iter().zip([&created, &renamed, &permitted, &permitted]) {
        assert_eq!(event["data"], json!({ "role": role }));
        assert!(event["timestamp"].as_str().is_some_and(|time| time.ends_with('Z')), "{event}");
    }
}

async fn deleting_a_role_emits_updates_of_its_users(server: Server) {
    let admin = server.admin();
    let (user, _) = server.user(&[], &["*"]).await;
    server.user(&[], &["*"]).await;
    let path = format!("/roles/{}", user["role_ids"][0]);
    let role = admin.get(&path).await.record("role");
    let before = server.event_bodies(0).await.len();
    admin.delete(&path).await.deleted();
    let events = server.event_bodies(before).await;
    assert_eq!(names(&events), ["role.deleted", "user.updated"]);
    let now = admin.get(&format!("/users/{}", user["id"])).await.record("user");
    assert_eq!(now["role_ids"], json!([]));
    assert_eq!(events[1]["data"], json!({ "user": now }));
    assert_eq!(events[0]["data"], json!({ "role": role }), "as it was");
}

async fn rolled_back_write_emits_no_event(server: Server) {
    let before = server.event_bodies(0).await.len();
    let seeded = server.admin().get("/roles").await.ok()["meta"]["total"].clone();
    server.admin().post("/users", json!({ "name": "", "email": "nobody" })).await.invalid("email");
    let operator = Principal::operator();
    let context = Context::new(&server.state, &operator, server.state.db.reader());
    let transaction = Transaction::begin(&server.state).await.expect("a transaction begins");
    let roles = server.state.catalog.get("role").expect("it is linked");
    let body = br#"{"name":"Lost"}"#;
    let body = charter_runtime::ops::Body::read(body, None).expect("an object");
    charter_runtime::ops::create(&context.in_transaction(&transaction), roles, &body, None)
        .await
        .expect("it is created");
    drop(transaction);
    assert_eq!(server.admin().get("/roles").await.ok()["meta"]["total"], seeded);
    assert!(server.event_bodies(before).await.is_empty());
}
