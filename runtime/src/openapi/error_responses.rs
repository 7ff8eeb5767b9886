//! Schema of errors, and a response with codes and headers for each status.

use std::collections::BTreeMap;

use serde_json::json;

use super::header;
use super::node::{Node, reference};
use charter_core::error::CODES;

/// The response to a URL that is too long, which long filters can cause.
const URL_TOO_LONG: &str = "AddressTooLong";

/// The response 304.
pub(super) const NOT_MODIFIED: &str = "NotModified";

/// Codes by status.
fn by_status() -> BTreeMap<u16, Vec<(&'static str, &'static str)>> {
    let mut statuses: BTreeMap<u16, Vec<_>> = BTreeMap::new();
    for (code, status, meaning) in CODES {
        statuses.entry(*status).or_default().push((*code, *meaning));
    }
    statuses
}

/// The schema of all errors.
pub(super) fn schema() -> Node {
    let codes: Vec<&str> = CODES.iter().map(|(code, ..)| *code).collect();
    json!({
        "type": "object",
        "description": "The body of all error responses.",
        "required": ["message", "code"],
        "properties": {
            "message": { "type": "string", "description": "The error for people.", "examples": ["Not found."] },
            "code": { "type": "string", "description": "The error for programs. The meaning of a code does not change.", "enum": codes, "examples": ["not_found"] },
            "errors": {
                "type": "object",
                "description": "The problems by field or parameter. Each text completes \"this value ...\".",
                "additionalProperties": { "type": "array", "items": { "type": "string" }, "minItems": 1 },
                "examples": [{ "name": ["is required"] }],
            },
            "state": {
                "type": "string",
                "description": "With the code `transition_refused`: the current state of the record.",
                "examples": ["open"],
            },
        },
    })
    .into()
}

/// A shared response for each status.
pub(super) fn responses() -> Node {
    let mut responses = Node::object();
    for (status, codes) in by_status() {
        let meanings: Vec<&str> = codes.iter().map(|(_, meaning)| *meaning).collect();
        let names: Vec<&str> = codes.iter().map(|(code, _)| *code).collect();
        let mut restricted = json!({ "type": "object", "properties": { "code": { "enum": names } } });
        let mut example = json!({ "message": meanings[0], "code": names[0] });
        if status == 422 {
            restricted["required"] = json!(["errors"]);
            example["errors"] = json!({ "name": ["is required"] });
        }
        let schema = Node::object().with("allOf", [reference("schemas", "Error"), restricted.into()]);
        let content = Node::object().with("schema", schema).with("example", example);
        let response = Node::object().with("description", meanings.join(" ")).with("headers", header::of_error(status));
        responses.set(name(status), response.with("content", Node::object().with("application/json", content)));
    }
    let same = Node::object().with("description", "The client has the current version. No body.");
    responses.set(NOT_MODIFIED, same.with("headers", header::of_response(&[charter_core::header::ETAG])));
    // Sent by the HTTP library, without a body.
    let long = json!({ "description": "The URL with its query string is too long. No body." });
    responses.with(URL_TOO_LONG, long)
}

fn name(status: u16) -> String {
    format!("Error{status}")
}

/// Adds the errors with these statuses to the responses of an operation.
pub(super) fn add(responses: &mut Node, statuses: &[u16]) {
    let known = by_status();
    let mut statuses: Vec<u16> = statuses.iter().copied().filter(|status| known.contains_key(status)).collect();
    statuses.sort_unstable();
    for status in statuses {
        responses.set(status.to_string(), reference("responses", &name(status)));
    }
}

/// Adds the responses to a URL or a request head that is too long.
pub(super) fn add_too_long(responses: &mut Node) {
    for status in ["414", "431"] {
        responses.set(status, reference("responses", URL_TOO_LONG));
    }
}

/// The error codes as a Markdown table.
pub(super) fn table() -> String {
    let mut table = String::from("| Code | Status | Meaning |\n|---|---|---|\n");
    for (code, status, meaning) in CODES {
        table.push_str(&format!("| `{code}` | {status} | {meaning} |\n"));
    }
    table
}
