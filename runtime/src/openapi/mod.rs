//! The OpenAPI description: made from the metadata that serves the requests, once, and never by hand.
//!
//! Every route becomes an operation, every resource its schemas, every filter a parameter, every code of an error an
//! answer, every event a webhook. Words come from declarations where they have some, else from names, kinds and rules.

mod bulk;
mod component;
mod digits;
mod event;
mod example;
mod given;
mod header;
mod node;
mod operation;
mod parameter;
mod problem;
pub(crate) mod prose;
mod service;
mod shown;
mod text;

use bytes::Bytes;
use serde_json::json;

use self::node::Node;
use self::operation::SCHEMES;
use crate::catalog::Catalog;
use crate::context::State;
use crate::error::{Error, Result};
use crate::header::AUTH_TOKEN;
use crate::ops;

/// The path of the description.
pub fn path() -> String {
    format!("{}/openapi.json", ops::API)
}

/// The description as it is sent.
#[derive(Debug)]
pub struct Description {
    pub json: Bytes,
    /// Changes whenever the text does.
    pub etag: String,
}

impl Description {
    /// Describes an application.
    ///
    /// # Errors
    /// Never, unless memory runs out: the description is written into memory.
    pub fn of(state: &State) -> Result<Description> {
        let json = serde_json::to_vec(&document(state)).map_err(Error::internal)?;
        let etag = ops::tag(&json);
        Ok(Description { json: json.into(), etag })
    }
}

/// The whole document, in the order in which people read it.
pub fn document(state: &State) -> Node {
    let catalog = &state.catalog;
    let server = state.config.base_url.clone().unwrap_or_else(|| "/".into());
    Node::object()
        .with("openapi", "3.1.0")
        .with("info", info(state))
        .with("servers", [json!({ "url": server, "description": "This server." })])
        .with("security", SCHEMES.map(|scheme| json!({ scheme: [] })).to_vec())
        .with("tags", tags(catalog))
        .with("paths", paths(state))
        .with("webhooks", event::webhooks(catalog))
        .with("components", components(catalog))
}

fn info(state: &State) -> Node {
    let description = format!(
        "{}\n\n## Errors\n\nWhatever is not a success is answered in one form, with a stable code. A path answers a method that \
         it does not have with 405 and `Allow`.\n\n{}",
        include_str!("conventions.md").trim(),
        problem::table()
    );
    Node::object()
        .with("title", format!("{} API", prose::capital(state.name)))
        .with("version", env!("CARGO_PKG_VERSION"))
        .with("description", description)
}

fn tags(catalog: &Catalog) -> Node {
    let served = catalog.entries().iter().filter(|entry| entry.is_served());
    let mut tags: Vec<Node> = served
        .map(|entry| {
            let described = match entry.meta.description {
                "" => format!("{}.", prose::tag(entry.meta)),
                said => prose::sentence(said),
            };
            json!({ "name": prose::tag(entry.meta), "description": described }).into()
        })
        .collect();
    tags.push(json!({ "name": service::TAG, "description": "What belongs to the service as a whole." }).into());
    Node::List(tags)
}

fn paths(state: &State) -> Node {
    let mut paths = Node::object();
    for route in ops::routes(state) {
        let entry = state.catalog.linked(route.resource);
        let operation = operation::describe(&state.catalog, entry, &route);
        let path = paths.get(&route.path).cloned().unwrap_or_else(Node::object);
        paths.set(route.path.clone(), path.with(route.method.to_ascii_lowercase(), operation));
    }
    for (path, operation) in service::operations(&state.catalog) {
        paths.set(path, Node::object().with("get", operation));
    }
    paths
}

fn components(catalog: &Catalog) -> Node {
    Node::object()
        .with("schemas", component::schemas(catalog))
        .with("parameters", parameters())
        .with("headers", header::components(catalog))
        .with("responses", problem::responses())
        .with("securitySchemes", schemes())
}

/// Parameters of every list, and headers.
fn parameters() -> Node {
    let mut parameters = parameter::shared();
    if let Node::Object(headers) = header::parameters() {
        headers.into_iter().for_each(|(name, parameter)| parameters.set(name, parameter));
    }
    parameters
}

fn schemes() -> Node {
    Node::object()
        .with(
            "bearer",
            json!({
                "type": "http", "scheme": "bearer",
                "description": "A token, as `Authorization: Bearer <token>`. It holds abilities such as `users:read`; `*` is all of them.",
            }),
        )
        .with(
            "token",
            json!({
                "type": "apiKey", "in": "header", "name": AUTH_TOKEN,
                "description": "The same token, as older clients send it.",
            }),
        )
}
