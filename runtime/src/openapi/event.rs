//! Webhook events: payload and headers of each delivery.

use serde_json::{Value, json};

use super::example::Examples;
use super::node::{Node, reference};
use super::{english, header, response_schema};
use charter_core::catalog::{Catalog, Entry};
use charter_core::meta::Access;
use charter_platform::webhook::redelivery;

/// Name of the schema for records that are too long to be sent.
pub(super) const ONLY_ID: &str = "OnlyId";

/// All events by name, and the event of a test delivery.
pub(super) fn webhooks(catalog: &Catalog) -> Node {
    let mut webhooks = Node::object();
    for entry in catalog.entries() {
        for name in entry.events() {
            let what = name.rsplit('.').next().unwrap_or_default();
            let summary = format!("{} was {what}", english::capitalize(&english::record_with_article(entry.meta)));
            let described = format!("Sent to the webhooks that subscribe to `{name}`.");
            webhooks.set(name.clone(), message(entry, &name, &summary, &described, data(catalog, entry)));
        }
    }
    let of_test =
        |entry: &&Entry| redelivery::TEST_EVENT.split_once('.').is_some_and(|(name, _)| name == entry.meta.name);
    if let Some(entry) = catalog.entries().iter().find(of_test) {
        let id = json!({ "type": "object", "description": "The webhook.", "required": ["id"], "properties": {
            "id": { "type": "integer", "format": "int64", "description": "Its id." },
        } });
        let summary = format!("{} is tested", english::capitalize(&english::record_with_article(entry.meta)));
        let described = "Sent once for a test request. Webhooks do not subscribe to it.";
        let data = (under(entry.meta.name, id.into()), json!({ entry.meta.name: { "id": 1 } }));
        webhooks.set(redelivery::TEST_EVENT, message(entry, redelivery::TEST_EVENT, &summary, described, data));
    }
    webhooks
}

/// The data of an event: the record, or the changes of a singleton.
fn data(catalog: &Catalog, entry: &Entry) -> (Node, Value) {
    let (key, schema, example) = if entry.meta.singleton {
        let change = json!({
            "type": "object",
            "required": ["old", "new"],
            "properties": {
                "old": { "description": "The previous value; null if there was none." },
                "new": { "description": "The new value; null if there is none." },
            },
        });
        let changes = Node::object()
            .with("type", "object")
            .with("description", "The changed fields with their old and new values, without secrets.")
            .with("additionalProperties", change);
        let field = entry.meta.fields.iter().find(|field| field.access == Access::Writable);
        let changed = field.map(|field| (field.name.to_string(), Examples { catalog }.of_field(entry, field)));
        let changed = changed.map(|(name, value)| (name, json!({ "old": null, "new": value })));
        ("changes", changes, Value::Object(changed.into_iter().collect()))
    } else {
        let record = Examples { catalog }.record(entry, |_| true);
        let either = [reference("schemas", &response_schema::record_name(entry)), reference("schemas", ONLY_ID)];
        (
            entry.meta.name,
            Node::object().with("anyOf", either).with("description", "The record, as `GET` returns it."),
            record,
        )
    };
    (under(key, schema), json!({ key: example }))
}

/// An object with one key.
fn under(key: &str, schema: Node) -> Node {
    Node::object()
        .with("type", "object")
        .with("description", "The data of the event.")
        .with("required", [key])
        .with("properties", Node::object().with(key, schema))
}

/// The schema of a record that is too long to be sent.
pub(super) fn id_only_record() -> Node {
    json!({
        "type": "object",
        "description": "The id of a record that is too long to be sent, with `\"truncated\": true`. Fetch the record with `GET`.",
        "required": ["id"],
        "properties": { "id": { "type": "integer", "format": "int64", "description": "Its id.", "examples": [1] } },
        "additionalProperties": {
            "type": "integer",
            "format": "int64",
            "description": "The id of the owner, in the owner field of the record.",
        },
    })
    .into()
}

fn message(entry: &Entry, name: &str, summary: &str, described: &str, (data, example): (Node, Value)) -> Node {
    let properties = Node::object()
        .with("event", json!({ "type": "string", "const": name, "description": "The name of the event." }))
        .with(
            "timestamp",
            json!({ "type": "string", "format": "date-time", "description": "When it happened, in UTC." }),
        )
        .with("data", data)
        .with(
            "truncated",
            json!({ "type": "boolean", "const": true, "description": "Present if the data was too long. It is reduced to ids." }),
        );
    let schema = Node::object()
        .with("type", "object")
        .with("required", ["event", "timestamp", "data"])
        .with("properties", properties);
    let example = json!({
        "event": name,
        "timestamp": "2026-03-21T10:00:00.000Z",
        "data": example,
    });
    let content =
        Node::object().with("application/json", Node::object().with("schema", schema).with("example", example));
    let responses = Node::object()
        .with("2XX", json!({ "description": "Received. After any other status the delivery is retried." }));
    let body = Node::object().with("description", "The event.").with("required", true).with("content", content);
    let operation = Node::object()
        .with("operationId", format!("on_{}", name.replace('.', "_")))
        .with("tags", [english::tag(entry.meta)])
        .with("summary", summary)
        .with("description", described)
        .with("security", Vec::<Node>::new())
        .with("parameters", header::of_delivery())
        .with("requestBody", body)
        .with("responses", responses);
    Node::object().with("post", operation)
}
