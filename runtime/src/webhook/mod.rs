//! Webhooks: events of the outbox, delivered to the addresses that subscribed to them, at least once.

pub mod address;
mod cancellation;
mod completion;
mod delivery;
mod engine;
pub mod exchange;
pub mod log;
pub mod manual;
mod metrics;
pub mod name;
pub mod record;
mod retention;
mod schedule;
pub mod send;
pub mod signature;
mod wanted;

pub use address::Policy;
pub use cancellation::cancel;
pub use delivery::{fan_out, write_waiting};
pub use engine::{Engine, round};
pub use exchange::{Attempt, Exchange, Outcome};
pub use metrics::Metrics;
pub use record::stale_references;
pub use retention::prune;
pub use send::{Limits, Sender};
pub use signature::{Secrets, SigningSecret};
