//! Webhooks: events of the outbox, delivered to the addresses that subscribed to them, at least once.

pub mod address;
pub mod exchange;
pub mod log;
pub mod name;
pub mod record;
pub mod send;
pub mod signature;

pub use address::Policy;
pub use exchange::{Attempt, Exchange, Outcome};
pub use send::{Limits, Sender};
pub use signature::{Secrets, SigningSecret};
