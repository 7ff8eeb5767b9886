//! OpenAPI document and the reference page at `/docs`, with a viewer that is compiled in and needs no other server.

use std::sync::{Arc, LazyLock, OnceLock};

use bytes::Bytes;
use salvo::http::{HeaderValue, StatusCode};
use salvo::{Request, async_trait};

use super::OpenApiDocument;
use crate::server::ServerState;
use crate::server::{Handler, JSON, Response, headers, require_get};
use charter_core::error::{Error, Result};
use charter_core::header;

/// The page loads and connects to nothing but this server. The viewer inserts its own style sheets.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

const HTML: &str = include_str!("docs_page.html");
const START_SCRIPT: &str = include_str!("docs_page.js");

/// The script of the viewer, decompressed once and shared by all responses.
fn viewer() -> Option<Bytes> {
    static SCRIPT: LazyLock<Option<Bytes>> =
        LazyLock::new(|| scalar_api_reference::get_asset("scalar.js").map(Bytes::from));
    SCRIPT.clone()
}

/// `/api/v1/openapi.json`, generated at the first request.
#[derive(Debug, Default)]
pub struct OpenApiJson(OnceLock<OpenApiDocument>);

impl OpenApiJson {
    fn document(&self, state: &ServerState) -> Result<&OpenApiDocument> {
        if let Some(document) = self.0.get() {
            return Ok(document);
        }
        let document = OpenApiDocument::of(state)?;
        Ok(self.0.get_or_init(|| document))
    }
}

#[async_trait]
impl Handler for OpenApiJson {
    async fn handle(&self, state: &Arc<ServerState>, request: &mut Request) -> Result<Response> {
        require_get(request)?;
        let document = self.document(state)?;
        let response = match headers::conditions(request)?.not_modified(&document.etag)? {
            true => Response::empty(StatusCode::NOT_MODIFIED),
            false => Response::from_static_bytes(JSON, document.json.clone()),
        };
        let etag = HeaderValue::from_str(&document.etag).map_err(Error::internal)?;
        Ok(response.with(header::ETAG, etag).with(header::CACHE_CONTROL, HeaderValue::from_static("no-cache")))
    }
}

/// The page at `/docs` and its scripts.
#[derive(Debug, Clone, Copy)]
pub enum DocsPage {
    Html,
    /// Starts the viewer. It is a file because the policy forbids inline scripts.
    StartScript,
    Viewer,
}

#[async_trait]
impl Handler for DocsPage {
    async fn handle(&self, _: &Arc<ServerState>, request: &mut Request) -> Result<Response> {
        require_get(request)?;
        let (media_type, body) = match self {
            DocsPage::Html => ("text/html; charset=utf-8", Bytes::from_static(HTML.as_bytes())),
            DocsPage::StartScript => ("text/javascript; charset=utf-8", Bytes::from_static(START_SCRIPT.as_bytes())),
            DocsPage::Viewer => ("text/javascript; charset=utf-8", viewer().ok_or(Error::NotFound)?),
        };
        let age = if matches!(self, DocsPage::Viewer) { "public, max-age=86400" } else { "no-cache" };
        Ok(Response::from_static_bytes(media_type, body)
            .with(header::CACHE_CONTROL, HeaderValue::from_static(age))
            .with(header::SECURITY_POLICY, HeaderValue::from_static(POLICY))
            .with(header::TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
            .with(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")))
    }
}
