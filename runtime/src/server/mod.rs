//! The HTTP server around the operations: request ids, limits, logs, health, and a stop that loses nothing.

mod answer;
mod endpoint;
mod files;
mod health;
mod rate_limit;
mod serve;

pub use answer::Answer;
pub use endpoint::{Answers, Endpoint, begin_upload, read_body};
pub use rate_limit::RateLimit;
pub use serve::{Running, Signals, serve};
