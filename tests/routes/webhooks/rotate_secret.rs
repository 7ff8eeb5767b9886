//! `POST /webhooks/{id}/rotate_secret`: a new secret, with the old one valid for a day.

use std::time::Duration;

use charter_runtime::webhook::SigningSecret;
use serde_json::{Value, json};

use super::{delivering, path, webhook};
use crate::support::{Receiver, Server, on_both};

on_both!(deliveries_are_signed_with_both_secrets_for_a_day_after_rotation);

async fn deliveries_are_signed_with_both_secrets_for_a_day_after_rotation(server: Server) {
    let server = delivering(&server).await;
    let admin = server.admin();
    let receiver = Receiver::answering(200).await;
    let hook = webhook(&admin, &receiver.url(), &["role.created"]).await;
    let rotated = admin.post(&format!("{}/rotate_secret", path(&hook)), json!({})).await.record("webhook");
    assert_ne!(rotated["secret"], hook["secret"]);
    assert!(!admin.get(&path(&hook)).await.text.contains("whsec_"));
    let secret =
        |record: &Value| SigningSecret::parse(record["secret"].as_str().unwrap_or_default()).expect("a secret");
    let (old, new) = (secret(&hook), secret(&rotated));
    let test = || async { admin.post(&format!("{}/test", path(&hook)), json!({})).await.record("delivery") };
    test().await;
    server.state.clock.turn(Duration::from_secs(24 * 3600 - 60));
    test().await;
    server.state.clock.turn(Duration::from_secs(60));
    test().await;
    let received = receiver.received();
    for sent in &received {
        assert!(new.verify(&sent.body, sent.header("x-service-signature")));
    }
    for sent in &received[..2] {
        assert!(old.verify(&sent.body, sent.header("x-service-signature-previous")));
    }
    assert_eq!(received[2].header("x-service-signature-previous"), "");
}
