//! HTTP handler of the search over all resources.

use std::sync::Arc;

use salvo::http::StatusCode;
use salvo::{Request, async_trait};

use super::authenticate::authenticate;
use super::{Handler, Response, client_address, headers, require_get};
use crate::server::ServerState;
use charter_core::error::Result;
use charter_core::ops::etag::Preconditions;
use charter_core::ops::list::ListRequest;
use charter_core::ops::{Context, search};
use charter_platform::auth::revalidate;
use charter_platform::view;

/// `GET /api/v1/search`. It needs no ability of its own: it finds the records that the caller may list.
#[derive(Debug)]
pub(super) struct SearchEndpoint;

#[async_trait]
impl Handler for SearchEndpoint {
    fn cache_control(&self) -> Option<&'static str> {
        Some("private, no-cache")
    }

    async fn handle(&self, state: &Arc<ServerState>, request: &mut Request) -> Result<Response> {
        let caller = authenticate(state, request).await?;
        require_get(request)?;
        let (request_id, trace) = (headers::request_id(request), headers::trace(request));
        let context = Context::new(state, &caller, state.db.reader())
            .with_request_id(request_id.as_deref())
            .with_client_address(Some(client_address(request, &state.config.trusted_proxies)))
            .with_trace(trace);
        let uri = request.uri().clone();
        let conditions = Preconditions::default();
        let list = ListRequest {
            path: uri.path(),
            query: "",
            is_summary: false,
            format: None,
            head: false,
            conditions: &conditions,
            find_view: |context, entry, id| Box::pin(view::find(context, entry, id)),
            revalidate: |state, caller| Box::pin(revalidate(state, caller)),
        };
        let found = search::search(&context, uri.query().unwrap_or_default(), list).await?;
        Ok(Response::json(StatusCode::OK, found.to_string().into_bytes()))
    }
}
