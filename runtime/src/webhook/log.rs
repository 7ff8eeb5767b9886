//! Attempts at deliveries as records: what was sent when, what came back, and when the next attempt is due.

use charter_macros::Resource;
use sea_orm::entity::prelude::*;

use crate::crud::Route;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "webhook_log", label = "Webhook log", plural = "logs", path = "logs", table = "webhook_logs")]
#[resource(ability = "webhooks", under(resource = "webhook", field = "webhook_id"), operations())]
pub struct Model {
    pub id: i64,
    #[field(reference("webhook"), internal)]
    pub webhook_id: i64,
    #[field(string(255), read_only)]
    pub event: String,
    /// The header `webhook-id`, the same on every attempt at one delivery.
    #[field(string(64), read_only)]
    pub delivery_id: String,
    /// From 1, as the header `X-Service-Attempt`.
    #[field(read_only)]
    pub attempt: i32,
    #[field(read_only)]
    pub response_status: Option<i32>,
    /// The beginning of the answer's body.
    #[field(text, read_only)]
    pub response_body: Option<String>,
    /// Why there was no answer.
    #[field(text, read_only)]
    pub error: Option<String>,
    #[field(read_only)]
    pub duration_ms: i32,
    #[field(read_only)]
    pub next_attempt_at: Option<DateTimeUtc>,
    #[field(timestamp(millis), read_only)]
    pub created_at: DateTimeUtc,
}

pub fn route() -> Route {
    Route::of::<Entity>()
}
