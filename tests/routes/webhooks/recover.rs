//! `POST /webhooks/{id}/recover`: missed events are queued again.

use std::time::Duration;

use serde_json::json;

use super::{delivering, path, role, webhook};
use crate::support::{Receiver, Server, on_both};

on_both!(recover_sends_missed_events, recover_requires_since_in_the_past, a_disabled_webhook_is_enabled_first);

async fn recover_sends_missed_events(server: Server) {
    let server = delivering(&server).await;
    let admin = server.admin();
    let (receiver, other) = (Receiver::answering(200).await, Receiver::answering(200).await);
    let hook = webhook(&admin, &receiver.url(), &["role.created"]).await;
    webhook(&admin, &other.url(), &["role.created"]).await;
    admin.put(&path(&hook), json!({ "is_active": false })).await.record("webhook");
    role(&server, "Long ago").await;
    other.wait_for(1).await;
    server.state.clock.advance(Duration::from_secs(3600));
    let since = (server.state.clock.now() - Duration::from_secs(1)).to_rfc3339();
    role(&server, "Missed").await;
    other.wait_for(2).await;
    admin.put(&path(&hook), json!({ "is_active": true })).await.record("webhook");
    let recovered = admin.post(&format!("{}/recover", path(&hook)), json!({ "since": since })).await;
    assert_eq!(recovered.record("recovery")["queued"], 1);
    let received = receiver.wait_for(1).await;
    assert_eq!(received[0].json()["data"]["role"]["name"], "Missed");
    // Delivered events are not missed.
    while admin.get(&format!("{}/logs", path(&hook))).await.records("logs").is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let again = admin.post(&format!("{}/recover", path(&hook)), json!({ "since": since })).await;
    assert_eq!(again.record("recovery")["queued"], 0);
}

async fn recover_requires_since_in_the_past(server: Server) {
    let hook = webhook(&server.admin(), "https://example.com/", &["*"]).await;
    let recover = format!("{}/recover", path(&hook));
    for body in [json!({}), json!({ "since": "yesterday" }), json!({ "since": "2999-01-01T00:00:00Z" })] {
        server.admin().post(&recover, body).await.invalid("since");
    }
}

async fn a_disabled_webhook_is_enabled_first(server: Server) {
    let admin = server.admin();
    let hook = webhook(&admin, "https://example.com/", &["*"]).await;
    admin.put(&path(&hook), json!({ "is_active": false })).await.record("webhook");
    let body = json!({ "since": "2026-01-01T00:00:00Z" });
    admin.post(&format!("{}/recover", path(&hook)), body).await.refused(409, "conflict");
}
