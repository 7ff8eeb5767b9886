//! Attempts at deliveries as records: what was sent when, what came back, and when the next attempt is due.

use charter_macros::Resource;
use sea_orm::entity::prelude::*;

use super::manual;
use super::record::Delivery;
use crate::crud::{Context, Route};
use crate::error::Result;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "webhook_log", label = "Webhook log", plural = "logs", path = "logs", table = "webhook_logs")]
#[resource(ability = "webhooks", under(resource = "webhook", field = "webhook_id"), operations("list", "show"))]
#[resource(action(name = "resend", on = "record", output = Delivery, key = "delivery", apart))]
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
    crate::route!(Entity, Behaviour, hooks(), actions(record_output resend))
}

trait Behaviour {
    fn resend(context: &Context<'_>, log: &Model) -> impl Future<Output = Result<Delivery>> + Send;
}

impl Behaviour for Entity {
    /// Makes one more attempt at the delivery, now.
    async fn resend(context: &Context<'_>, log: &Model) -> Result<Delivery> {
        let state = context.shared();
        manual::resend(state, state.sender.clone(), log.webhook_id, &log.delivery_id).await.map(Delivery::from)
    }
}
