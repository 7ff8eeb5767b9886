//! Rights of webhooks: as narrow as the token that made them, and ended with it.

use serde_json::{Value, json};

use super::{client_of, token_of, user_with};
use crate::delivery::{Receiver, deliver};
use crate::support::{Client, Server, on_both};

on_both!(
    webhook_receives_what_its_token_may_read,
    webhook_receives_what_its_user_may_still_read,
    queued_delivery_is_cancelled_when_the_right_is_withdrawn,
    webhook_is_disabled_with_its_token,
    webhook_is_disabled_with_its_user,
    webhook_is_disabled_when_its_token_expires,
    enabled_webhook_is_as_narrow_as_the_token_that_enables_it,
    narrower_token_does_not_redirect_a_webhook,
    delivered_request_is_shown_to_tokens_that_may_read_its_record,
);

async fn listen(client: &Client, events: &[&str]) -> Value {
    let webhook = json!({ "url": "https://example.com/hook", "events": events });
    client.post("/webhooks", webhook).await.created("webhook")
}

/// The names of the events that arrive.
async fn received(server: &Server) -> Vec<String> {
    let receiver = Receiver::answering(200);
    deliver(server, &receiver).await;
    let mut names: Vec<String> = receiver.take().iter().map(|attempt| attempt.event.to_string()).collect();
    names.sort();
    names
}

async fn change(server: &Server) {
    let admin = server.admin();
    admin.post("/products", json!({ "name": "Lamp" })).await.created("product");
    admin.post("/members", json!({ "name": "Ada" })).await.created("member");
}

async fn webhook_receives_what_its_token_may_read(server: Server) {
    let user = user_with(&server, &["*"], &[]).await;
    let (narrow, _) = token_of(&server, &user, &["webhooks:write", "members:read"]).await;
    let message =
        narrow.post("/webhooks", json!({ "url": "https://example.com/", "events": ["product.created"] })).await;
    assert_eq!(message.invalid("events"), "contains `product.created`, which requires the ability `products:read`");
    listen(&narrow, &["*"]).await;
    change(&server).await;
    assert_eq!(received(&server).await, ["member.created"]);
}

async fn webhook_receives_what_its_user_may_still_read(server: Server) {
    let user = user_with(&server, &["webhooks:write", "application:read"], &[]).await;
    listen(&client_of(&server, &user).await, &["*"]).await;
    change(&server).await;
    assert_eq!(received(&server).await, ["member.created", "product.created"]);
    let role = format!("/roles/{}", user["role_ids"][0]);
    server.admin().put(&role, json!({ "abilities": ["webhooks:write", "members:read"] })).await.record("role");
    change(&server).await;
    assert_eq!(received(&server).await, ["member.created"]);
}

async fn queued_delivery_is_cancelled_when_the_right_is_withdrawn(server: Server) {
    let user = user_with(&server, &["webhooks:write", "application:read"], &[]).await;
    listen(&client_of(&server, &user).await, &["*"]).await;
    change(&server).await;
    let now = server.state.clock.now();
    charter_runtime::webhook::fan_out(&server.state, now).await.expect("events are fanned out");
    let role = format!("/roles/{}", user["role_ids"][0]);
    server.admin().put(&role, json!({ "abilities": ["webhooks:write", "members:read"] })).await.record("role");
    assert_eq!(received(&server).await, ["member.created"]);
    let states = server.texts("SELECT status AS text FROM webhook_deliveries ORDER BY status").await;
    assert_eq!(states, ["cancelled", "delivered"]);
}

/// The reason why the webhook is disabled.
async fn disabled_reason(server: &Server, webhook: &Value) -> Value {
    let webhook = server.admin().get(&format!("/webhooks/{}", webhook["id"])).await.record("webhook");
    assert_eq!(webhook["is_active"], webhook["disabled_reason"].is_null());
    assert_eq!(webhook["disabled_at"].is_null(), webhook["disabled_reason"].is_null());
    webhook["disabled_reason"].clone()
}

