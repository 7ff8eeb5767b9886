//! Deliveries at a user's request: a test event, one delivery again, and recovery of everything missed.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use sea_orm::{EntityTrait, QuerySelect};
use tokio::time::{Instant, sleep};

use super::Webhooks;
use super::condition;
use super::delivery::{LEASE, claim_one, make_attempt, random_hex};
use super::dispatcher::ERROR_BACKOFF;
use super::fan_out::MAX_BATCH_DELIVERIES;
use super::record;
use super::results::record_results;
use super::subscriptions::{insert_deliveries, receives_sql};
use super::suspension::room;
use super::transport::{Outcome, Transport};
use charter_core::db::{Connection, Sql};
use charter_core::error::{Error, Result};
use charter_core::ops::State;
use charter_core::ops::outbox;
use charter_core::trace::Trace;

/// Name of the test event. Webhooks cannot subscribe to it, and `*` does not include it.
pub const TEST_EVENT: &str = "webhook.test";

/// Sends a test event to a webhook, active or not, in a single attempt and returns its outcome.
///
/// # Errors
/// If the database fails or the webhook is deleted.
pub async fn test(
    state: &Arc<State>,
    transport: Arc<dyn Transport>,
    webhook_id: i64,
    trace: Option<Trace>,
) -> Result<Outcome> {
    let (state, detached_tasks) = (state.clone(), state.detached_tasks.clone());
    // Runs to the end if the client disconnects: a test that was never attempted must not appear as failed.
    detached_tasks
        .run_to_completion(async move {
            let delivery = insert_test(&state, webhook_id, trace).await?;
            send(&state, transport, delivery).await
        })
        .await
}

/// Inserts a test event with its only delivery and returns the id of the delivery.
async fn insert_test(state: &State, webhook_id: i64, trace: Option<Trace>) -> Result<i64> {
    let (dialect, now) = (state.db.dialect(), state.clock.now());
    let data = serde_json::json!({ "webhook": { "id": webhook_id } }).to_string();
    let transaction = state.db.begin().await?;
    let columns = "\"name\", \"body\", \"trace\", \"created_at\", \"fanned_out_at\"";
    let mut sql = Sql::new(dialect, format!("INSERT INTO \"events\" ({columns}) VALUES ("));
    sql.bind(TEST_EVENT).push(", ").bind(outbox::body(TEST_EVENT, now, data.as_bytes()));
    sql.push(", ").bind(trace.map(|trace| trace.to_string()));
    sql.push(", ").bind(now).push(", ").bind(now).push(") RETURNING \"id\"");
    let event = inserted_id(sql, &transaction).await?;
    // The status `failed` keeps the dispatcher from attempting it.
    let columns =
        "\"uid\", \"webhook_id\", \"event_id\", \"status\", \"manual\", \"due_at\", \"finished_at\", \"created_at\"";
    let mut sql = Sql::new(dialect, format!("INSERT INTO \"webhook_deliveries\" ({columns}) VALUES ("));
    sql.bind(format!("msg_{}", random_hex()?)).push(", ").bind(webhook_id).push(", ").bind(event);
    sql.push(", 'failed', ").bind(true).push(", ").bind(now).push(", ").bind(now).push(", ").bind(now);
    sql.push(") RETURNING \"id\"");
    let delivery = inserted_id(sql, &transaction).await?;
    transaction.commit().await?;
    Ok(delivery)
}

/// Sends a delivery of this webhook again, in any status, and returns the outcome. A failure leaves the delivery and
/// its schedule unchanged.
///
/// # Errors
/// [`Error::NotFound`] if the delivery has been pruned; [`Error::Conflict`] while another attempt is running.
pub async fn resend(state: &Arc<State>, transport: Arc<dyn Transport>, webhook_id: i64, uid: &str) -> Result<Outcome> {
    let mut sql = Sql::new(state.db.dialect(), "SELECT \"id\" FROM \"webhook_deliveries\" WHERE \"uid\" = ");
    sql.bind(uid).push(" AND \"webhook_id\" = ").bind(webhook_id);
    let row = sql.one(state.db.reader()).await?.ok_or(Error::NotFound)?;
    send(state, transport, row.try_get("", "id")?).await
}

async fn send(state: &Arc<State>, transport: Arc<dyn Transport>, delivery: i64) -> Result<Outcome> {
    let metrics = state.extension::<Webhooks>()?.metrics.clone();
    let (state, detached_tasks) = (state.clone(), state.detached_tasks.clone());
    // Runs to the end if the client disconnects: the lease is released and the attempt is logged.
    detached_tasks
        .run_to_completion(async move {
            let claim = claim_one(&state, delivery, state.clock.now()).await?;
            let claim = claim.ok_or_else(|| Error::Conflict("An attempt at this delivery is in progress.".into()))?;
            let finished = make_attempt(&metrics, &state.clock, transport, claim).await;
            let until = Instant::now() + LEASE.to_std().unwrap_or_default();
            loop {
                match record_results(&state.db, std::slice::from_ref(&finished)).await {
                    // The attempt was made and must be logged.
                    Err(error) if Instant::now() < until => {
                        tracing::error!(%error, "webhook delivery: the result of an attempt could not be stored; retrying");
                        sleep(ERROR_BACKOFF).await;
                    }
                    done => return done.map(|()| finished.outcome),
                }
            }
        })
        .await
}

