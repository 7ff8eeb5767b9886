//! OpenAPI document of an application, generated from the metadata that also serves the requests.
//!
//! Each route becomes an operation, each resource schemas, each filter a parameter, each error code a response, and each event a
//! webhook. Texts come from the declarations, or else from names, kinds and rules.

mod bulk;
pub(crate) mod compact;
mod component;
mod docs_page;
pub(crate) mod english;
mod error_responses;
mod event;
mod example;
mod filter;
mod header;
mod list;
mod mounted;
pub(crate) mod node;
mod number_pattern;
mod on_delete;
mod open_door;
pub(crate) mod operation;
mod operation_name;
mod parameter;
mod pattern;
mod request_schema;
mod response_schema;
mod sample_text;
mod search;
mod service;
mod summary;

use std::io::Write as _;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

pub use self::docs_page::{DocsPage, OpenApiJson};
pub use self::filter::FilterForm;
use self::node::Node;
use self::operation::SCHEMES;
use crate::server::ServerState;
use charter_core::catalog::Catalog;
use charter_core::error::{Error, Result};
use charter_core::header::AUTH_TOKEN;
use charter_core::ops;

/// The path of the document.
pub fn path() -> String {
    format!("{}/openapi.json", ops::API)
}

/// The serialized document.
#[derive(Debug)]
pub struct OpenApiDocument {
    pub json: Bytes,
    /// The text compressed by gzip, once for all clients.
    pub gzip: Bytes,
    /// Entity tag of the text.
    pub etag: String,
}

impl OpenApiDocument {
    /// Generates the document of an application.
    ///
    /// # Errors
    /// When serialization fails.
    pub fn of(state: &ServerState, form: FilterForm) -> Result<OpenApiDocument> {
        let json = serde_json::to_vec(&document_with(state, form)).map_err(Error::internal)?;
        let etag = ops::tag(&json);
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(&json).map_err(Error::internal)?;
        let gzip = gzip.finish().map_err(Error::internal)?;
        Ok(OpenApiDocument { json: json.into(), gzip: gzip.into(), etag })
    }
}

/// The document with the filters of each resource once, in an order for readers.
pub fn document(state: &ServerState) -> Node {
    document_with(state, FilterForm::Once)
}

/// The document with its filters in this form.
pub fn document_with(state: &ServerState, form: FilterForm) -> Node {
    let catalog = &state.catalog;
    let server = state.config.base_url.clone().unwrap_or_else(|| "/".into());
    Node::object()
        .with("openapi", "3.1.0")
        .with("info", info(state))
        .with("servers", [json!({ "url": server, "description": "This server." })])
        .with("security", SCHEMES.map(|scheme| json!({ scheme: [] })).to_vec())
        .with("tags", tags(catalog))
        .with("paths", paths(state, form))
        .with("webhooks", event::webhooks(catalog))
        .with("components", components(catalog, form))
}

fn info(state: &ServerState) -> Node {
    let description = format!(
        "{}\n\n## Errors\n\nAll error responses have the same format, with a stable code. A method that a path does not support is 405, \
         with `Allow`.\n\n{}",
        include_str!("conventions.md").trim(),
        error_responses::table()
    );
    Node::object()
        .with("title", format!("{} API", english::capitalize(state.name)))
        .with("version", env!("CARGO_PKG_VERSION"))
        .with("description", description)
}

fn tags(catalog: &Catalog) -> Node {
    let served = catalog.entries().iter().filter(|entry| entry.is_served());
    let mut tags: Vec<Node> = served
        .map(|entry| {
            let described = match entry.meta.description {
                "" => format!("{}.", english::tag(entry.meta)),
                said => english::sentence(said),
            };
            json!({ "name": english::tag(entry.meta), "description": described }).into()
        })
        .collect();
    tags.push(json!({ "name": service::TAG, "description": "Operations of the service as a whole." }).into());
    Node::List(tags)
}

fn paths(state: &ServerState, form: FilterForm) -> Node {
    let mut paths = Node::object();
    for route in ops::routes(state) {
        let entry = state.catalog.linked(route.resource);
        let operation = operation::describe(&state.catalog, entry, &route, form);
        let path = paths.get(&route.path).cloned().unwrap_or_else(Node::object);
        paths.set(route.path.clone(), path.with(route.method.to_ascii_lowercase(), operation));
    }
    for (path, operation) in service::operations(&state.catalog).into_iter().chain([search::operation(&state.catalog)])
    {
        paths.set(path, Node::object().with("get", operation));
    }
    for mount in &state.mounts {
        let path = paths.get(&mount.full_path()).cloned().unwrap_or_else(Node::object);
        paths.set(mount.full_path(), path.with(mount.method.to_ascii_lowercase(), mounted::operation(mount)));
    }
    paths
}

fn components(catalog: &Catalog, form: FilterForm) -> Node {
    Node::object()
        .with("schemas", component::schemas(catalog))
        .with("parameters", parameters(catalog, form))
        .with("headers", header::components(catalog))
        .with("responses", error_responses::responses())
        .with("securitySchemes", schemes())
}

/// Shared parameters of lists, and headers.
fn parameters(catalog: &Catalog, form: FilterForm) -> Node {
    let mut parameters = parameter::shared();
    summary::components().into_iter().for_each(|(name, parameter)| parameters.set(name, parameter));
    let filters = if form == FilterForm::Once { filter::components(catalog) } else { Vec::new() };
    filters.into_iter().for_each(|(name, parameter)| parameters.set(name, parameter));
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
                "description": "A token, as `Authorization: Bearer <token>`. It has abilities such as `users:read`; `*` is all abilities.",
            }),
        )
        .with(
            "token",
            json!({
                "type": "apiKey", "in": "header", "name": AUTH_TOKEN,
                "description": "The same token in the header of older clients.",
            }),
        )
}
