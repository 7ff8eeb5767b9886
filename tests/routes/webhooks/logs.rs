//! `GET /webhooks/{id}/logs`: all attempts and their requests.

use serde_json::{Value, json};

use super::{delivering, path, role, webhook};
use crate::support::{Receiver, Reply, Server, is_utc_time, keys, on_both};

on_both!(
    delivery_log_lists_every_attempt,
    delivery_log_follows_the_list_conventions,
    logged_request_is_returned_without_its_signature,
    logged_request_requires_the_access_to_its_event,
    event_that_the_user_can_no_longer_read_is_not_resent,
);

async fn delivery_log_lists_every_attempt(server: Server) {
    let server = delivering(&server).await;
    let admin = server.admin();
    let receiver = Receiver::start(|_| Reply::Whole(503, b"later".to_vec(), None)).await;
    let hook = webhook(&admin, &receiver.url(), &["role.created"]).await;
    role(&server, "Logged").await;
    let received = receiver.wait_for(1).await;
    let logs = loop {
        let logs = admin.get(&format!("{}/logs", path(&hook))).await.records("logs");
        if !logs.is_empty() {
            break logs;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    let log = &logs[0];
    let shown = [
        "attempt",
        "created_at",
        "delivery_id",
        "duration_ms",
        "error",
        "event",
        "id",
        "next_attempt_at",
        "response_body",
        "response_status",
    ];
    assert_eq!(keys(log), shown);
    let fields = ["attempt", "event", "response_status", "response_body", "error"];
    assert_eq!(
        fields.map(|f| &log[f]),
        [&json!(1), &json!("role.created"), &json!(503), &json!("later"), &Value::Null]
    );
    assert_eq!(log["delivery_id"], received[0].header("webhook-id"));
    assert!(is_utc_time(&log["next_attempt_at"]) && is_utc_time(&log["created_at"]), "{log}");
    assert!(admin.get(&path(&hook)).await.record("webhook")["failing_since"].is_string());
    assert_eq!(&admin.get(&format!("{}/logs/{}", path(&hook), log["id"])).await.record("webhook_log"), log);
}

async fn delivery_log_follows_the_list_conventions(server: Server) {
    let server = delivering(&server).await;
    let admin = server.admin();
    let receiver = Receiver::answering(200).await;
    let (hook, other) =
        (webhook(&admin, &receiver.url(), &["*"]).await, webhook(&admin, &receiver.url(), &["*"]).await);
    for _ in 0..3 {
        admin.post(&format!("{}/test", path(&hook)), json!({})).await.record("delivery");
    }
    let logs = format!("{}/logs", path(&hook));
    let listed = admin.get(&format!("{logs}?sort=-id&per_page=2")).await.ok();
    assert_eq!(listed["meta"], json!({ "total": 3, "per_page": 2, "page": 1 }));
    assert!(listed["logs"][0]["id"].as_i64() > listed["logs"][1]["id"].as_i64());
    assert_eq!(admin.get(&format!("{logs}?q[response_status_eq]=500")).await.records("logs").len(), 0);
    assert_eq!(admin.get(&format!("{logs}?q[event_eq]=webhook.test")).await.records("logs").len(), 3);
    // Logs of another webhook are not found.
    let id = &listed["logs"][0]["id"];
    assert_eq!(admin.get(&format!("{}/logs", path(&other))).await.records("logs").len(), 0);
    admin.get(&format!("{}/logs/{id}", path(&other))).await.refused(404, "not_found");
    admin.post(&format!("{}/logs/{id}/resend", path(&other)), json!({})).await.refused(404, "not_found");
    admin.post(&logs, json!({})).await.refused(405, "method_not_allowed");
}

async fn logged_request_is_returned_without_its_signature(server: Server) {
    let server = delivering(&server).await;
    let admin = server.admin();
    let receiver = Receiver::answering(200).await;
    let hook = admin.post("/webhooks", json!({ "url": receiver.url(), "events": ["*"] })).await.created("webhook");
    admin.post(&format!("{}/test", path(&hook)), json!({})).await.record("delivery");
    // The log has the URL at the time of the attempt.
    let moved = json!({ "url": "http://127.0.0.1:18080/elsewhere" });
    admin.put(&path(&hook), moved).await.ok();
    let log = admin.get(&format!("{}/logs", path(&hook))).await.records("logs")[0].clone();
    let asked = format!("{}/logs/{}/request", path(&hook), log["id"]);
    let request = admin.get(&asked).await.record("request");
    let received = &receiver.received()[0];
    assert_eq!(keys(&request), ["body", "headers", "method", "url"]);
    assert_eq!((&request["method"], &request["url"]), (&json!("POST"), &json!(receiver.url())));
    assert_eq!(request["body"].as_str().expect("a text").as_bytes(), received.body, "the bytes that were signed");
    let expected = ["content-type", "webhook-id", "webhook-timestamp", "x-service-attempt", "x-service-event"];
    assert_eq!(keys(&request["headers"]), expected);
    for name in expected {
        assert_eq!(request["headers"][name], received.header(name), "{name}");
    }
    // Neither the secret nor a signature.
    let text = request.to_string();
    let signature = received.header("x-service-signature");
    assert!(signature.len() == 64 && !text.contains(signature) && !text.contains("v1,"), "{text}");
    assert!(!text.contains(hook["secret"].as_str().expect("a secret")), "{text}");

    // Pruned and older values are null.
    server.sql("DELETE FROM webhook_deliveries").await;
    server.sql("UPDATE webhook_logs SET url = NULL, sent_at = NULL").await;
    let request = admin.get(&asked).await.record("request");
    assert_eq!((&request["url"], &request["body"]), (&Value::Null, &Value::Null));
    assert_eq!(keys(&request["headers"]), ["content-type", "webhook-id", "x-service-attempt", "x-service-event"]);
    admin.get(&format!("{}/logs/99/request", path(&hook))).await.refused(404, "not_found");
}

/// An event may contain records that the caller's abilities exclude; the ability to write webhooks suffices to
/// subscribe.
async fn logged_request_requires_the_access_to_its_event(server: Server) {
    let server = delivering(&server).await;
    let (user, writer) = server.user(&[], &["webhooks:read", "webhooks:write"]).await;
    let receiver = Receiver::answering(200).await;
    let hook = webhook(&writer, &receiver.url(), &["*"]).await;
    writer.post(&format!("{}/test", path(&hook)), json!({})).await.record("delivery");
    let logs = format!("{}/logs", path(&hook));
    let asked = format!("{logs}/{}/request", writer.get(&logs).await.records("logs")[0]["id"]);
    writer.get(&asked).await.record("request");
    let token = json!({ "name": "Reads", "user_id": user["id"], "abilities": ["webhooks:read"] });
    let token = server.admin().post("/tokens", token).await.created("token");
    let reader = server.client(token["value"].as_str().expect("a value"));
    reader.get(&logs).await.ok();
    reader.get(&asked).await.refused(403, "ability_missing");
    let (_, other) = server.user(&[], &["webhooks:read", "webhooks:write"]).await;
    other.get(&asked).await.refused(404, "not_found");
}

async fn event_that_the_user_can_no_longer_read_is_not_resent(server: Server) {
    let server = delivering(&server).await;
    let (user, writer) = server.user(&["settings.manage"], &["*"]).await;
    let receiver = Receiver::answering(200).await;
    let hook = webhook(&writer, &receiver.url(), &["exchange_rate.created"]).await;
    let rate = json!({
        "source_currency_code": "GBP", "target_currency_code": "EUR", "rate": "1.17", "effective_at": "2020-01-01T00:00:00Z",
    });
    writer.post("/exchange_rates", rate).await.created("exchange_rate");
    receiver.wait_for(1).await;
    let logs = format!("{}/logs", path(&hook));
    let log = loop {
        match writer.get(&logs).await.records("logs").first() {
            Some(log) => break format!("{logs}/{}", log["id"]),
            None => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
        }
    };
    let (request, resend) = (format!("{log}/request"), format!("{log}/resend"));
    writer.get(&request).await.record("request");
    writer.post(&resend, json!({})).await.record("delivery");
    let role = format!("/roles/{}", user["role_ids"][0]);
    server.admin().put(&role, json!({ "permissions": [] })).await.ok();
    writer.get(&request).await.refused(403, "permission_missing");
    writer.post(&resend, json!({})).await.refused(403, "permission_missing");
    assert_eq!(receiver.received().len(), 2);
    server.admin().get(&request).await.record("request");
}
