//! The OpenAPI description: complete, true to what the server answers, and served.

mod answers;
mod complete;
mod headers;
mod served;
mod snapshot;

use serde_json::{Map, Value};

use crate::support::Server;

/// The description that a server sends.
async fn description(server: &Server) -> Value {
    server.anonymous().get("/openapi.json").await.ok()
}

/// Every operation with its method and path.
fn operations(description: &Value) -> Vec<(String, &Value)> {
    let mut operations = Vec::new();
    for (path, methods) in description["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            operations.push((format!("{} {path}", method.to_uppercase()), operation));
        }
    }
    operations
}

/// Visits every object of the description with the way to it.
fn visit(value: &Value, way: &str, seen: &mut impl FnMut(&str, &Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            seen(way, object);
            for (key, value) in object {
                // What an example holds is not the description's own.
                if !matches!(key.as_str(), "example" | "examples" | "default" | "enum") {
                    visit(value, &format!("{way}/{key}"), seen);
                }
            }
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                visit(element, &format!("{way}/{index}"), seen);
            }
        }
        _ => {}
    }
}
