//! Response of a list, by media type.

use serde_json::json;

use super::example::Examples;
use super::node::{Node, reference};
use super::operation::{fields_name, json_content};
use super::{english, response_schema};
use charter_core::catalog::Entry;
use charter_core::meta::Shown;
use charter_core::ops::Format;
use charter_core::ops::list::explain;

/// The page, the exports and the query plan.
pub(super) fn content(examples: Examples<'_>, entry: &Entry) -> Node {
    let items = [response_schema::item_name(entry), fields_name(entry)].map(|name| reference("schemas", &name));
    let records = Node::object()
        .with("type", "array")
        .with("description", "The records of the page. With `fields` or `view_id`, they have only the selected fields.")
        .with("items", Node::object().with("anyOf", items));
    let properties = Node::object().with(entry.meta.plural, records).with("meta", reference("schemas", "Meta"));
    let schema = Node::object()
        .with("type", "object")
        .with("required", [entry.meta.plural, "meta"])
        .with("properties", properties);
    let item = examples.record(entry, |field| field.shown == Shown::Always);
    let example = json!({ entry.meta.plural: [item], "meta": { "total": 1, "per_page": 20, "page": 1 } });
    let plan = json!({ "plan": { "conditions": "everything", "order": ["id"], "statements": [] } });
    let plan = Node::object().with("schema", reference("schemas", "Plan")).with("example", plan);
    let records = english::records(entry.meta);
    let all = |format| {
        let (description, example) = match format {
            Format::Csv => ("as CSV (RFC 4180) with a header line", "id\r\n1\r\n"),
            Format::Lines => ("one JSON object per line", "{\"id\":1}\n"),
        };
        let schema =
            Node::object().with("type", "string").with("description", format!("All {records}, {description}."));
        Node::object().with("schema", schema).with("example", example)
    };
    let content = json_content(schema, example);
    let content = Format::ALL.into_iter().fold(content, |content, form| content.with(form.media_type(), all(form)));
    content.with(explain::MEDIA_TYPE, plan)
}
