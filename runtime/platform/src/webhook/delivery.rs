//! Deliveries that are due: leases, and attempts.
//!
//! A worker claims a delivery by writing a token and the end of the lease into its row. A result counts only if the row
//! still has that token: if the lease ended and another worker has claimed the delivery, the late result changes
//! nothing.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use sea_orm::QueryResult;

use super::Metrics;
use super::condition::{self, Verdict};
use super::event_fields::readable_body;
use super::redelivery::TEST_EVENT;
use super::results::FinishedAttempt;
use super::sealed_secret;
use super::subscriptions::{Rights, may_see_sql, resource_of};
use super::transport::{Attempt, Outcome, Transport};
use charter_core::catalog::Catalog;
use charter_core::clock::Clock;
use charter_core::db::{Db, Dialect, Sql};
use charter_core::error::{Error, Result};
use charter_core::ops::State;
use charter_core::trace::Trace;

/// Duration of a lease. An attempt ends within 15 seconds and needs no renewal; deliveries of a crashed process are
/// claimed again within a minute.
pub(super) const LEASE: TimeDelta = TimeDelta::seconds(45);

/// Duration of a failure streak after which a webhook is limited to few slots.
const THROTTLE_AFTER: TimeDelta = TimeDelta::seconds(60);

/// Kind of an attempt. Half of the slots are reserved for first attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AttemptKind {
    First,
    Retry,
}

impl Claim {
    /// Reports whether the webhook is limited to few slots.
    pub(super) fn is_throttled(&self) -> bool {
        self.failing_since.is_some_and(|since| since <= self.attempt.at - THROTTLE_AFTER)
    }
}

impl AttemptKind {
    /// Both kinds, first attempts before retries.
    pub(super) const ALL: [AttemptKind; 2] = [AttemptKind::First, AttemptKind::Retry];

    /// SQL condition on the delivery `d` that matches the partial indexes.
    pub(super) fn condition(self) -> &'static str {
        match self {
            AttemptKind::First => "d.\"status\" = 'pending' AND d.\"retries\" = 0",
            AttemptKind::Retry => "d.\"status\" = 'pending' AND d.\"retries\" > 0",
        }
    }

    /// Writes the SQL condition that the delivery `d` is due for an attempt of this kind and not leased.
    pub(super) fn write_due(self, sql: &mut Sql, now: DateTime<Utc>) {
        sql.push(self.condition()).push(" AND d.\"due_at\" <= ").bind(now).push(" AND ");
        write_unleased(sql, now);
    }
}

/// Writes the SQL condition that the delivery `d` is not leased.
fn write_unleased(sql: &mut Sql, now: DateTime<Utc>) {
    sql.push("(d.\"lease_until\" IS NULL OR d.\"lease_until\" <= ").bind(now).push(")");
}

/// Limits of one claim, in concurrent attempts.
#[derive(Debug)]
pub(super) struct ClaimLimits<'r> {
    /// For all webhooks together.
    pub slots: usize,
    /// For one webhook, and for one that has been failing for a minute.
    pub per_webhook: usize,
    pub per_failing_webhook: usize,
    /// Attempts in progress, by webhook.
    pub running: &'r HashMap<i64, usize>,
    /// Attempts in progress that use these slots, by user.
    pub running_of_users: HashMap<i64, usize>,
}

/// The reason why an attempt sends nothing. A server of another version may have none: retries outlast a rolling upgrade.
#[derive(Clone)]
pub(super) enum Unsent {
    /// The condition of the webhook is invalid.
    Condition(String),
    /// No resource of this server has the event, so that the rights to it are unknown.
    UnknownEvent(String),
}

impl Unsent {
    fn reason(&self) -> &str {
        let (Unsent::Condition(reason) | Unsent::UnknownEvent(reason)) = self;
        reason
    }
}

/// A delivery that this process may attempt until the lease ends.
#[derive(Clone)]
pub(super) struct Claim {
    pub id: i64,
    pub webhook_id: i64,
    pub user_id: i64,
    /// The token in the row.
    pub lease: Arc<str>,
    /// Retries by the schedule; manual attempts do not count.
    pub retries: i32,
    /// Requested by a user. A failure does not count towards the failure streak.
    pub manual: bool,
    /// Sent once, outside the schedule: a failure leaves the delivery unchanged.
    pub once: bool,
    /// Start of the webhook's failure streak, if it has one.
    pub failing_since: Option<DateTime<Utc>>,
    /// Creation time of the event.
    pub happened_at: DateTime<Utc>,
    /// Why the attempt fails without a request.
    pub unsent: Option<Unsent>,
    pub attempt: Attempt,
}

