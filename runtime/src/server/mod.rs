//! HTTP server: listener, limits, request log, compression, health checks and graceful shutdown.

mod authenticate;
mod client_ip;
mod compression;
mod concurrency_limit;
mod connection_limit;
mod cors;
mod endpoint;
mod files;
mod head_timeout;
pub(crate) mod headers;
mod health;
mod listener;
mod rate_limit;
mod request_body;
mod resource_handler;
pub(crate) mod resource_router;
mod response;
mod response_budget;
mod search;
mod sign_in_guard;
mod state;
mod upload;
mod urlencoded_body;

pub(crate) use authenticate::Identified;
pub use authenticate::{authenticate, authenticate_with};
pub(crate) use client_ip::ForwardedAddress;
pub use client_ip::{client_address, client_ip};
pub(crate) use compression::Compression;
pub use concurrency_limit::{ConcurrencyLimiter, Permit};
pub(crate) use connection_limit::ConnectionLimit;
pub(crate) use cors::Cors;
pub use endpoint::{Endpoint, Handler, InternalRequest, release_for_external_call, require_get};
pub(crate) use files::Files;
pub(crate) use health::NotFound;
pub(crate) use health::{Live, MetricsEndpoint, Ready};
pub(crate) use listener::{AcceptLoop, AcceptedConnections, Listener};
pub use rate_limit::{RateLimit, Usage};
pub(crate) use request_body::Receiving;
pub use request_body::{begin_upload, read_body};
pub use response::{JSON, Response, status_of};
pub use response_budget::ResponseBudget;
/// The version of salvo that the server uses, for mounted paths.
pub use salvo;
pub use sign_in_guard::SignInGuard;
pub use state::{Mount, ServerState, SignIns};
pub(crate) use urlencoded_body::pairs_to_json as form_to_json;
