//! The errors of the contract: one form, and for each status an answer with its codes and headers.

use std::collections::BTreeMap;

use serde_json::json;

use super::header;
use super::node::{Node, reference};
use crate::error::CODES;

/// The answer to an address that is too long, as the query string of a list may be.
const TOO_LONG: &str = "AddressTooLong";

/// The answer without a body to who has the rest.
pub const NOT_MODIFIED: &str = "NotModified";

/// Codes by status.
fn by_status() -> BTreeMap<u16, Vec<(&'static str, &'static str)>> {
    let mut statuses: BTreeMap<u16, Vec<_>> = BTreeMap::new();
    for (code, status, meaning) in CODES {
        statuses.entry(*status).or_default().push((*code, *meaning));
    }
    statuses
}

/// The form of every error.
pub fn schema() -> Node {
    let codes: Vec<&str> = CODES.iter().map(|(code, ..)| *code).collect();
    json!({
        "type": "object",
        "description": "What every answer is that is not a success.",
        "required": ["message", "code"],
        "properties": {
            "message": { "type": "string", "description": "What went wrong, for a person.", "examples": ["Not found."] },
            "code": { "type": "string", "description": "What went wrong, for a program; a code keeps its meaning.", "enum": codes, "examples": ["not_found"] },
            "errors": {
                "type": "object",
                "description": "The problems by field or parameter, each text completing \"this value ...\".",
                "additionalProperties": { "type": "array", "items": { "type": "string" }, "minItems": 1 },
                "examples": [{ "name": ["is required"] }],
            },
        },
    })
    .into()
}

/// An answer for each status, to be referred to.
pub fn responses() -> Node {
    let mut responses = Node::object();
    for (status, codes) in by_status() {
        let meanings: Vec<&str> = codes.iter().map(|(_, meaning)| *meaning).collect();
        let names: Vec<&str> = codes.iter().map(|(code, _)| *code).collect();
        let mut narrowed = json!({ "type": "object", "properties": { "code": { "enum": names } } });
        let mut example = json!({ "message": meanings[0], "code": names[0] });
        if status == 422 {
            narrowed["required"] = json!(["errors"]);
            example["errors"] = json!({ "name": ["is required"] });
        }
        let schema = Node::object().with("allOf", [reference("schemas", "Error"), narrowed.into()]);
        let content = Node::object().with("schema", schema).with("example", example);
        let response = Node::object().with("description", meanings.join(" ")).with("headers", header::of_error(status));
        responses.set(name(status), response.with("content", Node::object().with("application/json", content)));
    }
    let same = Node::object().with("description", "The client has this very answer already. There is no body.");
    responses.set(NOT_MODIFIED, same.with("headers", header::of_answer(&[crate::header::ETAG])));
    // What is refused before it is a request has no body.
    let long = json!({ "description": "The address, with its query string, is longer than the server takes. There is no body." });
    responses.with(TOO_LONG, long)
}

fn name(status: u16) -> String {
    format!("Error{status}")
}

/// Adds the errors of these statuses to an operation's answers.
pub fn add(responses: &mut Node, statuses: &[u16]) {
    let known = by_status();
    let mut statuses: Vec<u16> = statuses.iter().copied().filter(|status| known.contains_key(status)).collect();
    statuses.sort_unstable();
    for status in statuses {
        responses.set(status.to_string(), reference("responses", &name(status)));
    }
}

/// Adds the answers to an address that is too long: by itself, and with all that the head of a request holds.
pub fn add_too_long(responses: &mut Node) {
    for status in ["414", "431"] {
        responses.set(status, reference("responses", TOO_LONG));
    }
}

/// The table of codes, for people.
pub fn table() -> String {
    let mut table = String::from("| Code | Status | Meaning |\n|---|---|---|\n");
    for (code, status, meaning) in CODES {
        table.push_str(&format!("| `{code}` | {status} | {meaning} |\n"));
    }
    table
}
