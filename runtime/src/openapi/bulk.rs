//! Many writes in one request: what is sent, and what each comes to.

use serde_json::json;

use super::example::Examples;
use super::given::{self, Write};
use super::node::{Node, reference};
use super::operation::{body_name, created_name, json_content};
use super::{header, prose, shown};
use crate::catalog::{Catalog, Entry};
use crate::meta::Operation;
use crate::ops::RouteOperation;
use crate::ops::write::bulk::{MAX_OPERATIONS, methods};

/// The id, the headline and more words.
pub fn words(entry: &Entry) -> (String, String, String) {
    let several = prose::records(entry.meta);
    let verbs: Vec<&str> = methods(entry).map(|(word, ..)| *word).collect();
    (
        format!("bulk_{}", entry.meta.plural),
        format!("Write {several}, many at once"),
        format!(
            "Takes up to {MAX_OPERATIONS} operations ({}), each of which is what it would be alone. With `atomic`, the default, all \
             of them are carried out or none, and `errors` has the problems of each under `operations.<index>`. Without it \
             each stands for itself, and its result has its status.",
            verbs.join(", ")
        ),
    )
}

fn id() -> Node {
    given::id().with("description", "Its id.").with("examples", vec![Node::from(json!(1))])
}

/// The same or null, which is as if it were not given.
fn or_null(schema: Node) -> Node {
    Node::object().with("anyOf", vec![schema, json!({ "type": "null" }).into()])
}

/// `{"atomic", "operations": [{"method", "id", "if_match", "<singular>"}]}`
pub fn body(catalog: &Catalog, entry: &Entry) -> Node {
    let (name, examples) = (entry.meta.name, Examples { catalog });
    let (mut forms, mut shown) = (Vec::new(), Vec::new());
    for (word, call, _) in methods(entry) {
        let creates = matches!(call, RouteOperation::Operation(Operation::Create));
        let said = json!({ "type": "string", "const": word, "description": "What is done.", "examples": [word] });
        let mut properties = Node::object().with("method", said);
        let mut example = json!({ "method": word });
        let mut required = vec!["method"];
        if !creates {
            required.push("id");
            properties.set("id", id());
            let told = "Only if the record is still in one of these versions, as the header `If-Match` says it.";
            let tags = or_null(header::tags().into());
            properties.set("if_match", tags.with("description", told).with("examples", vec![Node::from(json!("*"))]));
            example["id"] = json!(1);
        }
        let write = if creates { Write::Create } else { Write::Update };
        if creates || matches!(call, RouteOperation::Operation(Operation::Update)) {
            example[name] = examples.body(entry, write);
            let needed = entry.meta.fields.iter().any(|field| field.required && given::is_given(field, write));
            let record = reference("schemas", &body_name(entry, write));
            if needed && write == Write::Create {
                required.push(name);
                properties.set(name, record);
            } else {
                properties.set(name, or_null(record).with("description", "What changes of the record."));
            }
        }
        forms.push(given::object(properties, &required));
        shown.push(example);
    }
    let operations = Node::object()
        .with("type", "array")
        .with("description", "What is done, in this order.")
        .with("minItems", 1)
        .with("maxItems", i64::try_from(MAX_OPERATIONS).unwrap_or(i64::MAX))
        .with("items", Node::object().with("anyOf", forms));
    let mut atomic = given::boolean();
    atomic.push(json!({ "type": "null" }).into());
    let atomic = Node::object()
        .with("anyOf", atomic)
        .with("default", true)
        .with("description", "Whether all is done or nothing.")
        .with("examples", vec![Node::from(json!(false))]);
    let properties = Node::object().with("atomic", atomic).with("operations", operations);
    let schema = given::object(properties, &["operations"]);
    Node::object()
        .with("description", "The operations.")
        .with("required", true)
        .with("content", json_content(schema, json!({ "operations": shown })))
}

/// `{"results": [{"status", "etag", "<singular>"}, {"status", "id"}, {"status", "error"}]}`
pub fn answer(catalog: &Catalog, entry: &Entry) -> Node {
    let (name, examples) = (entry.meta.name, Examples { catalog });
    let (mut forms, mut shown_results) = (Vec::new(), Vec::new());
    let status = |status: u16| json!({ "type": "integer", "const": status, "description": "What it would answer alone.", "examples": [status] });
    for (_, call, code) in methods(entry) {
        let properties = Node::object().with("status", status(*code));
        if matches!(call, RouteOperation::Operation(Operation::Delete)) {
            forms.push(given::object(properties.with("id", id()), &["status", "id"]));
            shown_results.push(json!({ "status": code, "id": 1 }));
            continue;
        }
        let reveals = matches!(call, RouteOperation::Operation(Operation::Create)) && !entry.meta.reveals.is_empty();
        let record = if reveals { created_name(entry) } else { shown::record_name(entry) };
        let tag = json!({ "type": "string", "description": "The version of the record.", "examples": ["\"5f2d41\""] });
        let properties = properties.with("etag", tag).with(name, reference("schemas", &record));
        // A restored record is answered as a changed one.
        if !matches!(call, RouteOperation::Restore) || !entry.meta.operations.contains(&Operation::Update) {
            forms.push(given::object(properties, &["status", "etag", name]));
        }
        let mut example = json!({ "status": code, "etag": "\"5f2d41\"" });
        example[name] = examples.record(entry, |_| true);
        for (secret, _) in entry.meta.reveals.iter().filter(|_| reveals) {
            example[name][*secret] = json!("shown-this-once");
        }
        shown_results.push(example);
    }
    let refused =
        json!({ "type": "integer", "minimum": 400, "description": "What it would answer alone.", "examples": [404] });
    let properties = Node::object().with("status", refused).with("error", reference("schemas", "Error"));
    forms.push(given::object(properties, &["status", "error"]));
    let results = Node::object()
        .with("type", "array")
        .with("description", "What each operation came to, in their order.")
        .with("items", Node::object().with("anyOf", forms));
    let schema = Node::object()
        .with("type", "object")
        .with("required", ["results"])
        .with("properties", Node::object().with("results", results));
    Node::object()
        .with("description", "What the operations came to.")
        .with("content", json_content(schema, json!({ "results": shown_results })))
}
