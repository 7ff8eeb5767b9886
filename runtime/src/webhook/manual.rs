//! What a person asks for: a test, one delivery again, everything that was missed.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use sea_orm::{EntityTrait, QuerySelect};
use tokio::time::{Instant, sleep};

use super::completion::complete;
use super::delivery::{LEASE, MOST_DELIVERIES, claim_one, random};
use super::engine::{self, BREATH};
use super::exchange::{Exchange, Outcome};
use super::record;
use super::wanted::{insert_for, wants};
use crate::context::State;
use crate::db::{Connection, Sql};
use crate::error::{Error, Result};
use crate::event;
use crate::trace::Trace;

/// The event that a test sends. Nobody can subscribe to it, and `*` does not mean it.
pub const TEST: &str = "webhook.test";

/// Sends a test event to a webhook, active or not, and answers what came of it. It is attempted once.
///
/// # Errors
/// When the database fails, or the webhook is gone.
pub async fn test(
    state: &Arc<State>,
    exchange: Arc<dyn Exchange>,
    webhook_id: i64,
    trace: Option<Trace>,
) -> Result<Outcome> {
    let (state, tasks) = (state.clone(), state.tasks.clone());
    // A client that goes away leaves no test that is said to have failed and was never attempted.
    tasks
        .to_the_end(async move {
            let delivery = insert_test(&state, webhook_id, trace).await?;
            send(&state, exchange, delivery).await
        })
        .await
}

/// The event of a test and its only delivery, whose id is answered.
async fn insert_test(state: &State, webhook_id: i64, trace: Option<Trace>) -> Result<i64> {
    let (dialect, now) = (state.db.dialect(), state.clock.now());
    let data = serde_json::json!({ "webhook": { "id": webhook_id } }).to_string();
    let transaction = state.db.begin().await?;
    let columns = "\"name\", \"body\", \"trace\", \"created_at\", \"fanned_out_at\"";
    let mut sql = Sql::new(dialect, format!("INSERT INTO \"events\" ({columns}) VALUES ("));
    sql.bind(TEST).push(", ").bind(event::body(TEST, now, data.as_bytes()));
    sql.push(", ").bind(trace.map(|trace| trace.to_string()));
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
    let (state, tasks) = (state.clone(), state.tasks.clone());
    // A client that goes away leaves no claim at which nobody works, and does not keep the attempt from being logged.
    tasks
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
/// was disabled. Answers how many. It works through the events some at a time, each in a transaction of its own, and to the
/// end, whoever waits for it.
///
/// # Errors
/// [`Error::NotFound`] when it is gone, [`Error::Conflict`] while it is disabled.
pub async fn recover(state: &Arc<State>, webhook_id: i64, since: DateTime<Utc>) -> Result<u64> {
    let (state, tasks) = (state.clone(), state.tasks.clone());
    tasks
        .to_the_end(async move {
            let mut all = 0;
            let mut after = Some(0);
            while let Some(id) = after {
                let some = Portion { webhook_id, since, after: id, last: last(&state, since, id).await? };
                all += some.queue(&state).await?;
                after = some.last;
            }
            Ok(all)
        })
        .await
}

/// The last of the next events that one transaction works through; nothing where these are all.
async fn last(state: &State, since: DateTime<Utc>, after: i64) -> Result<Option<i64>> {
    let mut sql = Sql::new(state.db.dialect(), "SELECT \"id\" FROM \"events\" WHERE \"id\" > ");
    sql.bind(after).push(" AND \"created_at\" >= ").bind(since);
    sql.push(&format!(" ORDER BY \"id\" LIMIT 1 OFFSET {}", MOST_DELIVERIES - 1));
    Ok(sql.one(state.db.reader()).await?.map(|row| row.try_get("", "id")).transpose()?)
}

/// Some of the events since then: those behind one, up to another.
struct Portion {
    webhook_id: i64,
    since: DateTime<Utc>,
    after: i64,
    last: Option<i64>,
}

impl Portion {
    async fn queue(&self, state: &State) -> Result<u64> {
        let (catalog, now, dialect) = (&state.catalog, state.clock.now(), state.db.dialect());
        let transaction = state.db.begin().await?;
        // Whoever disables it waits, and then cancels what is queued here.
        let locked = record::Entity::find_by_id(self.webhook_id).lock_exclusive().one(&transaction).await?;
        if !locked.ok_or(Error::NotFound)?.is_active {
            return Err(Error::Conflict("The webhook is disabled: set `is_active` to true first.".into()));
        }
        let mut sql = Sql::new(
            dialect,
            "UPDATE \"webhook_deliveries\" SET \"status\" = 'pending', \"retries\" = 0, \"manual\" = ",
        );
        sql.bind(true).push(", \"finished_at\" = NULL, \"due_at\" = ").bind(now);
        sql.push(" WHERE \"status\" IN ('failed', 'cancelled') AND \"webhook_id\" = ").bind(self.webhook_id);
        sql.push(" AND \"event_id\" IN (SELECT e.\"id\" FROM \"events\" e JOIN \"webhooks\" w ON ");
        sql.push(&wants(catalog, dialect)).push(" WHERE w.\"id\" = ").bind(self.webhook_id);
        self.write_events(&mut sql);
        let again = sql.push(")").clone().run(&transaction).await?;
        let mut sql = insert_for(catalog, dialect, now, true);
        sql.push(" WHERE w.\"is_active\" AND w.\"id\" = ").bind(self.webhook_id);
        sql.push(" AND e.\"fanned_out_at\" IS NOT NULL AND e.\"created_at\" >= w.\"created_at\"");
        self.write_events(&mut sql);
        sql.push(" ON CONFLICT (\"event_id\", \"webhook_id\") DO NOTHING");
        let missed = sql.run(&transaction).await?;
        transaction.commit().await?;
        Ok(again + missed)
    }

    /// That the event `e` is one of them.
    fn write_events(&self, sql: &mut Sql) {
        sql.push(" AND e.\"name\" <> ").bind(TEST).push(" AND e.\"created_at\" >= ").bind(self.since);
        sql.push(" AND e.\"id\" > ").bind(self.after);
        if let Some(last) = self.last {
            sql.push(" AND e.\"id\" <= ").bind(last);
        }
    }
}

async fn id(sql: Sql, transaction: &Connection) -> Result<i64> {
    let row = sql.one(transaction).await?.ok_or_else(|| Error::internal("the insert returned no row"))?;
    Ok(row.try_get("", "id")?)
}
