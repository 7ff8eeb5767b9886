//! `/tokens`: access tokens, whose values are shown once.

mod create;
mod record;

use serde_json::{Value, json};

use crate::support::Client;

async fn created(client: &Client, abilities: &[&str]) -> Value {
    client.post("/tokens", json!({ "name": "Mine", "abilities": abilities })).await.created("token")
}

fn path(token: &Value) -> String {
    format!("/tokens/{}", token["id"])
}

fn value(token: &Value) -> &str {
    token["value"].as_str().expect("a new token has its value")
}
