//! `POST /webhooks/{id}/test`: a test event, sent at once.

use std::time::Duration;

use charter_runtime::webhook::SigningSecret;
use serde_json::{Value, json};

use super::{delivering, path, webhook};
use crate::support::{Receiver, Reply, Server, keys, on_both};

on_both!(
    test_event_is_signed_sent_and_logged,
    failed_test_is_reported_and_does_not_count_as_a_failure,
    disabled_webhook_can_be_tested,
    test_of_a_disconnected_client_is_logged_before_shutdown,
);

async fn test_event_is_signed_sent_and_logged(server: Server) {
    let server = delivering(&server).await;
    let admin = server.admin();
    let receiver = Receiver::start(|_| Reply::Whole(202, b"thanks".to_vec(), None)).await;
    let hook = webhook(&admin, &receiver.url(), &["role.created"]).await;
    let delivery = admin.post(&format!("{}/test", path(&hook)), json!({})).await.record("delivery");
    assert_eq!(keys(&delivery), ["delivered", "duration_ms", "error", "response_body", "response_status"]);
    let expected = [&json!(true), &json!(202), &json!("thanks"), &Value::Null];
    let fields = ["delivered", "response_status", "response_body", "error"];
    assert_eq!(fields.map(|field| &delivery[field]), expected);
    assert!(delivery["duration_ms"].is_u64());
    let received = receiver.received();
    assert_eq!((received.len(), received[0].header("x-service-event")), (1, "webhook.test"));
    let body = received[0].json();
    assert_eq!((keys(&body), &body["event"]), (vec!["data", "event", "timestamp"], &json!("webhook.test")));
    let secret = SigningSecret::parse(hook["secret"].as_str().unwrap_or_default()).expect("a secret");
    assert!(secret.verify(&received[0].body, received[0].header("x-service-signature")));
    let logs = admin.get(&format!("{}/logs", path(&hook))).await.records("logs");
    assert_eq!((logs.len(), &logs[0]["event"], &logs[0]["response_status"]), (1, &json!("webhook.test"), &json!(202)));
    assert_eq!(logs[0]["delivery_id"], received[0].header("webhook-id"));
}

async fn failed_test_is_reported_and_does_not_count_as_a_failure(server: Server) {
    let server = delivering(&server).await;
    let admin = server.admin();
    let receiver = Receiver::answering(500).await;
    let hook = webhook(&admin, &receiver.url(), &["*"]).await;
    let delivery = admin.post(&format!("{}/test", path(&hook)), json!({})).await.record("delivery");
    assert_eq!([&delivery["delivered"], &delivery["response_status"]], [&json!(false), &json!(500)]);
    assert_eq!(admin.get(&path(&hook)).await.record("webhook")["failing_since"], Value::Null);
    // An address that is no longer allowed.
    server.sql("UPDATE webhooks SET url = 'https://10.0.0.1/'").await;
    let delivery = admin.post(&format!("{}/test", path(&hook)), json!({})).await.record("delivery");
    assert_eq!([&delivery["response_status"], &delivery["response_body"]], [&Value::Null, &Value::Null]);
    assert_eq!(delivery["error"], "the URL points to an address that is not public");
}

async fn disabled_webhook_can_be_tested(server: Server) {
    let server = delivering(&server).await;
    let admin = server.admin();
    let receiver = Receiver::answering(204).await;
    let body = json!({ "url": receiver.url(), "events": ["*"], "is_active": false });
    let hook = admin.post("/webhooks", body).await.created("webhook");
    assert!(hook["disabled_at"].is_string());
    let delivery = admin.post(&format!("{}/test", path(&hook)), json!({})).await.record("delivery");
    assert_eq!(delivery["delivered"], true);
    assert_eq!(admin.get(&path(&hook)).await.record("webhook")["is_active"], false);
}

async fn test_of_a_disconnected_client_is_logged_before_shutdown(server: Server) {
    let server = delivering(&server).await;
    let receiver = Receiver::start(|_| Reply::Endless(4 << 10, Duration::from_millis(300))).await;
    let hook = webhook(&server.admin(), &receiver.url(), &["*"]).await;
    let other = server.second_node().await;
    let leaving = server.admin().begin_by("POST", "HTTP/1.1", &format!("{}/test", path(&hook))).await;
    receiver.wait_for(1).await;
    drop(leaving);
    // The server notices that the client has disconnected.
    tokio::time::sleep(Duration::from_millis(100)).await;
    server.stop().await;
    let logs = other.admin().get(&format!("{}/logs", path(&hook))).await.records("logs");
    assert_eq!(logs.len(), 1, "what was sent is logged");
}
