//! `PUT /webhooks/{id}`: changes of URL, events and state.

use serde_json::{Value, json};

use super::{delivering, path, role, webhook};
use crate::support::{Receiver, Server, is_utc_time, on_both};

on_both!(
    webhook_update_changes_only_the_given_fields,
    webhook_from_get_can_be_sent_back_unchanged,
    disabled_webhook_can_be_enabled_again,
    new_url_resets_the_failure_streak,
    inactive_webhook_receives_no_events,
);

/// Sets a failure streak that began in the past.
async fn failing(server: &Server, hook: &Value) {
    let time = "'2026-01-01T00:00:00.000+00:00'";
    let set = format!("failing_since = {time}, last_failure_at = {time}");
    server.sql(&format!("UPDATE webhooks SET {set} WHERE id = {}", hook["id"])).await;
}

async fn webhook_update_changes_only_the_given_fields(server: Server) {
    let admin = server.admin();
    let hook = webhook(&admin, "https://example.com/", &["*"]).await;
    let changed = admin.put(&path(&hook), json!({ "events": ["role.created"] })).await.record("webhook");
    assert_eq!([&changed["events"], &changed["url"]], [&json!(["role.created"]), &hook["url"]]);
    let changed = admin.patch(&path(&hook), json!({ "webhook": { "url": "https://other.example/" } })).await;
    assert_eq!(changed.record("webhook")["url"], "https://other.example/");
    let wrong = json!({ "url": "https://10.0.0.1/", "events": ["role.create"], "is_active": "maybe" });
    assert_eq!(admin.put(&path(&hook), wrong).await.invalid_fields(), ["events", "is_active", "url"]);
    let wrong = json!({ "url": "https://10.0.0.1/", "events": ["role.create"] });
    assert_eq!(admin.put(&path(&hook), wrong).await.invalid_fields(), ["events", "url"]);
    for field in ["url", "events"] {
        admin.put(&path(&hook), json!({ field: "" })).await.invalid(field);
    }
}

async fn webhook_from_get_can_be_sent_back_unchanged(server: Server) {
    let admin = server.admin();
    let hook = webhook(&admin, "https://example.com/", &["*"]).await;
    let read = admin.get(&path(&hook)).await.record("webhook");
    assert_eq!(admin.put(&path(&hook), read.clone()).await.record("webhook"), read);
    // An existing URL is not checked again.
    server.sql("UPDATE webhooks SET url = 'http://10.0.0.1/'").await;
    let kept = admin.put(&path(&hook), json!({ "url": "http://10.0.0.1/", "events": ["role.created"] })).await;
    assert_eq!(kept.record("webhook")["url"], "http://10.0.0.1/");
}

async fn disabled_webhook_can_be_enabled_again(server: Server) {
    let admin = server.admin();
    let hook = webhook(&admin, "https://example.com/", &["*"]).await;
    failing(&server, &hook).await;
    let off = admin.put(&path(&hook), json!({ "is_active": false })).await.record("webhook");
    assert!(is_utc_time(&off["disabled_at"]) && is_utc_time(&off["failing_since"]), "{off}");
    let on = admin.put(&path(&hook), json!({ "is_active": true })).await.record("webhook");
    assert_eq!(
        [&on["is_active"], &on["disabled_at"], &on["failing_since"]],
        [&json!(true), &Value::Null, &Value::Null]
    );
}

async fn new_url_resets_the_failure_streak(server: Server) {
    let admin = server.admin();
    let hook = webhook(&admin, "https://example.com/", &["*"]).await;
    failing(&server, &hook).await;
    let other = admin.put(&path(&hook), json!({ "events": ["role.created"] })).await.record("webhook");
    assert!(is_utc_time(&other["failing_since"]));
    let moved = admin.put(&path(&hook), json!({ "url": "https://example.com/2" })).await.record("webhook");
    assert_eq!(moved["failing_since"], Value::Null);
}

async fn inactive_webhook_receives_no_events(server: Server) {
    let server = delivering(&server).await;
    let admin = server.admin();
    let (off, on) = (Receiver::answering(200).await, Receiver::answering(200).await);
    let hook = webhook(&admin, &off.url(), &["*"]).await;
    webhook(&admin, &on.url(), &["*"]).await;
    admin.put(&path(&hook), json!({ "is_active": false })).await.record("webhook");
    role(&server, "Unheard").await;
    on.wait_for(1).await;
    admin.put(&path(&hook), json!({ "is_active": true })).await.record("webhook");
    role(&server, "Heard").await;
    assert_eq!(off.wait_for(1).await[0].json()["data"]["role"]["name"], "Heard");
}
