//! `/activities`: tasks, calls, meetings and the like.

mod complete;
mod create;
mod delete;
mod list;
mod show;
mod update;

use serde_json::{Value, json};

use crate::support::Client;

/// Creates an activity with further fields.
async fn created(client: &Client, further: Value) -> Value {
    let mut body = json!({ "subject": "Call back" });
    body.as_object_mut().expect("an object").extend(further.as_object().expect("an object").clone());
    client.post("/activities", json!({ "activity": body })).await.created("activity")
}

/// Creates a member and answers its id.
async fn member(client: &Client, name: &str) -> Value {
    client.post("/members", json!({ "name": name })).await.created("member")["id"].clone()
}

fn path(activity: &Value) -> String {
    format!("/activities/{}", activity["id"])
}

/// The fields of an activity, sorted.
const FIELDS: [&str; 21] = [
    "activity_status_name",
    "activity_type_name",
    "completed",
    "created_at",
    "custom_fields",
    "description",
    "ends_at",
    "id",
    "location",
    "owned_by",
    "participants",
    "priority",
    "regarding_id",
    "regarding_type",
    "starts_at",
    "status_id",
    "subject",
    "time_status",
    "time_status_name",
    "type_id",
    "updated_at",
];
