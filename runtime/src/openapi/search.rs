//! The operation that searches all resources.

use serde_json::json;

use super::node::Node;
use super::operation::{SCHEMES, json_content};
use super::parameter::{query, separated};
use super::{error_responses, header, service};
use charter_core::catalog::{Catalog, Entry};
use charter_core::ops::API;
use charter_core::ops::search::{DEFAULT_LIMIT, MAX_LIMIT, MAX_PER_RESOURCE, MIN_CHARACTERS, SEARCH};
use charter_core::principal::Principal;
use charter_core::query::{MAX_SEARCH_WORDS, MAX_VALUE_CHARACTERS, search_fields};

/// The parameter `search` of a list, if its records have a text.
pub(super) fn parameter(entry: &Entry) -> Option<Node> {
    let fields: Vec<String> =
        search_fields(entry, &Principal::operator()).iter().map(|field| format!("`{}`", field.name)).collect();
    let description = format!(
        "Words to find in {}, without regard to case: each word must be in one of these fields. Fields that the caller may not \
         read are not searched. Without `sort`, records in which {} begins with the text come first. At most \
         {MAX_SEARCH_WORDS} words.",
        fields.join(", "),
        fields.first()?
    );
    let schema = json!({ "type": "string", "maxLength": MAX_VALUE_CHARACTERS });
    Some(query("search", &description, schema.into(), json!("a")))
}

/// The path and its `GET` operation.
pub(super) fn operation(catalog: &Catalog) -> (String, Node) {
    let searched: Vec<&Entry> = catalog
        .entries()
        .iter()
        .filter(|entry| entry.is_listed() && !entry.is_attached())
        .filter(|entry| !search_fields(entry, &Principal::operator()).is_empty())
        .collect();
    let names: Vec<&str> = searched.iter().map(|entry| entry.meta.plural).collect();
    let text = json!({ "type": "string", "minLength": MIN_CHARACTERS, "maxLength": MAX_VALUE_CHARACTERS });
    let text =
        query("q", "The words to find, as `search` of a list.", text.into(), json!("lamp")).with("required", true);
    let limit = json!({ "type": "integer", "minimum": 1, "default": DEFAULT_LIMIT });
    let described = format!("Limit on the records; at most {MAX_LIMIT}, larger values count as {MAX_LIMIT}.");
    let limit = query("limit", &described, limit.into(), json!(DEFAULT_LIMIT));
    let list = json!({ "type": "array", "items": { "type": "string", "enum": names } });
    let described =
        "The resources to search, by their plural names; by default all that the caller may list, without logs.";
    let resources =
        separated(query("resources", described, list.into(), json!(names.first().map_or(vec![], |n| vec![*n]))));
    let mut responses = Node::object().with(
        "200",
        Node::object()
            .with("description", "The records that were found.")
            .with("headers", header::of_response(&[charter_core::header::CACHE_CONTROL]))
            .with("content", json_content(schema(), example(&names))),
    );
    error_responses::add(&mut responses, &[400, 401, 403, 405, 422, 429, 500, 503]);
    let description = format!(
        "Searches the records of all resources that the caller may list. At most {MAX_PER_RESOURCE} records of each resource are \
         returned: those whose title begins with the text first, then in the order of the resources. It needs no \
         ability of its own."
    );
    let operation = Node::object()
        .with("operationId", SEARCH)
        .with("tags", [service::TAG])
        .with("summary", "Search all resources")
        .with("description", description)
        .with("security", SCHEMES.map(|scheme| json!({ scheme: [] })).to_vec())
        .with("parameters", vec![text, limit, resources])
        .with("responses", responses);
    (format!("{API}/{SEARCH}"), operation)
}

fn schema() -> Node {
    let text = |description: &str, types: serde_json::Value| json!({ "type": types, "description": description });
    json!({
        "type": "object",
        "required": ["data", "meta"],
        "properties": {
            "data": {
                "type": "array",
                "description": "The records that were found.",
                "items": {
                    "type": "object",
                    "required": ["resource", "id", "title", "field", "text", "url"],
                    "properties": {
                        "resource": text("The plural name of the resource.", json!("string")),
                        "id": { "type": "integer", "format": "int64", "description": "The id of the record." },
                        "title": text("The name of the record.", json!("string")),
                        "field": text("The first field that contains a word of the text.", json!(["string", "null"])),
                        "text": text("The text of that field, or the part of it around the word.", json!(["string", "null"])),
                        "url": text("The path of the record; null if the API shows no single records of the resource.", json!(["string", "null"])),
                    },
                },
            },
            "meta": {
                "type": "object",
                "description": "The extent of the search.",
                "required": ["incomplete"],
                "properties": {
                    "incomplete": {
                        "type": "array",
                        "description": "Resources that could not be searched in time.",
                        "items": { "type": "string" },
                    },
                },
            },
        },
    })
    .into()
}

fn example(names: &[&str]) -> serde_json::Value {
    let resource = names.first().copied().unwrap_or_default();
    let url = format!("{API}/{resource}/1");
    let found = json!({ "resource": resource, "id": 1, "title": "Lamp", "field": "name", "text": "Lamp", "url": url });
    json!({ "data": [found], "meta": { "incomplete": [] } })
}
