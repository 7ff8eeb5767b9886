//! Router of an application: health checks, records, the MCP endpoint, files, documents and the panel.

use std::sync::Arc;

use charter_model::reserved::MCP_PATH;
use salvo::Router;
use salvo::request_id::RequestId;

use crate::mcp::Mcp;
use crate::openapi::{self, DocsPage, OpenApiJson};
use crate::panel;
use crate::server::{Compression, Cors, Endpoint, Files, Live, MetricsEndpoint, Ready, ServerState, resource_router};

/// All routes of the application.
pub fn router(state: &Arc<ServerState>) -> Router {
    let nested = |path: &str, router: Router| Router::with_path(path).push(router);
    let health = nested("health", Router::with_path("live").goal(Endpoint::new(state.clone(), Live)))
        .push(Router::with_path("ready").goal(Endpoint::new(state.clone(), Ready)))
        .push(Router::with_path("metrics").goal(Endpoint::new(state.clone(), MetricsEndpoint)));
    let files = nested("files", Router::with_path("{uuid}/{part}").goal(Endpoint::new(state.clone(), Files)));
    let page = |path: &str, page: DocsPage| Router::with_path(path).goal(Endpoint::new(state.clone(), page));
    // Neither health checks nor files are compressed: files have ranges and tags of their bytes, and most are compressed already.
    let compressed = || Router::new().hoop(Compression::new());
    let mounted = state.mounts.iter().fold(compressed(), |router, mount| router.push(mount.router(state)));
    let mut records = mounted.push(resource_router::router(state));
    if state.config.mcp {
        records = records.push(Router::with_path(MCP_PATH).goal(Endpoint::new(state.clone(), Mcp::new(state))));
    }
    let records = state.mounts.iter().fold(records, |router, mount| router.push(mount.other_methods(state)));
    // Megabytes that anyone can request: the document is compressed once, the viewer not at all.
    let documents = Router::new()
        .push(nested(&openapi::path(), Router::new().goal(Endpoint::new(state.clone(), OpenApiJson::default()))))
        .push(page("docs/viewer.js", DocsPage::Viewer));
    let pages = compressed()
        .push(page("docs", DocsPage::Html))
        .push(page("docs/begin.js", DocsPage::StartScript))
        // The panel has all other paths.
        .push(panel::router(state));
    // salvo tries them in this order: no path can hide the health checks, and most requests are for records.
    let mut root = Router::new().hoop(RequestId::new());
    if let Some(cors) = Cors::new(&state.config) {
        root = root.hoop(cors);
    }
    root.push(health).push(records).push(files).push(documents).push(pages)
}
