//! Descriptions of the headers of requests, responses and deliveries.

use serde_json::{Value, json};

use super::node::{Node, reference};
use charter_core::catalog::Catalog;
use charter_core::error::CODES;
use charter_core::header::*;
use charter_core::meta::Operation;
use charter_core::ops::RouteOperation;
use charter_core::ops::idempotency::MAX_KEY_CHARACTERS;
use charter_core::trace::TRACEPARENT;
use charter_platform::webhook::signature;

/// Headers of all responses.
pub(super) const COMMON_HEADERS: [&str; 3] = [REQUEST_ID, TYPE_OPTIONS, TRANSPORT_SECURITY];
/// Further headers of all responses to rate-limited requests.
const COUNTED: [&str; 4] = [CACHE_CONTROL, RATE_LIMIT, RATE_LIMIT_REMAINING, RATE_LIMIT_RESET];
/// Headers of responses to requests that use a deprecated part.
const DEPRECATION_HEADERS: [&str; 2] = [DEPRECATION, SUNSET];
/// Further headers of all responses with a file.
pub(super) const FILE_HEADERS: [&str; 4] = [ETAG, CACHE_CONTROL, SECURITY_POLICY, REFERRER_POLICY];

/// Component for `If-None-Match` of writes, which has another meaning than that of reads.
const IF_NONE_MATCH_OF_WRITE: &str = "If-None-Match-To-Write";

/// The schema of `*` or a list of entity tags, which may have empty elements (RFC 9110, section 5.6.1).
pub(super) fn tags() -> Value {
    let tag = "(W/)?\"[ !#-~]*\"";
    json!({ "type": "string", "pattern": format!("^(\\*|[ ,]*{tag}( *,[ ,]*({tag})?)*)$") })
}

/// The response headers: name, description, schema and example.
fn response_headers() -> Vec<(&'static str, &'static str, Value, Value)> {
    let text = || json!({ "type": "string" });
    let only = |value: &str| json!({ "type": "string", "const": value });
    let count = || json!({ "type": "integer", "minimum": 0 });
    vec![
        (REQUEST_ID, "The id of the request, which is also in the log.", text(), json!("01KAK4Q3ZP9T0V5D8M2R6W7XYZ")),
        (RATE_LIMIT, "The caller's limit of requests per minute. Absent if there is no limit.", count(), json!(1000)),
        (RATE_LIMIT_REMAINING, "Remaining requests in this minute.", count(), json!(999)),
        (RATE_LIMIT_RESET, "Seconds until the limit is reset.", count(), json!(60)),
        (ETAG, "The version of the response, for `If-None-Match` and `If-Match`.", text(), json!("\"5f2d41\"")),
        (LOCATION, "The path of the new record.", text(), json!("/api/v1/users/1")),
        (
            LINK,
            "The first and the next page of a list with `cursor`.",
            text(),
            json!("</api/v1/users?cursor=>; rel=\"first\""),
        ),
        (
            VARY,
            "The request headers on which the response depends, for caches: `Accept` for lists, and `Accept-Encoding` if the \
             response can be compressed.",
            text(),
            json!("Accept"),
        ),
        (
            REPLAYED,
            "The response is the stored one of an earlier request with this `Idempotency-Key`.",
            only("true"),
            json!("true"),
        ),
        (
            DEPRECATION,
            "The request uses something deprecated since this Unix time (RFC 9745).",
            json!({ "type": "string", "pattern": "^@[0-9]+$" }),
            json!("@1774051200"),
        ),
        (
            SUNSET,
            "The date from which the deprecated part may be removed (RFC 8594).",
            text(),
            json!("Sun, 21 Mar 2027 00:00:00 GMT"),
        ),
        (RETRY_AFTER, "Seconds to wait before a retry.", count(), json!(5)),
        (ALLOW, "The methods that the path supports.", text(), json!("GET, POST")),
        (
            AUTHENTICATE,
            "The authentication scheme, and the reason of the refusal.",
            text(),
            json!("Bearer realm=\"charter\""),
        ),
        (ACCEPT_RANGES, "Byte ranges of the file can be requested.", only("bytes"), json!("bytes")),
        (CONTENT_RANGE, "The range of the response, and the length of the file.", text(), json!("bytes 0-99/2048")),
        (
            DISPOSITION,
            "The name of the file, and whether a browser should display or save it.",
            text(),
            json!("inline; filename=\"a.png\""),
        ),
        (CACHE_CONTROL, "Which caches may store the response.", text(), json!("private")),
        (SECURITY_POLICY, "Forbids scripts and other active content.", text(), json!("default-src 'none'; sandbox")),
        (REFERRER_POLICY, "The link is not sent to other servers.", only("no-referrer"), json!("no-referrer")),
        (
            TRANSPORT_SECURITY,
            "Browsers must use HTTPS for a year. Absent if the server is not reached over HTTPS.",
            only(TRANSPORT_SECURITY_VALUE),
            json!(TRANSPORT_SECURITY_VALUE),
        ),
        (TYPE_OPTIONS, "Browsers must not guess another media type.", only("nosniff"), json!("nosniff")),
    ]
}