/// Selects deliveries that are due, within the limits: users with the fewest running attempts first, of each the webhooks
/// with the fewest, and of each the oldest delivery. Other processes may select the same rows.
///
/// A user gets at most half of the difference between the free slots and the user's running attempts. Alone, a user has
/// half of the slots; further users have half of the rest each. Some slots therefore stay free for a user whose first
/// event comes while the receivers of others hang ("dynamic thresholds", Choudhury and Hahne 1998).
async fn due(db: &Db, kind: AttemptKind, limits: &ClaimLimits<'_>, now: DateTime<Utc>) -> Result<Vec<i64>> {
    let table = |running: &HashMap<i64, usize>| {
        running.iter().map(|(id, count)| serde_json::json!([id, count])).collect::<Vec<_>>()
    };
    let mut sql = Sql::new(db.dialect(), "WITH r AS ");
    sql.values_table(table(limits.running), &[("webhook_id", "bigint"), ("count", "bigint")]);
    sql.push(", u AS ");
    sql.values_table(table(&limits.running_of_users), &[("user_id", "bigint"), ("count", "bigint")]);
    sql.push(
        ", due AS (SELECT d.\"id\", d.\"due_at\", w.\"user_id\", ROW_NUMBER() OVER (PARTITION BY w.\"id\" ORDER BY d.\"due_at\") \
              + COALESCE(r.\"count\", 0) AS \"rank\", ",
    );
    sql.push("CASE WHEN w.\"failing_since\" <= ")
        .bind(now - THROTTLE_AFTER)
        .push(" THEN ")
        .bind(as_i64(limits.per_failing_webhook));
    sql.push(" ELSE ")
        .bind(as_i64(limits.per_webhook))
        .push(" END AS \"max_rank\" FROM \"webhooks\" w LEFT JOIN r ON r.\"webhook_id\" = w.\"id\" CROSS JOIN ");
    // Reads a few index entries of each webhook, independent of its backlog.
    let lateral = db.dialect() == Dialect::Postgres;
    sql.push(if lateral {
        "LATERAL (SELECT d.\"id\", d.\"due_at\""
    } else {
        "\"webhook_deliveries\" d ON d.\"id\" IN (SELECT d.\"id\""
    });
    sql.push(" FROM \"webhook_deliveries\" d WHERE d.\"webhook_id\" = w.\"id\" AND ");
    kind.write_due(&mut sql, now);
    sql.push(" ORDER BY d.\"due_at\" LIMIT ").bind(as_i64(limits.per_webhook));
    sql.push(if lateral { ") d" } else { ")" });
    sql.push(
        " WHERE w.\"is_active\"), shares AS (SELECT due.\"id\", due.\"due_at\", COALESCE(u.\"count\", 0) AS \"used\", ",
    );
    sql.push("ROW_NUMBER() OVER (PARTITION BY due.\"user_id\" ORDER BY due.\"rank\", due.\"due_at\") AS \"position\" ");
    sql.push("FROM due LEFT JOIN u ON u.\"user_id\" = due.\"user_id\" WHERE due.\"rank\" <= due.\"max_rank\") ");
    sql.push("SELECT \"id\" FROM shares WHERE 2 * \"position\" <= ").bind(as_i64(limits.slots) + 1);
    sql.push(" - \"used\" ORDER BY \"position\" + \"used\", \"due_at\" LIMIT ").bind(as_i64(limits.slots));
    let rows = sql.all(db.reader()).await?;
    Ok(rows.iter().map(|row| row.try_get("", "id")).collect::<Result<_, _>>()?)
}

