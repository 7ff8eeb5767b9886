//! The headers beside parameters and bodies: what requests may bring, what answers carry, what comes with a delivery.

use serde_json::{Value, json};

use super::node::{Node, reference};
use crate::catalog::Catalog;
use crate::error::CODES;
use crate::header::*;
use crate::idempotency::LONGEST_KEY;
use crate::meta::Operation;
use crate::ops::RouteOperation;
use crate::trace::TRACEPARENT;
use crate::webhook::signature;

/// What every answer to a request that is counted carries.
const COUNTED: [&str; 5] = [REQUEST_ID, CACHE_CONTROL, RATE_LIMIT, RATE_LIMIT_REMAINING, RATE_LIMIT_RESET];
/// What the answer to a request that uses something deprecated carries.
const OF_DEPRECATED: [&str; 2] = [DEPRECATION, SUNSET];
/// What every answer with a file says of it, and of what a browser may do with it.
pub const OF_FILE: [&str; 6] = [ETAG, CACHE_CONTROL, SECURITY_POLICY, REFERRER_POLICY, TYPE_OPTIONS, REQUEST_ID];

/// The component that describes `If-None-Match` where something is changed: it refuses what it lets pass on a read.
const UNLESS: &str = "If-None-Match-To-Write";

/// `*`, or entity tags with commas between them. A list may hold empty elements (RFC 9110, section 5.6.1).
pub fn tags() -> Value {
    let tag = "(W/)?\"[ !#-~]*\"";
    json!({ "type": "string", "pattern": format!("^(\\*|[ ,]*{tag}( *,[ ,]*({tag})?)*)$") })
}

/// Each header of an answer: what it tells, its schema, an example.
fn answered() -> Vec<(&'static str, &'static str, Value, Value)> {
    let text = || json!({ "type": "string" });
    let only = |value: &str| json!({ "type": "string", "const": value });
    let count = || json!({ "type": "integer", "minimum": 0 });
    vec![
        (REQUEST_ID, "The id of the request, by which the log knows it.", text(), json!("01KAK4Q3ZP9T0V5D8M2R6W7XYZ")),
        (
            RATE_LIMIT,
            "How many requests a minute the caller has. Absent where there is no limit.",
            count(),
            json!(1000),
        ),
        (RATE_LIMIT_REMAINING, "How many of them are left in this minute.", count(), json!(999)),
        (RATE_LIMIT_RESET, "After so many seconds the count begins anew.", count(), json!(60)),
        (ETAG, "The version of what is answered, for `If-None-Match` and `If-Match`.", text(), json!("\"5f2d41\"")),
        (LOCATION, "The path of the new record.", text(), json!("/api/v1/users/1")),
        (
            LINK,
            "Where the first and the next page are, of a list that is read by cursors.",
            text(),
            json!("</api/v1/users?cursor=>; rel=\"first\""),
        ),
        (
            VARY,
            "Which headers of the request decide the form of the answer, so that caches keep the forms apart: `Accept` of a \
             list, and `Accept-Encoding` where it decides whether the answer is compressed.",
            text(),
            json!("Accept"),
        ),
        (
            REPLAYED,
            "It is the kept answer to an earlier request with this `Idempotency-Key`.",
            only("true"),
            json!("true"),
        ),
        (
            DEPRECATION,
            "Something that the request uses is to go: since when it is deprecated, in seconds since 1970 (RFC 9745).",
            json!({ "type": "string", "pattern": "^@[0-9]+$" }),
            json!("@1774051200"),
        ),
        (
            SUNSET,
            "From when on what the request uses may be gone (RFC 8594).",
            text(),
            json!("Sun, 21 Mar 2027 00:00:00 GMT"),
        ),
        (RETRY_AFTER, "After so many seconds it may be tried again.", count(), json!(5)),
        (ALLOW, "The methods that the path has.", text(), json!("GET, POST")),
        (AUTHENTICATE, "How to authenticate, and what is missing.", text(), json!("Bearer realm=\"charter\"")),
        (ACCEPT_RANGES, "A part of the file can be asked for.", only("bytes"), json!("bytes")),
        (CONTENT_RANGE, "Which part of how many bytes this is.", text(), json!("bytes 0-99/2048")),
        (
            DISPOSITION,
            "The name of the file, and whether a browser may show it.",
            text(),
            json!("inline; filename=\"a.png\""),
        ),
        (CACHE_CONTROL, "Who may keep it.", text(), json!("private")),
        (SECURITY_POLICY, "Nothing in it is to be run.", text(), json!("default-src 'none'; sandbox")),
        (REFERRER_POLICY, "The link is told to no other server.", only("no-referrer"), json!("no-referrer")),
        (TYPE_OPTIONS, "Its type is what is said.", only("nosniff"), json!("nosniff")),
    ]
}

/// Every header of an answer, to be referred to; those that tell of what is to go where something is.
pub fn components(catalog: &Catalog) -> Node {
    let deprecates = catalog.entries().iter().any(|entry| !entry.meta.deprecated.is_empty());
    let used = answered().into_iter().filter(|row| deprecates || !OF_DEPRECATED.contains(&row.0));
    used.fold(Node::object(), |headers, (name, told, schema, example)| {
        headers.with(name, json!({ "description": told, "schema": schema, "example": example }))
    })
}

/// The headers of these names.
pub fn of(names: &[&str]) -> Node {
    names.iter().fold(Node::object(), |headers, name| headers.with(*name, reference("headers", name)))
}

/// The headers of an answer below `/api/v1`: these, and those that each may have.
pub fn of_answer(names: &[&str]) -> Node {
    of(&[names, &[VARY], &COUNTED].concat())
}