async fn webhook_is_disabled_with_its_token(server: Server) {
    let user = user_with(&server, &["*"], &[]).await;
    let (client, token) = token_of(&server, &user, &["*"]).await;
    let webhook = listen(&client, &["*"]).await;
    assert_eq!(disabled_reason(&server, &webhook).await, Value::Null);
    server.admin().delete(&format!("/tokens/{}", token["id"])).await.deleted();
    change(&server).await;
    assert_eq!(received(&server).await, [""; 0]);
    assert_eq!(disabled_reason(&server, &webhook).await, "token_revoked");
}

async fn webhook_is_disabled_with_its_user(server: Server) {
    let user = user_with(&server, &["*"], &[]).await;
    let webhook = listen(&client_of(&server, &user).await, &["*"]).await;
    server.admin().post(&format!("/users/{}/deactivate", user["id"]), json!({})).await.ok();
    change(&server).await;
    assert_eq!(received(&server).await, [""; 0]);
    assert_eq!(disabled_reason(&server, &webhook).await, "user_deactivated");
}

async fn webhook_is_disabled_when_its_token_expires(server: Server) {
    let user = user_with(&server, &["*"], &[]).await;
    let (client, token) = token_of(&server, &user, &["*"]).await;
    let webhook = listen(&client, &["*"]).await;
    let past = "UPDATE tokens SET expires_at = '2026-01-01T00:00:00+00:00' WHERE id = ";
    server.sql(&format!("{past}{}", token["id"])).await;
    change(&server).await;
    assert_eq!(received(&server).await, [""; 0]);
    assert_eq!(disabled_reason(&server, &webhook).await, "token_expired");
}

async fn enabled_webhook_is_as_narrow_as_the_token_that_enables_it(server: Server) {
    let user = user_with(&server, &["*"], &[]).await;
    let (wide, token) = token_of(&server, &user, &["*"]).await;
    let webhook = listen(&wide, &["*"]).await;
    server.admin().delete(&format!("/tokens/{}", token["id"])).await.deleted();
    received(&server).await;
    let (narrow, _) = token_of(&server, &user, &["webhooks:write", "members:read"]).await;
    let path = format!("/webhooks/{}", webhook["id"]);
    let enabled = narrow.put(&path, json!({ "is_active": true })).await.record("webhook");
    assert_eq!((&enabled["is_active"], &enabled["disabled_reason"]), (&json!(true), &Value::Null));
    change(&server).await;
    assert_eq!(received(&server).await, ["member.created"]);
}

async fn narrower_token_does_not_redirect_a_webhook(server: Server) {
    let user = user_with(&server, &["*"], &[]).await;
    let wide = client_of(&server, &user).await;
    let path = format!("/webhooks/{}", listen(&wide, &["member.created"]).await["id"]);
    let narrow = ["webhooks:read", "webhooks:write"];
    // An administrator's narrow token may change webhooks of others, and still no wider ones.
    for client in [token_of(&server, &user, &narrow).await.0, server.able(&narrow).await] {
        for change in [
            json!({ "url": "https://other.example/hook" }),
            json!({ "events": ["*"] }),
            json!({ "when": "name = 'Ada'" }),
        ] {
            client.put(&path, change).await.refused(403, "ability_missing");
        }
        client.post(&format!("{path}/rotate_secret"), json!({})).await.refused(403, "ability_missing");
        client.put(&path, json!({ "url": "https://example.com/hook", "is_active": true })).await.record("webhook");
        client.put(&path, json!({ "is_active": false })).await.record("webhook");
        wide.put(&path, json!({ "is_active": true })).await.record("webhook");
    }
    wide.put(&path, json!({ "url": "https://other.example/hook" })).await.record("webhook");
    change(&server).await;
    assert_eq!(received(&server).await, ["member.created"]);
}

async fn delivered_request_is_shown_to_tokens_that_may_read_its_record(server: Server) {
    let path = format!("/webhooks/{}", listen(&server.admin(), &["product.created"]).await["id"]);
    change(&server).await;
    assert_eq!(received(&server).await, ["product.created"]);
    let narrow = server.able(&["webhooks:read", "webhooks:write"]).await;
    let request = format!("{path}/logs/{}/request", narrow.get(&format!("{path}/logs")).await.records("logs")[0]["id"]);
    narrow.get(&request).await.refused(403, "ability_missing");
    server.able(&["webhooks:read", "webhooks:write", "products:read"]).await.get(&request).await.record("request");
}
