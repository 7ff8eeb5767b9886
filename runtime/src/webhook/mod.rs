//! Webhooks: events of the outbox, delivered to the addresses that subscribed to them, at least once.

pub mod exchange;
pub mod log;
pub mod record;
