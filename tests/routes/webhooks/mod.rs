//! `/webhooks`: subscriptions, deliveries and logs.

mod create;
mod delete;
mod events;
mod idempotency;
mod list;
mod logs;
mod recover;
mod resend;
mod rotate_secret;
mod sealed_secret;
mod show;
mod test;
mod update;

use charter_runtime::webhook::UrlPolicy;
use serde_json::{Value, json};

use crate::support::{Client, Server};

/// A server that may deliver to this machine over http.
async fn delivering(server: &Server) -> Server {
    let networks = vec!["127.0.0.0/8".parse().expect("a network")];
    let policy = UrlPolicy { allow_http: true, networks };
    server
        .configured(|config| {
            config.webhook_policy = policy;
            config.webhook_concurrency = 8;
        })
        .await
}

/// A webhook of this client.
async fn webhook(client: &Client, url: &str, events: &[&str]) -> Value {
    client.post("/webhooks", json!({ "url": url, "events": events })).await.created("webhook")
}

fn path(webhook: &Value) -> String {
    format!("/webhooks/{}", webhook["id"])
}

/// Emits `role.created`.
async fn role(server: &Server, name: &str) {
    server.admin().post("/roles", json!({ "name": name })).await.created("role");
}
