//! The events that webhooks deliver: each a message that the server sends, with its payload and its headers.

use serde_json::{Value, json};

use super::example::Examples;
use super::node::{Node, reference};
use super::{prose, shown};
use crate::catalog::{Catalog, Entry};
use crate::meta::Access;

/// Every event by name.
pub fn webhooks(catalog: &Catalog) -> Node {
    let mut webhooks = Node::object();
    for entry in catalog.entries() {
        for name in entry.events() {
            let what = name.rsplit('.').next().unwrap_or_default().to_string();
            webhooks.set(name.clone(), message(catalog, entry, &name, &what));
        }
    }
    webhooks
}

/// What it happened to: the record; of a singleton, whose record says little, what changed.
fn data(catalog: &Catalog, entry: &Entry) -> (Node, Value) {
    let (key, schema, example) = if entry.meta.singleton {
        let change = json!({
            "type": "object",
            "required": ["old", "new"],
            "properties": {
                "old": { "description": "The value before; null when there was none." },
                "new": { "description": "The value since; null when there is none." },
            },
        });
        let changes = Node::object()
            .with("type", "object")
            .with(
                "description",
                "The fields that changed, each with its old and its new value; no secret is among them.",
            )
            .with("additionalProperties", change);
        let field = entry.meta.fields.iter().find(|field| field.access == Access::Writable);
        let changed = field.map(|field| (field.name.to_string(), Examples { catalog }.of_field(entry, field)));
        let changed = changed.map(|(name, value)| (name, json!({ "old": null, "new": value })));
        ("changes", changes, Value::Object(changed.into_iter().collect()))
    } else {
        let record = Examples { catalog }.record(entry, |_| true);
        (entry.meta.name, reference("schemas", &shown::record_name(entry)), record)
    };
    let data = Node::object()
        .with("type", "object")
        .with("description", "What it happened to.")
        .with("required", [key])
        .with("properties", Node::object().with(key, schema));
    (data, json!({ key: example }))
}

fn message(catalog: &Catalog, entry: &Entry, name: &str, what: &str) -> Node {
    let one = prose::a_record(entry.meta);
    let (data, example) = data(catalog, entry);
    let properties = Node::object()
        .with("event", json!({ "type": "string", "const": name, "description": "The name of the event." }))
        .with(
            "timestamp",
            json!({ "type": "string", "format": "date-time", "description": "When it happened, in UTC." }),
        )
        .with("data", data);
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
        .with("2XX", json!({ "description": "It was received; with any other answer it is sent again later." }));
    let body = Node::object().with("description", "The event.").with("required", true).with("content", content);
    let operation = Node::object()
        .with("operationId", format!("on_{}", name.replace('.', "_")))
        .with("tags", [prose::tag(entry.meta)])
        .with("summary", format!("{} was {what}", prose::capital(&one)))
        .with("description", format!("Sent to the webhooks that subscribe to `{name}`."))
        .with("security", Vec::<Node>::new())
        .with("requestBody", body)
        .with("responses", responses);
    Node::object().with("post", operation)
}
