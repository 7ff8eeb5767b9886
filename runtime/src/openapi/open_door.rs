//! Text and response of an operation that callers without a token may request.

use charter_core::catalog::Entry;

use super::node::Node;
use super::request_schema;

/// The sentences on such requests, after others. `door` has the fields and the limit.
pub(super) fn without_token(door: &str) -> String {
    format!(
        " Without a token, anybody may create one with these fields, as often as the rate allows for each client address: {door}. \
         The answer then has only the `id`, and an `Idempotency-Key` has no effect."
    )
}

/// The schema of the response to a create: `record`, or the `id` alone if callers without a token may create one.
pub(super) fn answer(entry: &Entry, record: Node) -> Node {
    if entry.meta.public.is_none() {
        return record;
    }
    let name = entry.meta.name;
    let id = Node::object().with("type", "integer").with("format", "int64");
    let id = request_schema::object(Node::object().with("id", id), &["id"]);
    let without_token = request_schema::object(Node::object().with(name, id), &[name]);
    Node::object()
        .with("anyOf", [record, without_token.with("description", "The response to a request without a token.")])
}