fn as_i64(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Claims deliveries that are due, within the limits.
pub(super) async fn claim(
    state: &State,
    kind: AttemptKind,
    limits: &ClaimLimits<'_>,
    now: DateTime<Utc>,
) -> Result<Vec<Claim>> {
    let mut ids = if limits.slots == 0 { Vec::new() } else { due(&state.db, kind, limits, now).await? };
    let mut invalid = cancel_unwanted(state, &mut ids, now).await?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut claims = lease(state, &ids, Some(kind), now).await?;
    for claim in &mut claims {
        let condition = invalid.remove(&claim.id).map(Unsent::Condition);
        claim.unsent = claim.unsent.take().or(condition);
    }
    Ok(claims)
}

/// Cancels those of the deliveries whose webhook may no longer receive the event's record, or whose condition excludes it,
/// and removes them. Returns, by delivery, why the condition of its webhook is invalid.
async fn cancel_unwanted(state: &State, ids: &mut Vec<i64>, now: DateTime<Utc>) -> Result<HashMap<i64, String>> {
    let mut invalid = HashMap::new();
    if ids.is_empty() {
        return Ok(invalid);
    }
    let (db, dialect) = (&state.db, state.db.dialect());
    let mut sql = Sql::new(dialect, "SELECT d.\"id\" AS \"id\", d.\"webhook_id\", d.\"event_id\", ");
    sql.push("w.\"when\" IS NOT NULL AS \"has_condition\", (").push(&may_see_sql(&state.catalog, dialect));
    sql.push(
        ") AS \"may_see\" FROM \"webhook_deliveries\" d JOIN \"webhooks\" w ON w.\"id\" = d.\"webhook_id\" \
         JOIN \"events\" e ON e.\"id\" = d.\"event_id\" WHERE ",
    );
    sql.in_ids("d.\"id\"", ids);
    let rows = sql.all(db.reader()).await?;
    let (mut unwanted, mut conditional) = (Vec::new(), Vec::new());
    for row in rows {
        if !row.try_get::<bool>("", "may_see")? {
            unwanted.push(row.try_get("", "id")?);
        } else if row.try_get("", "has_condition")? {
            conditional.push(row);
        }
    }
    if !conditional.is_empty() {
        let (webhooks, events) = (distinct(&conditional, "webhook_id")?, distinct(&conditional, "event_id")?);
        let mut verdicts = condition::verdicts(state, db.reader(), Some(&webhooks), &events).await?;
        for row in conditional {
            let id = row.try_get("", "id")?;
            match verdicts.remove(&(row.try_get("", "webhook_id")?, row.try_get("", "event_id")?)) {
                Some(Verdict::Excluded) => unwanted.push(id),
                Some(Verdict::Invalid(reason)) => drop(invalid.insert(id, reason)),
                None => {}
            }
        }
    }
    if unwanted.is_empty() {
        return Ok(invalid);
    }
    let transaction = db.begin().await?;
    let mut sql =
        Sql::new(dialect, "UPDATE \"webhook_deliveries\" AS d SET \"status\" = 'cancelled', \"finished_at\" = ");
    sql.bind(now).push(" WHERE d.\"status\" = 'pending' AND ");
    write_unleased(&mut sql, now);
    sql.push(" AND ").in_ids("\"id\"", &unwanted);
    sql.run(&transaction).await?;
    transaction.commit().await?;
    ids.retain(|id| !unwanted.contains(id));
    Ok(invalid)
}

/// Claims one delivery for a single attempt, in any status. Returns `None` while another attempt is running.
pub(super) async fn claim_one(state: &State, id: i64, now: DateTime<Utc>) -> Result<Option<Claim>> {
    let claimed = lease(state, &[id], None, now).await?;
    Ok(claimed.into_iter().next().map(|claim| Claim { manual: true, once: true, ..claim }))
}

/// Writes a new lease into the given rows that are not leased and, with a kind, still due. Rows that another
/// transaction has locked are skipped.
async fn lease(state: &State, ids: &[i64], kind: Option<AttemptKind>, now: DateTime<Utc>) -> Result<Vec<Claim>> {
    let db = &state.db;
    let token: Arc<str> = random_hex()?.into();
    let transaction = db.begin().await?;
    let mut sql = Sql::new(db.dialect(), "UPDATE \"webhook_deliveries\" SET \"lease_owner\" = ");
    sql.bind(token.to_string()).push(", \"lease_until\" = ").bind(now + LEASE);
    sql.push(" WHERE \"id\" IN (SELECT d.\"id\" FROM \"webhook_deliveries\" d WHERE ").in_ids("d.\"id\"", ids);
    sql.push(" AND ");
    match kind {
        Some(kind) => kind.write_due(&mut sql, now),
        None => write_unleased(&mut sql, now),
    }
    if db.dialect() == Dialect::Postgres {
        sql.push(" FOR UPDATE SKIP LOCKED");
    }
    sql.push(") RETURNING \"id\", \"webhook_id\", \"event_id\", \"uid\", \"attempts\", \"retries\", \"manual\"");
    let rows = sql.all(&transaction).await?;
    transaction.commit().await?;
    load_claims(state, &rows, &token, now).await
}

/// An event as it is sent.
struct Event {
    name: Arc<str>,
    body: Arc<str>,
    happened_at: DateTime<Utc>,
    trace: Option<Trace>,
}

/// Loads the events and webhooks of the claimed rows, each once.
async fn load_claims(state: &State, rows: &[QueryResult], token: &Arc<str>, now: DateTime<Utc>) -> Result<Vec<Claim>> {
    let (db, catalog, key) = (&state.db, &state.catalog, &state.secret_key);
    let (mut events, mut webhooks) = (HashMap::new(), HashMap::new());
    let columns = "\"id\", \"name\", \"body\", \"created_at\", \"trace\"";
    let mut sql = Sql::new(db.dialect(), format!("SELECT {columns} FROM \"events\" WHERE "));
    sql.in_ids("\"id\"", &distinct(rows, "event_id")?);
    for row in sql.all(db.reader()).await? {
        let (name, body): (String, String) = (row.try_get("", "name")?, row.try_get("", "body")?);
        let (happened_at, trace): (_, Option<String>) = (row.try_get("", "created_at")?, row.try_get("", "trace")?);
        let trace = trace.and_then(|trace| trace.parse().ok());
        let event = Event { name: name.into(), body: body.into(), happened_at, trace };
        events.insert(row.try_get::<i64>("", "id")?, event);
    }
    let columns =
        "\"id\", \"user_id\", \"url\", \"secret\", \"previous_secret\", \"previous_secret_until\", \"failing_since\"";
    let mut sql = Sql::new(db.dialect(), format!("SELECT {columns}"));
    let rights = Rights::of_fields(catalog);
    rights.write(&mut sql, catalog);
    sql.push(" FROM \"webhooks\" w WHERE ").in_ids("w.\"id\"", &distinct(rows, "webhook_id")?);
    for row in sql.all(db.reader()).await? {
        webhooks.insert(row.try_get::<i64>("", "id")?, row);
    }
    let mut claims = Vec::with_capacity(rows.len());
    for row in rows {
        let (webhook_id, event_id): (i64, i64) = (row.try_get("", "webhook_id")?, row.try_get("", "event_id")?);
        // Deleting a webhook deletes its deliveries.
        let (Some(event), Some(webhook)) = (events.get(&event_id), webhooks.get(&webhook_id)) else { continue };
        let until: Option<DateTime<Utc>> = webhook.try_get("", "previous_secret_until")?;
        let previous: Option<String> = webhook.try_get("", "previous_secret")?;
        let has_right = |right: &str| rights.holds(webhook, right);
        let previous = previous.filter(|_| until.is_some_and(|until| until > now));
        let stored: String = webhook.try_get("", "secret")?;
        let attempt = Attempt {
            webhook_id,
            url: webhook.try_get("", "url")?,
            // A secret that cannot be decrypted fails the attempt, with the reason in the delivery log.
            secret: sealed_secret::open(key, &stored).unwrap_or(stored),
            previous_secret: previous.and_then(|stored| sealed_secret::open(key, &stored)),
            event: event.name.clone(),
            body: readable_body(catalog, &event.name, &event.body, has_right),
            uid: row.try_get("", "uid")?,
            number: row.try_get::<i32>("", "attempts")?.unsigned_abs() + 1,
            at: now,
            trace: event.trace,
        };
        claims.push(Claim {
            id: row.try_get("", "id")?,
            webhook_id,
            user_id: webhook.try_get("", "user_id")?,
            lease: token.clone(),
            retries: row.try_get("", "retries")?,
            manual: row.try_get("", "manual")?,
            once: false,
            failing_since: webhook.try_get("", "failing_since")?,
            happened_at: event.happened_at,
            unsent: unknown_event(catalog, &event.name),
            attempt,
        });
    }
    Ok(claims)
}

fn unknown_event(catalog: &Catalog, event: &str) -> Option<Unsent> {
    let reason = || format!("the event `{event}` is unknown to this version of the server");
    let is_known = event == TEST_EVENT || resource_of(catalog, event).is_some();
    (!is_known).then(|| Unsent::UnknownEvent(reason()))
}

/// Makes one attempt. A panic counts as a failed attempt.
pub(super) async fn make_attempt(
    metrics: &Metrics,
    clock: &Clock,
    transport: Arc<dyn Transport>,
    claim: Claim,
) -> FinishedAttempt {
    let failed = |error: &str| Outcome { error: Some(error.to_owned()), ..Outcome::default() };
    metrics.observe_delay(&claim);
    let outcome = match &claim.unsent {
        Some(unsent) => failed(unsent.reason()),
        None => {
            let attempt = claim.attempt.clone();
            let sent = tokio::spawn(async move { transport.send(&attempt).await }).await;
            sent.unwrap_or_else(|_| failed("internal error of the sender"))
        }
    };
    metrics.observe_outcome(&outcome);
    FinishedAttempt { claim, outcome, at: clock.now() }
}

/// 32 random hexadecimal digits.
pub(super) fn random_hex() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(Error::internal)?;
    Ok(uuid::Builder::from_random_bytes(bytes).into_uuid().simple().to_string())
}

fn distinct(rows: &[QueryResult], column: &str) -> Result<Vec<i64>> {
    let mut ids = rows.iter().map(|row| row.try_get("", column)).collect::<Result<Vec<i64>, _>>()?;
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}
