//! Health checks, the metrics endpoint, and the 404 of unknown paths.

use std::sync::Arc;
use std::time::Duration;

use salvo::http::StatusCode;
use salvo::{Request, async_trait};

use super::authenticate;
use super::endpoint::require_get;
use super::{Handler, Response};
use crate::log;
use crate::server::ServerState;
use charter_core::db::Unwritable;
use charter_core::error::{Error, Result};
use charter_core::metrics::{CONTENT_TYPE, UNMATCHED};
use charter_core::ops;
use charter_platform::webhook::Webhooks;

/// `/health/live`: 200 while the process runs.
#[derive(Debug)]
pub(crate) struct Live;

#[async_trait]
impl Handler for Live {
    fn limits_concurrency(&self) -> bool {
        false
    }

    async fn handle(&self, _: &Arc<ServerState>, request: &mut Request) -> Result<Response> {
        require_get(request)?;
        Ok(Response::json(StatusCode::OK, br#"{"status":"live"}"#.to_vec()))
    }
}

/// `/health/ready`: 200 while the database answers and takes writes, else 503.
#[derive(Debug)]
pub(crate) struct Ready;

#[async_trait]
impl Handler for Ready {
    fn limits_concurrency(&self) -> bool {
        false
    }

    async fn handle(&self, state: &Arc<ServerState>, request: &mut Request) -> Result<Response> {
        require_get(request)?;
        let unavailable = || Error::Unavailable("The database does not answer.".into());
        let answered = tokio::time::timeout(Duration::from_secs(2), state.db.ping()).await;
        match answered.map_err(|_| unavailable())?.map_err(|_| unavailable())? {
            Some(Unwritable::ReadOnly) => return Err(Error::Unavailable("The database is read-only.".into())),
            Some(Unwritable::DiskFull) => return Err(Error::Unavailable("The disk of the database is full.".into())),
            None => {}
        }
        Ok(Response::json(StatusCode::OK, br#"{"status":"ready"}"#.to_vec()))
    }
}

/// `/health/metrics`: the metrics of this server, in the Prometheus text format.
#[derive(Debug)]
pub(crate) struct MetricsEndpoint;

#[async_trait]
impl Handler for MetricsEndpoint {
    fn limits_concurrency(&self) -> bool {
        false
    }

    async fn handle(&self, state: &Arc<ServerState>, request: &mut Request) -> Result<Response> {
        require_get(request)?;
        // The gauges of the outbox come from the database. They are left out while it does not answer.
        let backlog = state.extension::<Webhooks>()?.metrics.backlog(&state.db, &state.clock).await;
        state.metrics.log.dropped(log::dropped_lines());
        state.metrics.cache.bytes("lists", state.responses.bytes());
        let text = state.metrics.text(&state.db.pools(), backlog.as_ref());
        Ok(Response::bytes(CONTENT_TYPE, text.into_bytes()))
    }
}

/// Any unknown path: 404, or 401 below the API without credentials.
#[derive(Debug)]
pub(crate) struct NotFound;

#[async_trait]
impl Handler for NotFound {
    fn route(&self, _: &Request) -> Option<&'static str> {
        Some(UNMATCHED)
    }

    async fn handle(&self, state: &Arc<ServerState>, request: &mut Request) -> Result<Response> {
        if ops::is_of_api(request.uri().path()) {
            authenticate(state, request).await?;
        }
        Err(Error::NotFound)
    }
}
