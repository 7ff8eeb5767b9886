//! Attempts at deliveries as records: what was sent when and where, what came back, and when the next attempt is due.

use charter_macros::{Output, Resource};
use sea_orm::entity::prelude::*;

use super::exchange::{METHOD, headers};
use super::manual;
use super::record::Delivery;
use super::signature::TIMESTAMP;
use super::wanted::{permission, sees};
use crate::db::Sql;
use crate::error::{Error, Result};
use crate::ops::{Context, Route};

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "webhook_log", label = "Webhook log", plural = "logs", path = "logs", table = "webhook_logs")]
#[resource(ability = "webhooks", under(resource = "webhook", field = "webhook_id"), operations("list", "show"))]
#[resource(action(name = "resend", on = "record", output = Delivery, key = "delivery", apart))]
#[resource(action(name = "request", on = "record", method = "get", output = Sent, key = "request", needs_write))]
pub struct Model {
    pub id: i64,
    #[field(reference("webhook"), internal)]
    pub webhook_id: i64,
    /// Where it was sent, which the webhook may have left since; none of attempts before this was kept.
    #[field(string(2048), internal)]
    pub url: Option<String>,
    /// When it began: `created_at` is when it ended.
    #[field(internal)]
    pub sent_at: Option<DateTimeUtc>,
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
    #[field(read_only, label = "Duration (ms)")]
    pub duration_ms: i32,
    #[field(read_only)]
    pub next_attempt_at: Option<DateTimeUtc>,
    #[field(read_only)]
    pub created_at: DateTimeUtc,
}

/// What an attempt sent, or would have sent, had its address been reached.
#[derive(Clone, Debug, Output)]
pub struct Sent {
    #[field(string(16), example = "POST")]
    pub method: String,
    /// Null for an attempt before this was kept.
    #[field(string(2048), example = "https://hooks.example.com/records")]
    pub url: Option<String>,
    /// By their names, without those that sign the delivery: nobody who reads a log can send it again as ours.
    #[field(
        example = "{\"content-type\": \"application/json\", \"x-service-event\": \"role.created\", \"x-service-attempt\": \"1\"}"
    )]
    pub headers: Json,
    /// The very text that was signed. Null when the event is no longer kept.
    #[field(
        text,
        widget = "monospace",
        example = "{\"event\":\"role.created\",\"timestamp\":\"2026-11-21T10:00:00.000Z\",\"data\":{}}"
    )]
    pub body: Option<String>,
}

pub fn route() -> Route {
    crate::route!(Entity, Behaviour, hooks(), actions(record_output resend, record_output request))
}

trait Behaviour {
    fn resend(context: &Context<'_>, log: &Model) -> impl Future<Output = Result<Delivery>> + Send;
    fn request(context: &Context<'_>, log: &Model) -> impl Future<Output = Result<Sent>> + Send;
}

impl Behaviour for Entity {
    /// Makes one more attempt at the delivery, now.
    async fn resend(context: &Context<'_>, log: &Model) -> Result<Delivery> {
        need_sight(context, log).await?;
        let state = context.state_arc();
        manual::resend(state, state.webhook_transport.clone(), log.webhook_id, &log.delivery_id)
            .await
            .map(Delivery::from)
    }

    /// Answers what was sent. Events tell of records that whoever reads webhooks may have no ability to read: what it
    /// takes is the ability to subscribe to them.
    async fn request(context: &Context<'_>, log: &Model) -> Result<Sent> {
        need_sight(context, log).await?;
        let mut sql =
            Sql::new(context.state().db.dialect(), "SELECT e.\"body\", e.\"trace\" FROM \"webhook_deliveries\" d ");
        sql.push("JOIN \"events\" e ON e.\"id\" = d.\"event_id\" WHERE d.\"uid\" = ").bind(log.delivery_id.as_str());
        sql.push(" AND d.\"webhook_id\" = ").bind(log.webhook_id);
        let (body, trace): (_, Option<String>) = match sql.one(context.db()).await? {
            Some(row) => (row.try_get("", "body")?, row.try_get("", "trace")?),
            None => (None, None),
        };
        let trace = trace.and_then(|trace| trace.parse().ok());
        let (number, at) = (log.attempt.unsigned_abs(), log.sent_at.unwrap_or_default());
        let headers = headers(&log.event, &log.delivery_id, number, at, trace);
        let known = headers.into_iter().filter(|(name, _)| *name != TIMESTAMP || log.sent_at.is_some());
        let headers = known.map(|(name, value)| (name.to_string(), value.into())).collect();
        Ok(Sent { method: METHOD.to_string(), url: log.url.clone(), headers: Json::Object(headers), body })
    }
}

/// Who may no longer see what an event tells of is not told again.
async fn need_sight(context: &Context<'_>, log: &Model) -> Result<()> {
    if context.caller().is_admin {
        return Ok(());
    }
    if let Some(needed) = permission(context.catalog(), &log.event) {
        context.caller().need_permission(needed)?;
    }
    let dialect = context.state().db.dialect();
    // Others than administrators reach their own webhooks alone.
    let mut sql =
        Sql::new(dialect, "SELECT 1 FROM \"webhook_deliveries\" d JOIN \"webhooks\" w ON w.\"id\" = d.\"webhook_id\" ");
    sql.push("JOIN \"events\" e ON e.\"id\" = d.\"event_id\" WHERE d.\"uid\" = ").bind(log.delivery_id.as_str());
    sql.push(" AND d.\"webhook_id\" = ").bind(log.webhook_id);
    sql.push(" AND NOT (").push(&sees(context.catalog(), dialect)).push(")");
    sql.one(context.db()).await?.map_or(Ok(()), |_| Err(Error::AdministratorsOnly))
}
