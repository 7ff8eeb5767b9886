//! OpenAPI document and the reference page at `/docs`, with a viewer that is compiled in and needs no other server.

use std::sync::{Arc, LazyLock, OnceLock};

use bytes::Bytes;
use salvo::http::{HeaderValue, StatusCode};
use salvo::{Request, async_trait};

use super::{FilterForm, OpenApiDocument};
use crate::server::ServerState;
use crate::server::{Handler, JSON, Response, headers, require_get};
use charter_core::error::{Error, Result};
use charter_core::header;
use charter_core::ops::with_gzip_suffix;
use charter_core::query::decode;

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

/// `/api/v1/openapi.json`, in each form generated at its first request.
#[derive(Debug, Default)]
pub struct OpenApiJson {
    compact: OnceLock<OpenApiDocument>,
    /// With a parameter for each filter.
    long: OnceLock<OpenApiDocument>,
}

impl OpenApiJson {
    fn document(&self, state: &ServerState, form: FilterForm) -> Result<&OpenApiDocument> {
        let generated = match form {
            FilterForm::Once => &self.compact,
            FilterForm::Each => &self.long,
        };
        if let Some(document) = generated.get() {
            return Ok(document);
        }
        let document = OpenApiDocument::of(state, form)?;
        Ok(generated.get_or_init(|| document))
    }
}

/// The form that the query string requests.
///
/// # Errors
/// 422 for another value of `filters`.
fn requested_form(request: &Request) -> Result<FilterForm> {
    let pairs = decode(request.uri().query().unwrap_or_default())?;
    match pairs.iter().rev().find(|pair| pair.name == "filters").map(|pair| pair.value.trim()) {
        None | Some("") => Ok(FilterForm::Once),
        Some(FilterForm::EACH) => Ok(FilterForm::Each),
        Some(_) => Err(Error::invalid("filters", format!("must be `{}`", FilterForm::EACH))),
    }
}

#[async_trait]
impl Handler for OpenApiJson {
    async fn handle(&self, state: &Arc<ServerState>, request: &mut Request) -> Result<Response> {
        require_get(request)?;
        let document = self.document(state, requested_form(request)?)?;
        let is_unchanged = headers::conditions(request)?.not_modified(&document.etag)?;
        let (response, etag) = match (is_unchanged, headers::accepts_gzip(request)) {
            (true, false) => (Response::empty(StatusCode::NOT_MODIFIED), document.etag.clone()),
            (true, true) => (Response::empty(StatusCode::NOT_MODIFIED), with_gzip_suffix(&document.etag)),
            (false, false) => (Response::from_static_bytes(JSON, document.json.clone()), document.etag.clone()),
            (false, true) => (
                Response::from_static_bytes(JSON, document.gzip.clone()).with_text("content-encoding", "gzip"),
                with_gzip_suffix(&document.etag),
            ),
        };
        Ok(response
            .with_text(header::ETAG, &etag)
            .with_text(header::VARY, "Accept-Encoding")
            .with(header::CACHE_CONTROL, HeaderValue::from_static("no-cache")))
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
            .with(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")))
    }
}
