//! Adapter between salvo and [`Handler`]: admission control, timeout, log line, metrics and error responses.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use salvo::http::{HeaderValue, StatusCode};
use salvo::{Depot, FlowCtrl, Request, async_trait};
use tokio::time::timeout;
use tracing::Instrument;

use super::authenticate::client;
use super::request_body::{Receiving, drain};
use super::{Identified, Permit, Response, Usage, client_address, headers};
use crate::server::ServerState;
use charter_core::client::{Caller, Lane};
use charter_core::error::{Error, Result};
use charter_core::header;
use charter_core::metrics::{self, Refused};

/// Handles the requests of a path.
#[async_trait]
pub trait Handler: Send + Sync + 'static {
    /// Handles a request.
    async fn handle(&self, state: &Arc<ServerState>, request: &mut Request) -> Result<Response>;

    /// True if the request has no timeout, as an upload.
    fn has_no_timeout(&self, _: &ServerState, _: &Request) -> bool {
        false
    }

    /// The path for the log, without the secrets in it.
    fn redact_path<'p>(&self, path: &'p str) -> &'p str {
        path
    }

    /// The route for metrics and the log, if it is not the template that the router matched.
    fn route(&self, _: &Request) -> Option<&'static str> {
        None
    }

    /// `Cache-Control` of every response, if the handler does not set it itself (RFC 9111, section 5.2.2).
    fn cache_control(&self) -> Option<&'static str> {
        None
    }

    /// The lane of a request.
    fn lane(&self, request: &Request) -> Lane {
        if request.method().is_safe() { Lane::Read } else { Lane::Write }
    }

    /// True if the request wrote, once it succeeded: its response must reach the client ([`ResponseBudget::reserve_always`]).
    ///
    /// [`ResponseBudget::reserve_always`]: super::response_budget::ResponseBudget::reserve_always
    fn is_write(&self, request: &Request) -> bool {
        !request.method().is_safe()
    }

    /// True if its requests count against the limit of requests in flight. Those of health checks must not.
    fn limits_concurrency(&self) -> bool {
        true
    }
}

/// Marks a request that the server sends to itself, as the panel does.
#[derive(Debug, Clone, Copy)]
pub struct InternalRequest;

/// A [`Handler`] as a salvo handler.
#[derive(Debug)]
pub(crate) struct Endpoint<H> {
    state: Arc<ServerState>,
    handler: H,
}

impl<H: Handler> Endpoint<H> {
    pub(crate) fn new(state: Arc<ServerState>, handler: H) -> Endpoint<H> {
        Endpoint { state, handler }
    }
}

#[async_trait]
impl<H: Handler> salvo::Handler for Endpoint<H> {
    async fn handle(&self, request: &mut Request, _: &mut Depot, output: &mut salvo::Response, control: &mut FlowCtrl) {
        let start = Instant::now();
        let request_id = headers::request_id(request).unwrap_or_else(|| "-".into());
        let route = self.handler.route(request).map_or_else(|| metrics::route(request.matched_path()), str::to_string);
        let trace_id = headers::trace(request).map(|trace| trace.id());
        // An internal request is part of one that is counted already.
        let is_internal = request.extensions().get::<InternalRequest>().is_some();
        let counted = (!is_internal).then(|| self.state.metrics.http.begin(request.method().as_str()));
        let has_no_timeout = self.handler.has_no_timeout(&self.state, request);
        let limit = if has_no_timeout { Duration::MAX } else { self.state.config.request_timeout };
        let caller = match self.handler.limits_concurrency() {
            true => Caller { client: client(&self.state, request), lane: self.handler.lane(request) },
            // A health check is answered whatever its client does besides.
            false => Caller { lane: Lane::Record, ..Caller::SERVER },
        };
        let permit = Permit::new(&self.state.concurrency_limiter, caller);
        // The panel forwards requests of its scripts together with their body.
        let receiving = request.extensions().get::<Receiving>().cloned().unwrap_or_default();
        request.extensions_mut().insert(receiving.clone());
        let work = async {
            headers::require_host(request)?;
            headers::require_plain_path(request)?;
            if self.handler.limits_concurrency() {
                permit.acquire().await?;
                request.extensions_mut().insert(permit.clone());
            }
            self.handler.handle(&self.state, request).await
        };
        // Log lines of the handler carry the id of the request.
        let work = caller.scope(work).instrument(tracing::warn_span!("request", %request_id, route, trace_id));
        let result = match timeout(limit, AssertUnwindSafe(work).catch_unwind()).await {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => Err(Error::internal(format!("panic: {}", panic_message(&*panic)))),
            Err(_) if receiving.is_waiting() => Err(Error::RequestTimeout),
            Err(_) => Err(Error::too_long()),
        };
        let response = match result {
            Ok(response) => response,
            Err(error) => {
                if let Error::Internal(cause) = &error {
                    tracing::error!(%request_id, trace_id, cause = cause.to_string(), "request failed");
                }
                Response::error(&error, &request_id)
            }
        };
        permit.release();
        let (budget, connection) = (&self.state.response_budget, control.conn());
        let is_done_write = self.handler.is_write(request) && response.status().is_success();
        let response = response.budgeted(|bytes| match is_done_write {
            true => Ok(budget.reserve_always(bytes, connection)),
            false => budget.reserve(bytes, connection),
        });
        let response = response.unwrap_or_else(|error| Response::error(&error, &request_id));
        let response = match request.extensions().get::<Usage>() {
            Some(usage) => usage.add_headers(response),
            None => response,
        };
        let response = match self.handler.cache_control() {
            Some(value) => response.with(header::CACHE_CONTROL, HeaderValue::from_static(value)),
            None => response,
        };
        let response = headers::add_to_all(&self.state, request, response);
        drain(request, has_no_timeout).await;
        let identified = request.extensions().get::<Identified>();
        // Without the query string: a filter can hold personal data.
        tracing::info!(
            %request_id,
            trace_id,
            method = %request.method(),
            user_id = identified.and_then(|identified| identified.user_id),
            token_id = identified.and_then(|identified| identified.token_id),
            address = %client_address(request, &self.state.config.trusted_proxies),
            path = self.handler.redact_path(request.uri().path()),
            status = response.status().as_u16(),
            micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX),
            "answered"
        );
        if response.status() == StatusCode::TOO_MANY_REQUESTS && counted.is_some() {
            self.state.metrics.admission.refuse(Refused::RateLimited);
        }
        if let Some(counted) = counted {
            counted.end(&route, response.status().as_u16());
        }
        response.write(output);
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Refuses other methods than `GET` and `HEAD`.
///
/// # Errors
/// [`Error::MethodNotAllowed`].
pub fn require_get(request: &Request) -> Result<()> {
    match request.method().as_str() {
        "GET" | "HEAD" => Ok(()),
        _ => Err(Error::method_not_allowed(["GET"])),
    }
}

/// Releases the permit of a request while it waits for another server.
///
/// # Errors
/// [`Error::Overloaded`] when too many requests wait for other servers.
pub fn release_for_external_call(request: &Request) -> Result<()> {
    request.extensions().get::<Permit>().map_or(Ok(()), Permit::release_for_external_call)
}
