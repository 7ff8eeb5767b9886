//! What a person asks for: a test, one delivery again, everything that was missed.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use tokio::time::{Instant, sleep};

use super::completion::complete;
use super::delivery::{LEASE, claim_one, random};
use super::engine::{self, BREATH};
use super::exchange::{Exchange, Outcome};
use super::wanted::{insert_for, wants};
use crate::context::{Context, State};
use crate::db::{Connection, Sql};
use crate::error::{Error, Result};
use crate::event;

/// The event that a test sends. Nobody can subscribe to it, and `*` does not mean it.
pub const TEST: &str = "webhook.test";

/// Sends a test event to a webhook, active or not, and answers what came of it. It is attempted once.
///
/// # Errors
/// When the database fails, or the webhook is gone.
pub async fn test(state: &Arc<State>, exchange: Arc<dyn Exchange>, webhook_id: i64) -> Result<Outcome> {
    let (state, lasting) = (state.clone(), state.lasting.clone());
    // A client that goes away leaves no test that is said to have failed and was never attempted.
    lasting
        .to_the_end(async move {
            let delivery = insert_test(&state, webhook_id).await?;
            send(&state, exchange, delivery).await
        })
        .await
}

/// The event of a test and its only delivery, whose id is answered.
async fn insert_test(state: &State, webhook_id: i64) -> Result<i64> {
    let (dialect, now) = (state.db.dialect(), state.clock.now());
    let data = serde_json::json!({ "webhook": { "id": webhook_id } }).to_string();
    let transaction = state.db.begin().await?;
    let mut sql =
        Sql::new(dialect, "INSERT INTO \"events\" (\"name\", \"body\", \"created_at\", \"fanned_out_at\") VALUES (");
    sql.bind(TEST).push(", ").bind(event::body(TEST, now, data.as_bytes(), None));
    sql.push(", ").bind(now).push(", ").bind(now).push(") RETURNING \"id\"");
    let event = id(sql, &transaction).await?;
    // It is as if it had failed, so that nobody but the test attempts it.
    let columns =
        "\"uid\", \"webhook_id\", \"event_id\", \"status\", \"manual\", \"due_at\", \"finished_at\", \"created_at\"";
    let mut sql = Sql::new(dialect, format!("INSERT INTO \"webhook_deliveries\" ({columns}) VALUES ("));
    sql.bind(format!("msg_{}", random()?)).push(", ").bind(webhook_id).push(", ").bind(event);
    sql.push(", 'failed', ").bind(true).push(", ").bind(now).push(", ").bind(now).push(", ").bind(now);
    sql.push(") RETURNING \"id\"");
    let delivery = id(sql, &transaction).await?;
    transaction.commit().await?;
    Ok(delivery)
}

/// Sends a delivery of this webhook again, whatever became of it, and answers what came of that. A failure leaves the
/// delivery and its schedule as they were.
///
/// # Errors
/// [`Error::NotFound`] when it is no longer kept; [`Error::Conflict`] while another attempt at it is running.
pub async fn resend(state: &Arc<State>, exchange: Arc<dyn Exchange>, webhook_id: i64, uid: &str) -> Result<Outcome> {
    let mut sql = Sql::new(state.db.dialect(), "SELECT \"id\" FROM \"webhook_deliveries\" WHERE \"uid\" = ");
    sql.bind(uid).push(" AND \"webhook_id\" = ").bind(webhook_id);
    let row = sql.one(state.db.reader()).await?.ok_or(Error::NotFound)?;
    send(state, exchange, row.try_get("", "id")?).await
}

async fn send(state: &Arc<State>, exchange: Arc<dyn Exchange>, delivery: i64) -> Result<Outcome> {
    let (state, lasting) = (state.clone(), state.lasting.clone());
    // A client that goes away leaves no claim at which nobody works, and does not keep the attempt from being logged.
    lasting
        .to_the_end(async move {
            let claim = claim_one(&state.db, delivery, state.clock.now()).await?;
            let claim = claim.ok_or_else(|| Error::Conflict("An attempt at this delivery is running.".into()))?;
            let finished = engine::attempt(&state, exchange, claim).await;
            let until = Instant::now() + LEASE.to_std().unwrap_or_default();
            loop {
                match complete(&state.db, std::slice::from_ref(&finished)).await {
                    // It was made, and every attempt is logged.
                    Err(error) if Instant::now() < until => {
                        tracing::error!(%error, "webhooks: an attempt is not written; trying again");
                        sleep(BREATH).await;
                    }
                    done => return done.map(|()| finished.outcome),
                }
            }
        })
        .await
}

/// Queues what a webhook missed since then: deliveries that failed or were cancelled, and events that happened while it
/// was disabled. Answers how many. To be called in a transaction that holds the webhook, which must be active.
///
/// # Errors
/// When the database fails.
pub async fn recover(context: &Context<'_>, webhook_id: i64, since: DateTime<Utc>) -> Result<u64> {
    let (transaction, now, dialect) = (context.db(), context.now(), context.state().db.dialect());
    let mut sql =
        Sql::new(dialect, "UPDATE \"webhook_deliveries\" SET \"status\" = 'pending', \"retries\" = 0, \"manual\" = ");
    sql.bind(true).push(", \"finished_at\" = NULL, \"due_at\" = ").bind(now);
    sql.push(" WHERE \"status\" IN ('failed', 'cancelled') AND \"webhook_id\" = ").bind(webhook_id);
    sql.push(" AND \"event_id\" IN (SELECT e.\"id\" FROM \"events\" e JOIN \"webhooks\" w ON ");
    sql.push(&wants(context.catalog(), dialect)).push(" WHERE w.\"id\" = ").bind(webhook_id);
    sql.push(" AND e.\"name\" <> ").bind(TEST).push(" AND e.\"created_at\" >= ").bind(since).push(")");
    let again = sql.run(transaction).await?;
    let mut sql = insert_for(context.catalog(), dialect, now, true);
    sql.push(" WHERE w.\"is_active\" AND w.\"id\" = ").bind(webhook_id);
    sql.push(" AND e.\"fanned_out_at\" IS NOT NULL AND e.\"name\" <> ").bind(TEST);
    sql.push(" AND e.\"created_at\" >= w.\"created_at\" AND e.\"created_at\" >= ").bind(since);
    sql.push(" ON CONFLICT (\"event_id\", \"webhook_id\") DO NOTHING");
    let missed = sql.run(transaction).await?;
    Ok(again + missed)
}

async fn id(sql: Sql, transaction: &Connection) -> Result<i64> {
    let row = sql.one(transaction).await?.ok_or_else(|| Error::internal("the insert returned no row"))?;
    Ok(row.try_get("", "id")?)
}
