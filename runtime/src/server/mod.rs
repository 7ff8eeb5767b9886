//! HTTP server: listener, limits, request log, compression, health checks and graceful shutdown.

mod client_ip;
mod compression;
mod concurrency_limit;
mod docs_page;
mod endpoint;
mod files;
pub(crate) mod headers;
mod health;
mod listener;
mod rate_limit;
mod request_body;
mod response;
mod response_budget;
mod serve;
mod urlencoded_body;

pub use client_ip::client_ip;
pub use concurrency_limit::{ConcurrencyLimiter, Permit};
pub use endpoint::{Endpoint, Handler, InternalRequest, release_for_external_call, require_get};
pub(crate) use health::NotFound;
pub use rate_limit::{RateLimit, Usage};
pub use request_body::{begin_upload, read_body};
pub use response::{JSON, Response};
pub use response_budget::{ResponseBudget, send_timeout};
/// The version of salvo that the server uses, for mounted paths.
pub use salvo;
pub use serve::{Mount, Running, Signals, router, serve};
pub(crate) use urlencoded_body::pairs_to_json as form_to_json;