/// Shared response headers. Those for deprecated parts are left out if nothing is deprecated.
pub(super) fn components(catalog: &Catalog) -> Node {
    let deprecates = catalog.entries().iter().any(|entry| !entry.meta.deprecated.is_empty());
    let used = response_headers().into_iter().filter(|row| deprecates || !DEPRECATION_HEADERS.contains(&row.0));
    used.fold(Node::object(), |headers, (name, description, schema, example)| {
        headers.with(name, json!({ "description": description, "schema": schema, "example": example }))
    })
}

/// References to these headers.
pub(super) fn of(names: &[&str]) -> Node {
    names.iter().fold(Node::object(), |headers, name| headers.with(*name, reference("headers", name)))
}

/// The headers of a response below `/api/v1`: these, and the common ones.
pub(super) fn of_response(names: &[&str]) -> Node {
    of(&[names, &[VARY], &COUNTED, &COMMON_HEADERS].concat())
}

/// The headers of a successful response.
pub(super) fn of_success(call: RouteOperation, created: bool, deprecated: bool) -> Node {
    let mut names = Vec::new();
    names.extend(created.then_some(LOCATION));
    if let RouteOperation::Operation(Operation::List) = call {
        names.extend([LINK, DISPOSITION]);
    }
    names.extend(call.answers_tag().then_some(ETAG));
    names.extend(call.accepts_idempotency_key().then_some(REPLAYED));
    if deprecated {
        names.extend(DEPRECATION_HEADERS);
    }
    of_response(&names)
}

/// The headers of an error response: those of its codes.
pub(super) fn of_error(status: u16) -> Node {
    let mut names: Vec<&str> = Vec::new();
    for (code, ..) in CODES.iter().filter(|row| row.1 == status) {
        names.extend(for_error_code(code).filter(|name| !names.contains(name)));
    }
    of_response(&names)
}

/// The request headers: component, name, description, schema and example.
fn request_headers() -> Vec<(&'static str, &'static str, &'static str, Value, Value)> {
    let (text, tag) = (|| json!({ "type": "string" }), || json!("\"5f2d41\""));
    let key = json!({ "type": "string", "minLength": 1, "maxLength": MAX_KEY_CHARACTERS, "pattern": "^[!-~]+$" });
    let key_text = "A unique text for each operation. Within 24 hours, a repeated request with the same key is performed only once \
                and gets the same response; a different request with the key is 422. A concurrent request waits for the first \
                one, and is 409 if that takes too long.";
    let match_text =
        "Fails with 412 unless the record has one of these versions, which are `ETag`s of earlier responses.";
    let none_match_text = "`ETag`s of earlier responses. If the response has not changed, it is 304 without a body.";
    let range_text = "The requested byte range of the file. An invalid header is ignored.";
    let if_range_text =
        "The `ETag` of the file. If the file has another one, the whole file is sent instead of the range.";
    vec![
        (IF_MATCH, IF_MATCH, match_text, tags(), tag()),
        (IF_NONE_MATCH, IF_NONE_MATCH, none_match_text, tags(), tag()),
        (
            IF_NONE_MATCH_OF_WRITE,
            IF_NONE_MATCH,
            "Fails with 412 if the record has one of these versions.",
            tags(),
            tag(),
        ),
        (IDEMPOTENCY_KEY, IDEMPOTENCY_KEY, key_text, key, json!("7b0f2c1e-order-17")),
        (RANGE, RANGE, range_text, text(), json!("bytes=0-99")),
        (IF_RANGE, IF_RANGE, if_range_text, text(), tag()),
    ]
}

