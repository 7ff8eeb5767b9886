//! Operations without a token: OpenAPI document, health checks, metrics and signed links to files.

use serde_json::{Value, json};

use super::filter::FilterForm;
use super::node::Node;
use super::{english, error_responses, header, path};
use charter_core::catalog::Catalog;
use charter_core::header::*;
use charter_platform::attachment::{self, ObjectKind};

/// The tag of operations without a resource.
pub(super) const TAG: &str = "Service";

/// The `GET` operation of each path.
pub(super) fn operations(catalog: &Catalog) -> Vec<(String, Node)> {
    let mut operations = vec![
        (path(), described()),
        ("/health/live".into(), health("live", "Liveness", "200 while the process runs.")),
        ("/health/ready".into(), health("ready", "Readiness", "200 while the database answers, else 503.")),
        ("/health/metrics".into(), metrics()),
    ];
    if let Some(entry) = catalog.attached() {
        operations.push((format!("{}/{{uuid}}/{{part}}", attachment::PATH), file(&english::tag(entry.meta))));
    }
    operations
}

fn open(id: &str, tag: &str, summary: &str, description: &str) -> Node {
    Node::object()
        .with("operationId", id)
        .with("tags", [tag])
        .with("summary", summary)
        .with("description", format!("{description} Needs no token."))
        .with("security", Vec::<Node>::new())
}

fn response(text: &str, headers: &[&str], content: Value) -> Node {
    Node::object().with("description", text).with("headers", header::of(headers)).with("content", content)
}

fn described() -> Node {
    let summary = "OpenAPI document";
    let schema = json!({ "type": "object", "description": "This OpenAPI document." });
    let example = json!({ "openapi": "3.1.0", "info": { "title": "API", "version": "1" }, "paths": {} });
    let content = json!({ "application/json": { "schema": schema, "example": example } });
    let cached = [&[ETAG, VARY, CACHE_CONTROL], &header::COMMON_HEADERS[..]].concat();
    let mut responses = Node::object()
        .with("200", response(summary, &cached, content))
        .with("304", Node::object().with("description", "Not modified.").with("headers", header::of(&cached)));
    error_responses::add(&mut responses, &[400, 405, 412, 422, 500, 503]);
    let form = json!({
        "name": "filters", "in": "query", "schema": { "type": "string", "enum": [FilterForm::EACH] }, "example": FilterForm::EACH,
        "description": "`each` describes each filter of a list as a parameter, instead of all in one object `q`.",
    });
    let mut parameters = vec![Node::from(form)];
    parameters.extend(header::references(&[IF_MATCH, IF_NONE_MATCH]));
    open("describe_api", TAG, summary, "This OpenAPI document.")
        .with("parameters", parameters)
        .with("responses", responses)
}

fn health(name: &str, summary: &str, description: &str) -> Node {
    let schema = json!({ "type": "object", "description": description });
    let content = json!({ "application/json": { "schema": schema, "example": { "status": name } } });
    let mut responses = Node::object().with("200", response(summary, &header::COMMON_HEADERS, content));
    error_responses::add(&mut responses, &[405, 500, 503]);
    open(&format!("health_{name}"), TAG, summary, description).with("responses", responses)
}

fn metrics() -> Node {
    let text = json!({ "type": "string", "description": "One time series a line." });
    let content = json!({ "text/plain": { "schema": text, "example": "charter_webhook_due 0\n" } });
    let mut responses = Node::object().with("200", response("The metrics.", &header::COMMON_HEADERS, content));
    error_responses::add(&mut responses, &[405, 500, 503]);
    let description = "The metrics of this server in the Prometheus text format: requests, queue, statements, connection pools, caches, background tasks and webhooks.";
    open("health_metrics", TAG, "Metrics", description).with("responses", responses)
}

/// The download of a stored file.
fn file(tag: &str) -> Node {
    let parameter = |place: &str, name: &str, text: &str, schema: Value, example: Value| -> Node {
        json!({ "name": name, "in": place, "required": true, "description": text, "schema": schema, "example": example })
            .into()
    };
    let uuid = "4f1cbe52-6f0e-4b0c-9f3a-2d6f8f0a7c11";
    let mut parameters = vec![
        parameter("path", "uuid", "The UUID of the file.", json!({ "type": "string", "format": "uuid" }), json!(uuid)),
        parameter(
            "path",
            "part",
            "The file or its thumbnail.",
            json!({ "type": "string", "enum": ObjectKind::ALL.map(ObjectKind::name) }),
            json!(ObjectKind::File.name()),
        ),
        parameter(
            "query",
            "expires",
            "Expiry of the link, as Unix time.",
            json!({ "type": "integer", "format": "int64" }),
            json!(1_774_090_800),
        ),
        parameter(
            "query",
            "signature",
            "The signature of the link.",
            json!({ "type": "string", "pattern": "^[0-9a-f]{64}$" }),
            json!("5d41402abc4b2a76b9719d911017c592ae2b7a0d4e1f6c8b93a05e7f18d264ca"),
        ),
    ];
    parameters.extend(header::references(&[RANGE, IF_RANGE, IF_MATCH, IF_NONE_MATCH]));
    // Files of any type have no schema.
    let content = || json!({ "*/*": {} });
    let file = [&header::FILE_HEADERS[..], &header::COMMON_HEADERS].concat();
    let whole = [&[ACCEPT_RANGES, DISPOSITION], &file[..]].concat();
    let part = [&[CONTENT_RANGE], &whole[..]].concat();
    let same = Node::object().with("description", "Not modified.").with("headers", header::of(&file));
    let mut responses = Node::object()
        .with("200", response("The file.", &whole, content()))
        .with("206", response("The requested range of the file.", &part, content()))
        .with("304", same);
    error_responses::add(&mut responses, &[400, 403, 404, 405, 410, 412, 416, 500, 503]);
    let description = "Downloads a stored file by a signed link. The API creates the link each time it shows a record, and the \
                       link is valid for an hour. Do not change it. Browsers display only safe media types, and save \
                       all others.";
    open("read_file", tag, "Download a file", description).with("parameters", parameters).with("responses", responses)
}
