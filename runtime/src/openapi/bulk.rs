//! Bulk writes: request and response bodies.

use serde_json::json;

use super::example::Examples;
use super::node::{Node, reference};
use super::operation::{body_name, created_name, json_content};
use super::request_schema::{self, Write};
use super::{english, header, response_schema};
use charter_core::catalog::{Catalog, Entry};
use charter_core::meta::Operation;
use charter_core::ops::RouteOperation;
use charter_core::ops::write::bulk::{MAX_OPERATIONS, methods};

/// The operation id, the summary and the description.
pub(super) fn texts(entry: &Entry) -> (String, String, String) {
    let several = english::records(entry.meta);
    let verbs: Vec<&str> = methods(entry).map(|(word, ..)| *word).collect();
    (
        format!("bulk_{}", entry.meta.plural),
        format!("Write {several} in bulk"),
        format!(
            "Performs up to {MAX_OPERATIONS} operations ({}), each like the single request. With `atomic`, the default, either all of \
             them succeed or none, and `errors` lists the problems under `operations.<index>`. Without it, operations \
             are independent, and each result has its own status.",
            verbs.join(", ")
        ),
    )
}

fn id() -> Node {
    request_schema::id().with("description", "Its id.").with("examples", vec![Node::from(json!(1))])
}

/// A schema that also allows null, which means not given.
fn or_null(schema: Node) -> Node {
    Node::object().with("anyOf", vec![schema, json!({ "type": "null" }).into()])
}

/// `{"atomic", "operations": [{"method", "id", "if_match", "<singular>"}]}`
pub(super) fn body(catalog: &Catalog, entry: &Entry) -> Node {
    let (name, examples) = (entry.meta.name, Examples { catalog });
    let (mut forms, mut shown) = (Vec::new(), Vec::new());
    for (word, call, _) in methods(entry) {
        let creates = matches!(call, RouteOperation::Operation(Operation::Create));
        let method = json!({ "type": "string", "const": word, "description": "The operation.", "examples": [word] });
        let mut properties = Node::object().with("method", method);
        let mut example = json!({ "method": word });
        let mut required = vec!["method"];
        if !creates {
            required.push("id");
            properties.set("id", id());
            let text = "Fails unless the record has one of these versions, like the header `If-Match`.";
            let tags = or_null(header::tags().into());
            properties.set("if_match", tags.with("description", text).with("examples", vec![Node::from(json!("*"))]));
            example["id"] = json!(1);
        }
        let write = if creates { Write::Create } else { Write::Update };
        if creates || matches!(call, RouteOperation::Operation(Operation::Update)) {
            example[name] = examples.body(entry, write);
            let needed = entry.meta.fields.iter().any(|field| field.required && request_schema::can_set(field, write));
            let record = reference("schemas", &body_name(entry, write));
            if needed && write == Write::Create {
                required.push(name);
                properties.set(name, record);
            } else {
                properties.set(name, or_null(record).with("description", "The changed fields."));
            }
        }
        forms.push(request_schema::object(properties, &required));
        shown.push(example);
    }
    let operations = Node::object()
        .with("type", "array")
        .with("description", "The operations, in their order.")
        .with("minItems", 1)
        .with("maxItems", i64::try_from(MAX_OPERATIONS).unwrap_or(i64::MAX))
        .with("items", Node::object().with("anyOf", forms));
    let mut atomic = request_schema::boolean();
    atomic.push(json!({ "type": "null" }).into());
    let atomic = Node::object()
        .with("anyOf", atomic)
        .with("default", true)
        .with(
            "description",
            "If true, one failed operation undoes all of them. If false, each succeeds or fails by itself.",
        )
        .with("examples", vec![Node::from(json!(false))]);
    let properties = Node::object().with("atomic", atomic).with("operations", operations);
    let schema = request_schema::object(properties, &["operations"]);
    Node::object()
        .with("description", "The operations.")
        .with("required", true)
        .with("content", json_content(schema, json!({ "operations": shown })))
}

/// `{"results": [{"status", "etag", "<singular>"}, {"status", "id"}, {"status", "error"}]}`
pub(super) fn response(catalog: &Catalog, entry: &Entry) -> Node {
    let (name, examples) = (entry.meta.name, Examples { catalog });
    let (mut forms, mut shown_results) = (Vec::new(), Vec::new());
    let status = |status: u16| json!({ "type": "integer", "const": status, "description": "The status of the single request.", "examples": [status] });
    for (_, call, code) in methods(entry) {
        let properties = Node::object().with("status", status(*code));
        if matches!(call, RouteOperation::Operation(Operation::Delete)) {
            forms.push(request_schema::object(properties.with("id", id()), &["status", "id"]));
            shown_results.push(json!({ "status": code, "id": 1 }));
            continue;
        }
        let reveals = matches!(call, RouteOperation::Operation(Operation::Create)) && !entry.meta.reveals.is_empty();
        let record = if reveals { created_name(entry) } else { response_schema::record_name(entry) };
        let tag = json!({ "type": "string", "description": "The version of the record.", "examples": ["\"5f2d41\""] });
        let properties = properties.with("etag", tag).with(name, reference("schemas", &record));
        // Restored and updated records have the same schema.
        if !matches!(call, RouteOperation::Restore) || !entry.meta.operations.contains(&Operation::Update) {
            forms.push(request_schema::object(properties, &["status", "etag", name]));
        }
        let mut example = json!({ "status": code, "etag": "\"5f2d41\"" });
        example[name] = examples.record(entry, |_| true);
        for (secret, _) in entry.meta.reveals.iter().filter(|_| reveals) {
            example[name][*secret] = json!("shown-this-once");
        }
        shown_results.push(example);
    }
    let failed = json!({ "type": "integer", "minimum": 400, "description": "The status of the single request.", "examples": [404] });
    let properties = Node::object().with("status", failed).with("error", reference("schemas", "Error"));
    forms.push(request_schema::object(properties, &["status", "error"]));
    let results = Node::object()
        .with("type", "array")
        .with("description", "The results, in the order of the operations.")
        .with("items", Node::object().with("anyOf", forms));
    let schema = Node::object()
        .with("type", "object")
        .with("required", ["results"])
        .with("properties", Node::object().with("results", results));
    Node::object()
        .with("description", "The results of the operations.")
        .with("content", json_content(schema, json!({ "results": shown_results })))
}
