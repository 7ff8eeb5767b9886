//! `/exchange_rates`: rates between two currencies with a start time, and conversions.

mod convert;
mod create;
mod list;
mod record;

use serde_json::{Value, json};

use crate::support::Client;

/// A body for the rate from one currency to another.
fn pair(source: &str, target: &str, rate: &str) -> Value {
    json!({ "source_currency_code": source, "target_currency_code": target, "rate": rate })
}

/// The same with further fields.
fn with(mut body: Value, further: Value) -> Value {
    let fields = further.as_object().expect("an object").clone();
    body.as_object_mut().expect("an object").extend(fields);
    body
}

async fn created(client: &Client, body: Value) -> Value {
    client.post("/exchange_rates", body).await.created("exchange_rate")
}