/// The headers of the answer to a call that succeeded.
pub fn of_success(call: RouteOperation, takes_key: bool, created: bool, deprecated: bool) -> Node {
    let mut names = Vec::new();
    names.extend(created.then_some(LOCATION));
    if let RouteOperation::Operation(Operation::List) = call {
        names.extend([LINK, DISPOSITION]);
    }
    names.extend(call.answers_tag().then_some(ETAG));
    names.extend(takes_key.then_some(REPLAYED));
    if deprecated {
        names.extend(OF_DEPRECATED);
    }
    of_answer(&names)
}

/// The headers of an error: those that go with its codes.
pub fn of_error(status: u16) -> Node {
    let mut names: Vec<&str> = Vec::new();
    for (code, ..) in CODES.iter().filter(|row| row.1 == status) {
        names.extend(of_code(code).filter(|name| !names.contains(name)));
    }
    of_answer(&names)
}

/// Each header of a request: its component, its name, what it asks, its schema, an example.
fn asked() -> Vec<(&'static str, &'static str, &'static str, Value, Value)> {
    let (text, tag) = (|| json!({ "type": "string" }), || json!("\"5f2d41\""));
    let key = json!({ "type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": "^[!-~]+$" });
    let once = "Any text that is new for each thing to be done. The same request under the same key is carried out once in \
                24 hours, and answered alike; another request under it is 422. One while the first is under way waits for \
                it, and is 409 if that takes too long.";
    let meant = "Only if the record is still in one of these versions, the `ETag`s of earlier answers; else 412.";
    let known = "The `ETag`s of earlier answers: 304 without a body if this one would be the same.";
    let part = "The bytes of the file that are wanted; what is no range of bytes is ignored.";
    let same = "The `ETag` of the file that the range is meant of: the whole is answered if it is another.";
    vec![
        (IF_MATCH, IF_MATCH, meant, tags(), tag()),
        (IF_NONE_MATCH, IF_NONE_MATCH, known, tags(), tag()),
        (UNLESS, IF_NONE_MATCH, "Only if the record is in none of these versions; else 412.", tags(), tag()),
        (IDEMPOTENCY_KEY, IDEMPOTENCY_KEY, once, key, json!("7b0f2c1e-order-17")),
        (RANGE, RANGE, part, text(), json!("bytes=0-99")),
        (IF_RANGE, IF_RANGE, same, text(), tag()),
    ]
}

/// Every header of a request and of a delivery, to be referred to.
pub fn parameters() -> Node {
    let mut parameters = Node::object();
    let parameter = |name, told, schema, example| json!({ "name": name, "in": "header", "description": told, "schema": schema, "example": example });
    for (component, name, told, schema, example) in asked() {
        parameters.set(component, parameter(name, told, schema, example));
    }
    for (name, told, required, schema, example) in delivered() {
        parameters.set(name, Node::from(parameter(name, told, schema, example)).with("required", required));
    }
    parameters
}

/// Each header of a delivery: what it tells, whether every delivery has it, its schema, an example.
fn delivered() -> Vec<(&'static str, &'static str, bool, Value, Value)> {
    let text = || json!({ "type": "string" });
    let matching = |pattern: &str| json!({ "type": "string", "pattern": pattern });
    let hex = || matching("^[0-9a-f]{64}$");
    let digest = "5d41402abc4b2a76b9719d911017c592ae2b7a0d4e1f6c8b93a05e7f18d264ca";
    let standard = "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=";
    vec![
        (signature::EVENT, "The name of the event.", true, text(), json!("user.created")),
        (
            signature::ATTEMPT,
            "Which attempt at this delivery it is, from 1 on.",
            true,
            json!({ "type": "integer", "minimum": 1 }),
            json!(1),
        ),
        (
            signature::SIGNATURE,
            "The HMAC-SHA256 of the body in hexadecimal, keyed with the webhook's secret. Compare it in constant time.",
            true,
            hex(),
            json!(digest),
        ),
        (
            signature::SIGNATURE_PREVIOUS,
            "The same by the secret before, while that is still valid after a rotation.",
            false,
            hex(),
            json!(digest),
        ),
        (signature::ID, "The id of the delivery, the same on every attempt.", true, text(), json!("msg_4f1c")),
        (
            signature::TIMESTAMP,
            "When the attempt was made, in seconds since 1970.",
            true,
            json!({ "type": "integer", "minimum": 0 }),
            json!(1_774_087_200),
        ),
        (
            signature::STANDARD_SIGNATURE,
            "The signature of the Standard Webhooks specification; after a rotation one more by the secret before, behind a \
             space.",
            true,
            matching("^v1,[A-Za-z0-9+/=]+( v1,[A-Za-z0-9+/=]+)?$"),
            json!(standard),
        ),
        (
            TRACEPARENT,
            "The trace of the request that caused the event, where that had a `traceparent` (W3C Trace Context). Its parent-id \
             is new for each attempt.",
            false,
            matching("^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$"),
            json!("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
        ),
    ]
}

/// What may come with a call.
pub fn of_call(call: RouteOperation, takes_key: bool) -> Vec<Node> {
    let mut names = Vec::new();
    if let RouteOperation::Operation(Operation::List) = call {
        names.push(IF_NONE_MATCH);
    } else if call.has_conditions() {
        names.extend([IF_MATCH, if call.reads() { IF_NONE_MATCH } else { UNLESS }]);
    }
    names.extend(takes_key.then_some(IDEMPOTENCY_KEY));
    refer(&names)
}

/// What comes with a delivery.
pub fn of_delivery() -> Vec<Node> {
    refer(&delivered().iter().map(|row| row.0).collect::<Vec<_>>())
}

/// The parameters of these names.
pub fn refer(names: &[&str]) -> Vec<Node> {
    names.iter().map(|name| reference("parameters", name)).collect()
}
