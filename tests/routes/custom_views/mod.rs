//! `/custom_views`: saved views as records. `query/view.rs` tests their effect on lists.

mod clone;
mod create;
mod record;

use serde_json::{Value, json};

use crate::support::Client;

/// A body with what is required, and further fields.
fn view(further: Value) -> Value {
    let mut body = json!({ "name": "Mine", "entity_type": "products", "columns": ["name"] });
    let fields = further.as_object().expect("an object").clone();
    body.as_object_mut().expect("an object").extend(fields);
    body
}

async fn created(client: &Client, further: Value) -> Value {
    client.post("/custom_views", view(further)).await.created("custom_view")
}

fn path(view: &Value) -> String {
    format!("/custom_views/{}", view["id"])
}
