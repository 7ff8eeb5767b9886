//! OpenAPI document: completeness, conformance of requests and responses, and delivery.

mod complete;
mod conformance;
mod headers;
mod served;
mod snapshot;

use serde_json::{Map, Value};

use crate::support::Server;

/// The document that a server sends.
async fn document(server: &Server) -> Value {
    server.anonymous().get("/openapi.json").await.ok()
}

/// Every operation with its method and path.
fn operations(document: &Value) -> Vec<(String, &Value)> {
    let mut operations = Vec::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            operations.push((format!("{} {path}", method.to_uppercase()), operation));
        }
    }
    operations
}

/// Visits every object of the document with its path.
fn visit(value: &Value, path: &str, seen: &mut impl FnMut(&str, &Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            seen(path, object);
            for (key, value) in object {
                // Examples are data, not parts of the document.
                if !matches!(key.as_str(), "example" | "examples" | "default" | "enum") {
                    visit(value, &format!("{path}/{key}"), seen);
                }
            }
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                visit(element, &format!("{path}/{index}"), seen);
            }
        }
        _ => {}
    }
}
