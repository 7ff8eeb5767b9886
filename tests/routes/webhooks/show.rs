//! `GET /webhooks/{id}`: everything but the secret.

use serde_json::json;

use super::{path, webhook};
use crate::support::{Server, on_both};

on_both!(showing_a_webhook_omits_its_secret, missing_webhook_is_not_found);

async fn showing_a_webhook_omits_its_secret(server: Server) {
    let mut created = webhook(&server.admin(), "https://example.com/", &["*"]).await;
    let answer = server.admin().get(&path(&created)).await;
    created.as_object_mut().expect("an object").remove("secret");
    assert_eq!(answer.record("webhook"), created);
    assert!(!answer.text.contains("secret"));
}

async fn missing_webhook_is_not_found(server: Server) {
    for path in ["/webhooks/99", "/webhooks/x", "/webhooks/99/logs"] {
        server.admin().get(path).await.refused(404, "not_found");
    }
    for action in ["test", "recover", "rotate_secret"] {
        server.admin().post(&format!("/webhooks/99/{action}"), json!({})).await.refused(404, "not_found");
    }
}
