//! Delivery log: the resource with one record for each attempt, with the request, the response and the time of the next
//! attempt.

use charter_macros::{Output, Resource};
use sea_orm::entity::prelude::*;

use super::event_fields::readable_body;
use super::record::Delivery;
use super::redelivery::TEST_EVENT;
use super::signature::TIMESTAMP;
use super::subscriptions::{may_see_sql, resource_of};
use super::transport::{METHOD, headers};
use super::{Webhooks, redelivery};
use charter_core::db::Sql;
use charter_core::error::{Error, Result};
use charter_core::ops::{Access, Context, Route};

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "webhook_log", label = "Webhook log", plural = "logs", path = "logs", table = "webhook_logs")]
#[resource(ability = "webhooks", under(resource = "webhook", field = "webhook_id"), operations("list", "show"))]
#[resource(action(name = "resend", on = "record", output = Delivery, key = "delivery", external))]
#[resource(action(name = "request", on = "record", method = "get", output = SentRequest, key = "request", needs_write))]
pub struct Model {
    pub id: i64,
    #[field(reference("webhook"), internal)]
    pub webhook_id: i64,
    /// URL of this attempt, which the webhook may have changed since. Null in rows from before this column.
    #[field(string(2048), internal)]
    pub url: Option<String>,
    /// Start of the attempt; `created_at` is its end.
    #[field(internal)]
    pub sent_at: Option<DateTimeUtc>,
    #[field(string(255), read_only)]
    pub event: String,
    /// The header `webhook-id`, the same on every attempt at one delivery.
    #[field(string(64), read_only)]
    pub delivery_id: String,
    /// Counted from 1, as the header `X-Service-Attempt`.
    #[field(read_only)]
    pub attempt: i32,
    #[field(read_only)]
    pub response_status: Option<i32>,
    /// The first 2 KiB of the response body.
    #[field(text, read_only)]
    pub response_body: Option<String>,
    /// Why no complete response arrived.
    #[field(text, read_only)]
    pub error: Option<String>,
    #[field(read_only, label = "Duration (ms)")]
    pub duration_ms: i32,
    #[field(read_only)]
    pub next_attempt_at: Option<DateTimeUtc>,
    #[field(read_only)]
    pub created_at: DateTimeUtc,
}

/// Request of an attempt as it was sent, or would have been if the address had been reached.
#[derive(Clone, Debug, Output)]
pub struct SentRequest {
    #[field(string(16), label = "HTTP method", example = "POST")]
    pub method: String,
    /// Null for attempts from before the URL was stored.
    #[field(string(2048), example = "https://hooks.example.com/records")]
    pub url: Option<String>,
    /// By name, without signatures: a reader of the log cannot forge a delivery.
    #[field(
        example = "{\"content-type\": \"application/json\", \"x-service-event\": \"role.created\", \"x-service-attempt\": \"1\"}"
    )]
    pub headers: Json,
    /// The signed text. Null when the event has been pruned.
    #[field(
        text,
        widget = "monospace",
        example = "{\"event\":\"role.created\",\"timestamp\":\"2026-11-21T10:00:00.000Z\",\"data\":{}}"
    )]
    pub body: Option<String>,
}

pub fn route() -> Route {
    charter_core::route!(Entity, Behaviour, hooks(), actions(record_output resend, record_output request))
}

trait Behaviour {
    fn resend(context: &Context<'_>, log: &Model) -> impl Future<Output = Result<Delivery>> + Send;
    fn request(context: &Context<'_>, log: &Model) -> impl Future<Output = Result<SentRequest>> + Send;
}

impl Behaviour for Entity {
    /// Makes one more attempt at the delivery, now.
    async fn resend(context: &Context<'_>, log: &Model) -> Result<Delivery> {
        need_access(context, log).await?;
        let state = context.state_arc();
        redelivery::resend(state, state.extension::<Webhooks>()?.transport.clone(), log.webhook_id, &log.delivery_id)
            .await
            .map(Delivery::from)
    }

    /// Returns the request of an attempt, which contains the record: it needs the access to read it.
    async fn request(context: &Context<'_>, log: &Model) -> Result<SentRequest> {
        need_access(context, log).await?;
        let mut sql =
            Sql::new(context.state().db.dialect(), "SELECT e.\"body\", e.\"trace\" FROM \"webhook_deliveries\" d ");
        sql.push("JOIN \"events\" e ON e.\"id\" = d.\"event_id\" WHERE d.\"uid\" = ").bind(log.delivery_id.as_str());
        sql.push(" AND d.\"webhook_id\" = ").bind(log.webhook_id);
        let (body, trace): (_, Option<String>) = match sql.one(context.db()).await? {
            Some(row) => (row.try_get("", "body")?, row.try_get("", "trace")?),
            None => (None, None),
        };
        let trace = trace.and_then(|trace| trace.parse().ok());
        let body = body.map(|body: String| {
            let has_right = |right: &str| context.caller().has_right(right);
            readable_body(context.catalog(), &log.event, &body.into(), has_right).to_string()
        });
        let (number, at) = (log.attempt.unsigned_abs(), log.sent_at.unwrap_or_default());
        let headers = headers(&log.event, &log.delivery_id, number, at, trace);
        let known = headers.into_iter().filter(|(name, _)| *name != TIMESTAMP || log.sent_at.is_some());
        let headers = known.map(|(name, value)| (name.to_string(), value.into())).collect();
        Ok(SentRequest { method: METHOD.to_string(), url: log.url.clone(), headers: Json::Object(headers), body })
    }
}

/// Rejects users who may no longer read the record of the event.
async fn need_access(context: &Context<'_>, log: &Model) -> Result<()> {
    let (catalog, caller) = (context.catalog(), context.caller());
    match resource_of(catalog, &log.event) {
        // An event does not name the resource that an attachment belongs to.
        Some(entry) if entry.is_attached() => {
            catalog.attachables().try_for_each(|entry| Access::read(entry).check(caller))?;
        }
        Some(entry) => Access::read(entry).check(caller)?,
        None if log.event == TEST_EVENT => {}
        // The rights to an event of another version of the server are unknown.
        None if caller.is_admin => caller.need_ability("*")?,
        None => return Err(Error::AdministratorsOnly),
    }
    if caller.is_admin {
        return Ok(());
    }
    let dialect = context.state().db.dialect();
    // Users who are not administrators reach only their own webhooks.
    let mut sql =
        Sql::new(dialect, "SELECT 1 FROM \"webhook_deliveries\" d JOIN \"webhooks\" w ON w.\"id\" = d.\"webhook_id\" ");
    sql.push("JOIN \"events\" e ON e.\"id\" = d.\"event_id\" WHERE d.\"uid\" = ").bind(log.delivery_id.as_str());
    sql.push(" AND d.\"webhook_id\" = ").bind(log.webhook_id);
    sql.push(" AND NOT (").push(&may_see_sql(context.catalog(), dialect)).push(")");
    sql.one(context.db()).await?.map_or(Ok(()), |_| Err(Error::AdministratorsOnly))
}
