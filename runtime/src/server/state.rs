//! State of the HTTP server: the state of the operations, and the limits and settings of requests.

use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{ConcurrencyLimiter, Mount, OpenDoors, RateLimit, ResponseBudget, SignInGuard};
use crate::config::Config;
use crate::language::Tables;
use charter_core::ops::State;
use charter_platform::auth::oidc;

/// Rate limits of sign-in attempts.
#[derive(Debug)]
pub struct SignIns {
    pub addresses: RateLimit<IpAddr>,
    pub accounts: SignInGuard,
    /// Requests for a new password.
    pub resets: SignInGuard,
}

/// State that all requests share. It dereferences to the [`State`] of the operations, which functions below HTTP take.
#[derive(Debug)]
pub struct ServerState {
    pub state: Arc<State>,
    /// The application's own routes, besides the resources.
    pub mounts: Vec<Mount>,
    /// The languages of the panel.
    pub(crate) languages: Tables,
    pub config: Config,
    /// Admission control: the limit of concurrent requests.
    pub concurrency_limiter: Arc<ConcurrencyLimiter>,
    /// Memory budget of unsent responses.
    pub response_budget: ResponseBudget,
    /// Rate limit of each token, by its digest.
    pub token_rate: RateLimit<[u8; 32]>,
    /// Rate limit of requests without a valid token, by address.
    pub anonymous_rate: RateLimit<IpAddr>,
    /// Rate limits of callers without a token who create records.
    pub open_doors: OpenDoors,
    pub sign_ins: SignIns,
    /// The identity provider of the panel.
    pub oidc: Option<oidc::Provider>,
    /// The server closes its connections after their current responses.
    pub is_stopping: AtomicBool,
}

impl ServerState {
    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }
}

impl Deref for ServerState {
    type Target = Arc<State>;

    fn deref(&self) -> &Arc<State> {
        &self.state
    }
}
