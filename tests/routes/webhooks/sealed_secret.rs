//! Secrets of webhooks in the database: encrypted, also those of an earlier version, and clear errors with another key.

use charter_runtime::webhook::{SigningSecret, UrlPolicy};
use serde_json::{Value, json};

use super::{delivering, path, webhook};
use crate::support::{Receiver, Server, on_both};

on_both!(
    stored_secret_is_encrypted,
    secrets_of_an_earlier_version_are_encrypted_at_start,
    another_secret_key_is_named_by_the_attempt,
);

const STORED: &str = "SELECT CONCAT(secret, ' ', previous_secret) AS text FROM webhooks";

fn secret(webhook: &Value) -> SigningSecret {
    SigningSecret::parse(webhook["secret"].as_str().unwrap_or_default()).expect("a secret")
}

async fn stored_secret_is_encrypted(server: Server) {
    let admin = server.admin();
    let hook = webhook(&admin, "https://hooks.example.com/", &["role.created"]).await;
    admin.post(&format!("{}/rotate_secret", path(&hook)), json!({})).await.record("webhook");
    let stored = server.texts(STORED).await.remove(0);
    assert!(!stored.contains("whsec_") && !stored.contains(secret(&hook).reveal()), "{stored}");
    assert!(stored.split(' ').all(|one| one.starts_with("sealed:")), "{stored}");
    let audit = admin.get("/audit_entries?per_page=100").await.text;
    assert!(!audit.contains("sealed:") && !audit.contains("whsec_"));
}

async fn secrets_of_an_earlier_version_are_encrypted_at_start(server: Server) {
    let server = delivering(&server).await;
    let admin = server.admin();
    let receiver = Receiver::answering(200).await;
    let hook = webhook(&admin, &receiver.url(), &["role.created"]).await;
    let (current, previous) = (secret(&hook), SigningSecret::generate().expect("a secret"));
    let plain = format!(
        "UPDATE webhooks SET secret = '{}', previous_secret = '{}', previous_secret_until = '2999-01-01T00:00:00+00:00'",
        current.reveal(),
        previous.reveal()
    );
    server.sql(&plain).await;
    // Two processes start at the same time.
    let app = charter::app();
    let (one, other) = tokio::join!(app.prepare(&server.state), app.prepare(&server.state));
    one.and(other).expect("they start");
    let stored = server.texts(STORED).await;
    assert!(!stored[0].contains("whsec_"), "{stored:?}");
    app.prepare(&server.state).await.expect("it starts again");
    assert_eq!(server.texts(STORED).await, stored, "nothing is encrypted twice");
    let delivery = admin.post(&format!("{}/test", path(&hook)), json!({})).await.record("delivery");
    assert_eq!(delivery["delivered"], true, "{delivery}");
    let sent = &receiver.received()[0];
    assert!(current.verify(&sent.body, sent.header("x-service-signature")));
    assert!(previous.verify(&sent.body, sent.header("x-service-signature-previous")));
}

async fn another_secret_key_is_named_by_the_attempt(server: Server) {
    let receiver = Receiver::answering(200).await;
    let server = delivering(&server).await;
    let hook = webhook(&server.admin(), &receiver.url(), &["role.created"]).await;
    let networks = vec!["127.0.0.0/8".parse().expect("a network")];
    let moved = server
        .second_node_with(|config| {
            config.secret_key = Some("another secret key of at least 32 bytes".into());
            config.webhook_policy = UrlPolicy { allow_http: true, networks };
        })
        .await;
    let test = format!("{}/test", path(&hook));
    let failed = moved.admin().post(&test, json!({})).await.record("delivery");
    assert_eq!(failed["delivered"], false);
    let error = failed["error"].as_str().unwrap_or_default();
    assert!(error.contains("encrypted with another secret key: restore CHARTER_SECRET_KEY or rotate"), "{error}");
    assert!(receiver.received().is_empty(), "an attempt without a signature is not sent");
    let rotated = moved.admin().post(&format!("{}/rotate_secret", path(&hook)), json!({})).await.record("webhook");
    assert_eq!(moved.admin().post(&test, json!({})).await.record("delivery")["delivered"], true);
    let sent = &receiver.received()[0];
    assert!(secret(&rotated).verify(&sent.body, sent.header("x-service-signature")));
}
