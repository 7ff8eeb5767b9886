//! Verification of webhook deliveries: one from a server, and the test vectors of `docs/webhooks.md`.

use charter_codegen::client::Language;
use charter_runtime::webhook::UrlPolicy;
use serde_json::json;

use crate::support::{Receiver, Server, TypedClient, on_both};

async fn verifies_deliveries(server: Server, language: Language) {
    let networks = vec!["127.0.0.0/8".parse().expect("a network")];
    let policy = UrlPolicy { allow_http: true, networks };
    let server = server.configured(|config| config.webhook_policy = policy).await;
    let (admin, receiver) = (server.admin(), Receiver::answering(200).await);
    let hook = json!({ "url": receiver.url(), "events": ["*"] });
    let hook = admin.post("/webhooks", hook).await.created("webhook");
    admin.post(&format!("/webhooks/{}/test", hook["id"]), json!({})).await.status(200);
    let sent = receiver.received().pop().expect("a delivery");
    let headers: serde_json::Map<_, _> =
        sent.headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let body = String::from_utf8(sent.body).expect("JSON");
    let delivery = json!({ "secret": hook["secret"], "headers": headers, "body": body }).to_string();

    let client = TypedClient::of(&server, language, &["support", "webhook"]).await;
    client.run("webhook", &server.url(), &[&delivery]).await;
}

async fn typescript_client_verifies_deliveries(server: Server) {
    verifies_deliveries(server, Language::TypeScript).await;
}

async fn python_client_verifies_deliveries(server: Server) {
    verifies_deliveries(server, Language::Python).await;
}

on_both!(clients: typescript_client_verifies_deliveries, python_client_verifies_deliveries);
