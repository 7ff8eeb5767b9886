//! The HTTP server around the operations: request ids, limits, logs, health, and a stop that loses nothing.

mod answer;
mod encoding;
mod endpoint;
mod files;
mod form;
mod gate;
pub(crate) mod headers;
mod health;
mod listener;
mod origin;
mod pending;
mod rate_limit;
mod reference;
mod serve;

pub use answer::{Answer, JSON};
pub use endpoint::{Answers, Endpoint, Inner, begin_upload, only_get, read_body, step_aside};
pub(crate) use form::pairs_to_json as form_to_json;
pub use gate::{Gate, Turn};
pub(crate) use health::Nothing;
pub use origin::origin;
pub use pending::{Pending, time_for};
pub use rate_limit::{RateLimit, Usage};
/// What mounted paths are made of, in the version that the server is.
pub use salvo;
pub use serve::{Mount, Running, Signals, router, serve};
