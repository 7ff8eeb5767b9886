//! `/health/live`, `/health/ready` and `/health/metrics`, and the answer to every path that nothing stands behind.

use std::sync::Arc;
use std::time::Duration;

use salvo::http::StatusCode;
use salvo::{Request, async_trait};

use super::endpoint::only_get;
use super::{Answer, Answers};
use crate::auth::authenticate;
use crate::context::State;
use crate::error::{Error, Result};
use crate::metrics::{CONTENT_TYPE, UNMATCHED};
use crate::ops;

/// 200 while the process runs.
#[derive(Debug)]
pub struct Live;

#[async_trait]
impl Answers for Live {
    fn takes_turns(&self) -> bool {
        false
    }

    async fn answer(&self, _: &Arc<State>, request: &mut Request) -> Result<Answer> {
        only_get(request)?;
        Ok(Answer::json(StatusCode::OK, br#"{"status":"live"}"#.to_vec()))
    }
}

/// 200 only while the database answers, else 503.
#[derive(Debug)]
pub struct Ready;

#[async_trait]
impl Answers for Ready {
    fn takes_turns(&self) -> bool {
        false
    }

    async fn answer(&self, state: &Arc<State>, request: &mut Request) -> Result<Answer> {
        only_get(request)?;
        let away = || Error::Unavailable("The database does not answer.".into());
        tokio::time::timeout(Duration::from_secs(2), state.db.ping()).await.map_err(|_| away())?.map_err(|_| away())?;
        Ok(Answer::json(StatusCode::OK, br#"{"status":"ready"}"#.to_vec()))
    }
}

/// The metrics of this server, in the text format of Prometheus.
#[derive(Debug)]
pub struct Figures;

#[async_trait]
impl Answers for Figures {
    fn takes_turns(&self) -> bool {
        false
    }

    async fn answer(&self, state: &Arc<State>, request: &mut Request) -> Result<Answer> {
        only_get(request)?;
        // Gauges that only the database knows are left out while it does not answer.
        let backlog = state.webhooks.backlog(&state.db, &state.clock).await;
        state.metrics.cache.bytes("lists", state.responses.bytes());
        let text = state.metrics.text(&state.db.pools(), backlog.as_ref());
        Ok(Answer::bytes(CONTENT_TYPE, text.into_bytes()))
    }
}

/// Every other path: 401 without credentials where the API begins, else 404.
#[derive(Debug)]
pub struct Nothing;

#[async_trait]
impl Answers for Nothing {
    fn route(&self, _: &Request) -> Option<&'static str> {
        Some(UNMATCHED)
    }

    async fn answer(&self, state: &Arc<State>, request: &mut Request) -> Result<Answer> {
        if ops::is_of_api(request.uri().path()) {
            authenticate(state, request).await?;
        }
        Err(Error::NotFound)
    }
}
