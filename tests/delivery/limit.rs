//! The limit of pending deliveries of a user: beyond it, the webhook with the most is disabled and can be recovered.

use serde_json::{Value, json};

use super::{Receiver, count, deliver};
use crate::support::{Client, Server, on_both};

on_both!(webhook_with_the_most_pending_deliveries_is_disabled_beyond_the_limit, recovery_keeps_to_the_limit,);

const LIMIT: u64 = 5;

async fn limited(server: &Server) -> Server {
    server.configured(|config| config.user_delivery_limit = Some(LIMIT)).await
}

async fn listen(client: &Client, events: &[&str]) -> Value {
    let webhook = json!({ "url": "https://example.com/hook", "events": events });
    client.post("/webhooks", webhook).await.created("webhook")
}

async fn create_members(client: &Client, count: usize) {
    for number in 0..count {
        client.post("/members", json!({ "name": format!("Member {number}") })).await.created("member");
    }
}

async fn shown(server: &Server, webhook: &Value) -> Value {
    server.admin().get(&format!("/webhooks/{}", webhook["id"])).await.record("webhook")
}

async fn webhook_with_the_most_pending_deliveries_is_disabled_beyond_the_limit(server: Server) {
    let server = limited(&server).await;
    let (_, busy) = server.user(&[], &["*"]).await;
    let (_, other) = server.user(&[], &["*"]).await;
    let quiet = listen(&busy, &["product.created"]).await;
    let greedy = listen(&busy, &["member.created", "product.created"]).await;
    let others = listen(&other, &["*"]).await;
    create_members(&busy, 4).await;
    let receiver = Receiver::answering(503);
    // Four deliveries of each user: nobody is beyond the limit, and the failed ones stay pending.
    deliver(&server, &receiver).await;
    assert_eq!(shown(&server, &greedy).await["disabled_reason"], Value::Null);
    busy.post("/products", json!({ "name": "Lamp" })).await.created("product");
    receiver.take();
    deliver(&server, &receiver).await;
    let disabled = shown(&server, &greedy).await;
    assert_eq!((&disabled["is_active"], &disabled["disabled_reason"]), (&json!(false), &json!("delivery_limit")));
    assert!(!disabled["disabled_at"].is_null());
    for webhook in [&quiet, &others] {
        assert_eq!(shown(&server, webhook).await["is_active"], true);
    }
    assert_eq!(receiver.take().len(), 2, "the product is sent to the others");
    let cancelled = format!("webhook_deliveries WHERE status = 'cancelled' AND webhook_id = {}", greedy["id"]);
    assert_eq!(count(&server, &cancelled).await, 5);
    // Nothing is lost: the owner enables the webhook, and recovers what it missed.
    let path = format!("/webhooks/{}", greedy["id"]);
    let enabled = busy.put(&path, json!({ "is_active": true })).await.record("webhook");
    assert_eq!(enabled["disabled_reason"], Value::Null);
    let since = json!({ "since": "2026-01-01T00:00:00Z" });
    // One delivery of the quiet webhook is pending, so that four fit.
    let body = busy.post(&format!("{path}/recover"), since.clone()).await.refused(409, "conflict");
    assert!(body["message"].as_str().is_some_and(|message| message.contains("4 were queued")), "{body}");
    let receiver = Receiver::answering(200);
    deliver(&server, &receiver).await;
    let recovered = busy.post(&format!("{path}/recover"), since).await.ok();
    assert_eq!(recovered["recovery"]["queued"], 1);
    deliver(&server, &receiver).await;
    assert_eq!(receiver.take().iter().filter(|attempt| json!(attempt.webhook_id) == greedy["id"]).count(), 5);
}

async fn recovery_keeps_to_the_limit(server: Server) {
    let server = limited(&server).await;
    let admin = server.admin();
    let webhook = listen(&admin, &["member.created"]).await;
    let path = format!("/webhooks/{}", webhook["id"]);
    admin.put(&path, json!({ "is_active": false })).await.record("webhook");
    create_members(&admin, 12).await;
    let receiver = Receiver::answering(200);
    deliver(&server, &receiver).await;
    admin.put(&path, json!({ "is_active": true })).await.record("webhook");
    let since = json!({ "since": "2026-01-01T00:00:00Z" });
    let mut rounds = 0;
    loop {
        let answer = admin.post(&format!("{path}/recover"), since.clone()).await;
        assert!(
            count(&server, "webhook_deliveries WHERE status = 'pending'").await <= i64::try_from(LIMIT).expect("small")
        );
        deliver(&server, &receiver).await;
        rounds += 1;
        if answer.status == 200 {
            break;
        }
        answer.refused(409, "conflict");
        assert!(rounds < 10);
    }
    assert_eq!(receiver.take().len(), 12);
    assert_eq!(shown(&server, &webhook).await["is_active"], true);
}