/// Shared headers of requests and deliveries.
pub(super) fn parameters() -> Node {
    let mut parameters = Node::object();
    let parameter = |name, description, schema, example| json!({ "name": name, "in": "header", "description": description, "schema": schema, "example": example });
    for (component, name, description, schema, example) in request_headers() {
        parameters.set(component, parameter(name, description, schema, example));
    }
    for (name, description, required, schema, example) in delivery_headers() {
        parameters.set(name, Node::from(parameter(name, description, schema, example)).with("required", required));
    }
    parameters
}

/// The headers of a delivery: name, description, whether it is always present, schema and example.
fn delivery_headers() -> Vec<(&'static str, &'static str, bool, Value, Value)> {
    let text = || json!({ "type": "string" });
    let matching = |pattern: &str| json!({ "type": "string", "pattern": pattern });
    let hex = || matching("^[0-9a-f]{64}$");
    let digest = "5d41402abc4b2a76b9719d911017c592ae2b7a0d4e1f6c8b93a05e7f18d264ca";
    let standard = "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=";
    vec![
        (signature::EVENT, "The name of the event.", true, text(), json!("user.created")),
        (
            signature::ATTEMPT,
            "Number of the attempt, from 1.",
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
            "The same with the previous secret, while it is still valid after a rotation.",
            false,
            hex(),
            json!(digest),
        ),
        (signature::ID, "The id of the delivery, the same for all attempts.", true, text(), json!("msg_4f1c")),
        (
            signature::TIMESTAMP,
            "Unix time of the attempt.",
            true,
            json!({ "type": "integer", "minimum": 0 }),
            json!(1_774_087_200),
        ),
        (
            signature::STANDARD_SIGNATURE,
            "The signature of the Standard Webhooks specification. After a rotation, a second signature with the previous \
             secret follows after a space.",
            true,
            matching("^v1,[A-Za-z0-9+/=]+( v1,[A-Za-z0-9+/=]+)?$"),
            json!(standard),
        ),
        (
            TRACEPARENT,
            "The trace of the request that caused the event, if it had a `traceparent` (W3C Trace Context). Each attempt has \
             its own parent id.",
            false,
            matching("^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$"),
            json!("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
        ),
    ]
}

/// The request headers of an operation.
pub(super) fn of_call(call: RouteOperation) -> Vec<Node> {
    let mut names = Vec::new();
    if call.is_list() {
        names.push(IF_NONE_MATCH);
    } else if call.has_conditions() {
        names.extend([IF_MATCH, if call.reads() { IF_NONE_MATCH } else { IF_NONE_MATCH_OF_WRITE }]);
    }
    names.extend(call.accepts_idempotency_key().then_some(IDEMPOTENCY_KEY));
    references(&names)
}

/// The headers of a delivery.
pub(super) fn of_delivery() -> Vec<Node> {
    references(&delivery_headers().iter().map(|row| row.0).collect::<Vec<_>>())
}

/// References to these parameters.
pub(super) fn references(names: &[&str]) -> Vec<Node> {
    names.iter().map(|name| reference("parameters", name)).collect()
}