/// Queues everything that a webhook missed since `since`: failed and cancelled deliveries, and events from while it was
/// disabled. Returns their number. Works in batches of events, each in its own transaction, and runs to the end if the
/// client disconnects.
///
/// # Errors
/// [`Error::NotFound`] if the webhook is deleted, [`Error::Conflict`] while it is disabled, or if its user may have no more
/// pending deliveries.
pub async fn recover(state: &Arc<State>, webhook_id: i64, since: DateTime<Utc>) -> Result<u64> {
    let (state, detached_tasks) = (state.clone(), state.detached_tasks.clone());
    detached_tasks
        .run_to_completion(async move {
            let mut all = 0;
            let mut after = Some(0);
            while let Some(id) = after {
                let room = room(&state, webhook_id).await?.map_or(MAX_BATCH_DELIVERIES, |room| {
                    usize::try_from(room).unwrap_or(usize::MAX).min(MAX_BATCH_DELIVERIES)
                });
                if room == 0 {
                    return Err(Error::Conflict(format!(
                        "The webhooks of this user have as many pending deliveries as they may have: {all} were queued. Recover \
                         the rest when some of them have been sent."
                    )));
                }
                let last = range_end(&state, since, id, room).await?;
                let some = EventRange { webhook_id, since, after: id, last };
                all += some.queue(&state).await?;
                after = some.last;
            }
            Ok(all)
        })
        .await
}

/// The last event id of the next batch, of at most `most` events; `None` if the batch is the last one.
async fn range_end(state: &State, since: DateTime<Utc>, after: i64, most: usize) -> Result<Option<i64>> {
    let mut sql = Sql::new(state.db.dialect(), "SELECT \"id\" FROM \"events\" WHERE \"id\" > ");
    sql.bind(after).push(" AND \"created_at\" >= ").bind(since);
    sql.push(&format!(" ORDER BY \"id\" LIMIT 1 OFFSET {}", most - 1));
    Ok(sql.one(state.db.reader()).await?.map(|row| row.try_get("", "id")).transpose()?)
}

/// A batch of events since `since`: after one id, up to another.
struct EventRange {
    webhook_id: i64,
    since: DateTime<Utc>,
    after: i64,
    last: Option<i64>,
}

impl EventRange {
    async fn queue(&self, state: &State) -> Result<u64> {
        let (catalog, now, dialect) = (&state.catalog, state.clock.now(), state.db.dialect());
        let transaction = state.db.begin().await?;
        // A request that disables the webhook waits, and then cancels what is queued here.
        let locked = record::Entity::find_by_id(self.webhook_id).lock_exclusive().one(&transaction).await?;
        let webhook = locked.ok_or(Error::NotFound)?;
        if !webhook.is_active {
            return Err(Error::Conflict("The webhook is disabled: set `is_active` to true first.".into()));
        }
        let excluded = match webhook.when {
            Some(_) => self.excluded(state, &transaction).await?,
            None => Vec::new(),
        };
        let mut sql = Sql::new(
            dialect,
            "UPDATE \"webhook_deliveries\" SET \"status\" = 'pending', \"retries\" = 0, \"manual\" = ",
        );
        sql.bind(true).push(", \"finished_at\" = NULL, \"due_at\" = ").bind(now);
        sql.push(" WHERE \"status\" IN ('failed', 'cancelled') AND \"webhook_id\" = ").bind(self.webhook_id);
        sql.push(" AND \"event_id\" IN (SELECT e.\"id\" FROM \"events\" e JOIN \"webhooks\" w ON ");
        sql.push(&receives_sql(catalog, dialect)).push(" WHERE w.\"id\" = ").bind(self.webhook_id);
        self.write_range(&mut sql, &excluded);
        let again = sql.push(")").clone().run(&transaction).await?;
        let mut sql = insert_deliveries(catalog, dialect, now, true);
        sql.push(" WHERE w.\"is_active\" AND w.\"id\" = ").bind(self.webhook_id);
        sql.push(" AND e.\"fanned_out_at\" IS NOT NULL AND e.\"created_at\" >= w.\"created_at\"");
        self.write_range(&mut sql, &excluded);
        sql.push(" ON CONFLICT (\"event_id\", \"webhook_id\") DO NOTHING");
        let missed = sql.run(&transaction).await?;
        transaction.commit().await?;
        Ok(again + missed)
    }

    /// The events of this batch that the condition of the webhook excludes.
    async fn excluded(&self, state: &State, transaction: &Connection) -> Result<Vec<i64>> {
        let mut sql = Sql::new(state.db.dialect(), "SELECT e.\"id\" FROM \"events\" e WHERE 1 = 1");
        self.write_range(&mut sql, &[]);
        let rows = sql.all(transaction).await?;
        let ids = rows.iter().map(|row| row.try_get("", "id")).collect::<Result<Vec<i64>, _>>()?;
        let pairs = condition::excluded(state, transaction, Some(self.webhook_id), &ids).await?;
        Ok(pairs.into_iter().map(|(_, event)| event).collect())
    }

    /// Writes the condition that the event `e` is in this batch, and not excluded.
    fn write_range(&self, sql: &mut Sql, excluded: &[i64]) {
        sql.push(" AND e.\"name\" <> ").bind(TEST_EVENT).push(" AND e.\"created_at\" >= ").bind(self.since);
        sql.push(" AND e.\"id\" > ").bind(self.after);
        if let Some(last) = self.last {
            sql.push(" AND e.\"id\" <= ").bind(last);
        }
        if !excluded.is_empty() {
            sql.push(" AND NOT (").in_ids("e.\"id\"", excluded).push(")");
        }
    }
}

async fn inserted_id(sql: Sql, transaction: &Connection) -> Result<i64> {
    let row = sql.one(transaction).await?.ok_or_else(|| Error::internal("the insert returned no row"))?;
    Ok(row.try_get("", "id")?)
}
