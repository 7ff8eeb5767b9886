//! The description of the API, and the page that makes a reference of it: a viewer from the program itself, no network.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use salvo::http::{HeaderValue, StatusCode};
use salvo::{Request, async_trait};

use super::endpoint::only_get;
use super::{Answer, Answers, JSON, headers};
use crate::context::State;
use crate::error::{Error, Result};
use crate::header;

/// The page loads nothing from elsewhere and talks to this server alone. The viewer writes its own style sheets.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

const PAGE: &str = include_str!("reference.html");
const BEGIN: &str = include_str!("reference.js");

/// The viewer, made once: whoever asks for it and does not read keeps none of it to themselves.
fn viewer() -> Option<Bytes> {
    static SCRIPT: LazyLock<Option<Bytes>> =
        LazyLock::new(|| scalar_api_reference::get_asset("scalar.js").map(Bytes::from));
    SCRIPT.clone()
}

/// `/api/v1/openapi.json`
#[derive(Debug)]
pub struct Described;

#[async_trait]
impl Answers for Described {
    async fn answer(&self, state: &Arc<State>, request: &mut Request) -> Result<Answer> {
        only_get(request)?;
        let description = state.description()?;
        let answer = match headers::conditions(request)?.not_modified(&description.etag)? {
            true => Answer::empty(StatusCode::NOT_MODIFIED),
            false => Answer::lasting(JSON, description.json.clone()),
        };
        let etag = HeaderValue::from_str(&description.etag).map_err(Error::internal)?;
        Ok(answer.with(header::ETAG, etag).with(header::CACHE_CONTROL, HeaderValue::from_static("no-cache")))
    }
}

/// The page at `/docs` and what it loads.
#[derive(Debug, Clone, Copy)]
pub enum Page {
    Html,
    /// What starts the viewer: a file, because the policy forbids scripts in the page.
    Begin,
    Viewer,
}

#[async_trait]
impl Answers for Page {
    async fn answer(&self, _: &Arc<State>, request: &mut Request) -> Result<Answer> {
        only_get(request)?;
        let (kind, body) = match self {
            Page::Html => ("text/html; charset=utf-8", Bytes::from_static(PAGE.as_bytes())),
            Page::Begin => ("text/javascript; charset=utf-8", Bytes::from_static(BEGIN.as_bytes())),
            Page::Viewer => ("text/javascript; charset=utf-8", viewer().ok_or(Error::NotFound)?),
        };
        let age = if matches!(self, Page::Viewer) { "public, max-age=86400" } else { "no-cache" };
        Ok(Answer::lasting(kind, body)
            .with(header::CACHE_CONTROL, HeaderValue::from_static(age))
            .with(header::SECURITY_POLICY, HeaderValue::from_static(POLICY))
            .with(header::TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
            .with(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")))
    }
}
