//! Deliveries as rows: made from events, claimed by one worker at a time, and what a claim holds.
//!
//! A delivery is claimed by writing a token and an end of the lease into its row. Whoever completes it must find that
//! token there: a worker that was taken for dead, and whose delivery another has claimed since, changes nothing.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use sea_orm::QueryResult;

use super::exchange::Attempt;
use super::wanted::{insert_for, wants};
use crate::context::State;
use crate::db::{Db, Dialect, Sql};
use crate::error::{Error, Result};
use crate::trace::Trace;

/// How long a claim holds. An exchange ends within 15 seconds, so that a lease need not be renewed; one of a process
/// that died is over, and taken, well within a minute.
pub const LEASE: TimeDelta = TimeDelta::seconds(45);

/// So many events are fanned out in one transaction at most, and so many deliveries are made in it unless one event alone
/// has more: it holds SQLite's only writer, and ends within the time that a statement has.
const MOST_EVENTS: usize = 500;
pub(super) const MOST_DELIVERIES: usize = 10_000;

/// A webhook is told of events from a minute before it was made: the clocks of two processes may differ by as much.
const EARLIER: &str = "1 minute";

/// A webhook that has been failing for so long gets few slots.
const FAILING: TimeDelta = TimeDelta::seconds(60);

/// Where a delivery stands in its schedule. First attempts have slots of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    First,
    Retry,
}

impl Claim {
    /// Whether the webhook has few slots.
    pub fn is_slow(&self) -> bool {
        self.failing_since.is_some_and(|since| since <= self.attempt.at - FAILING)
    }
}

impl Turn {
    /// Both, in their order.
    pub(super) const ALL: [Turn; 2] = [Turn::First, Turn::Retry];

    /// Of the delivery `d`, as the partial indexes have it, so that they serve.
    pub(super) fn condition(self) -> &'static str {
        match self {
            Turn::First => "d.\"status\" = 'pending' AND d.\"retries\" = 0",
            Turn::Retry => "d.\"status\" = 'pending' AND d.\"retries\" > 0",
        }
    }

    /// Writes that the delivery `d` is due in this turn, and nobody holds it.
    pub(super) fn write_due(self, sql: &mut Sql, now: DateTime<Utc>) {
        sql.push(self.condition()).push(" AND d.\"due_at\" <= ").bind(now).push(" AND ");
        write_free(sql, now);
    }
}

/// Writes that nobody holds the delivery `d`.
fn write_free(sql: &mut Sql, now: DateTime<Utc>) {
    sql.push("(d.\"lease_until\" IS NULL OR d.\"lease_until\" <= ").bind(now).push(")");
}

/// How much may be claimed.
#[derive(Debug)]
pub struct Room<'r> {
    /// Of all webhooks together.
    pub slots: usize,
    /// Of one webhook; of one that has been failing for a minute.
    pub each: usize,
    pub failing: usize,
    /// How many attempts of a webhook are running.
    pub running: &'r HashMap<i64, usize>,
}

/// A delivery that this process may attempt, until the lease ends.
#[derive(Clone)]
pub struct Claim {
    pub id: i64,
    pub webhook_id: i64,
    /// The token in the row.
    pub lease: Arc<str>,
    /// Attempts that count in the schedule.
    pub retries: i32,
    /// Asked for by a person, so that a failure says nothing of the receiver's days.
    pub manual: bool,
    /// Sent once, beside the schedule: a failure leaves the delivery as it was.
    pub once: bool,
    /// When the webhook's streak of failures began, if it is in one.
    pub failing_since: Option<DateTime<Utc>>,
    /// When the event happened.
    pub happened_at: DateTime<Utc>,
    pub attempt: Attempt,
}

/// Writes the query for the oldest events that have no deliveries yet, at most so many.
///
/// Their order is the whole one of the index of those that wait: for that of `id` alone PostgreSQL may take the primary
/// key, and read through all that ever happened.
pub fn write_waiting(sql: &mut Sql, most: usize) {
    sql.push("SELECT \"id\" FROM \"events\" WHERE \"fanned_out_at\" IS NULL ORDER BY \"fanned_out_at\", \"id\"");
    sql.push(&format!(" LIMIT {most}"));
}

/// What one transaction came to.
#[derive(Debug, Clone, Copy, Default)]
pub struct FannedOut {
    pub events: usize,
    /// Whether there were as many as it takes, so that more may wait.
    pub is_full: bool,
}

/// Makes a delivery of each event that is new for each active webhook that wants it, of as many events as one transaction
/// takes. Events and webhooks stay locked until the commit, so that no other process does the same and none is disabled
/// meanwhile. Webhooks are locked in the order of their ids, as by all who lock several.
pub async fn fan_out(state: &State, now: DateTime<Utc>) -> Result<FannedOut> {
    let (db, dialect, catalog) = (&state.db, state.db.dialect(), &state.catalog);
    // Looking costs no transaction, nor SQLite's only writer.
    let mut waiting = Sql::new(dialect, "");
    write_waiting(&mut waiting, 1);
    if waiting.one(db.reader()).await?.is_none() {
        return Ok(FannedOut::default());
    }
    let active = Sql::new(dialect, "SELECT COUNT(*) AS \"count\" FROM \"webhooks\" WHERE \"is_active\"");
    let active: i64 = active.one(db.reader()).await?.map_or(Ok(0), |row| row.try_get("", "count"))?;
    let most = (MOST_DELIVERIES / usize::try_from(active).unwrap_or(0).max(1)).clamp(1, MOST_EVENTS);
    let mut waiting = Sql::new(dialect, "");
    write_waiting(&mut waiting, most);
    let transaction = db.begin().await?;
    if dialect == Dialect::Postgres {
        waiting.push(" FOR UPDATE SKIP LOCKED");
    }
    let rows = waiting.all(&transaction).await?;
    let ids = rows.iter().map(|row| row.try_get("", "id")).collect::<Result<Vec<i64>, _>>()?;
    if ids.is_empty() {
        return Ok(FannedOut::default());
    }
    let mut sql = insert_for(catalog, dialect, now, false);
    sql.push(" WHERE w.\"is_active\" AND ");
    if dialect == Dialect::Postgres {
        // Who disables a webhook cancels what is pending: what is made here is there before, or not made at all.
        let mut wanting = Sql::new(dialect, "SELECT w.\"id\" FROM \"webhooks\" w WHERE w.\"is_active\" AND EXISTS (");
        wanting
            .push("SELECT 1 FROM \"events\" e WHERE ")
            .push(&wants(catalog, dialect))
            .push(" AND ")
            .in_ids("e.\"id\"", &ids);
        wanting.push(") ORDER BY w.\"id\" FOR SHARE");
        let rows = wanting.all(&transaction).await?;
        let locked = rows.iter().map(|row| row.try_get("", "id")).collect::<Result<Vec<i64>, _>>()?;
        sql.in_ids("w.\"id\"", &locked).push(" AND ");
    }
    match dialect {
        Dialect::Postgres => sql.push(&format!("w.\"created_at\" - interval '{EARLIER}' <= e.\"created_at\"")),
        Dialect::Sqlite => sql.push(&format!("datetime(w.\"created_at\", '-{EARLIER}') <= datetime(e.\"created_at\")")),
    };
    sql.push(" AND ").in_ids("e.\"id\"", &ids);
    sql.push(" ON CONFLICT (\"event_id\", \"webhook_id\") DO NOTHING");
    sql.run(&transaction).await?;
    let mut sql = Sql::new(dialect, "UPDATE \"events\" SET \"fanned_out_at\" = ");
    sql.bind(now).push(" WHERE ").in_ids("\"id\"", &ids);
    sql.run(&transaction).await?;
    transaction.commit().await?;
    Ok(FannedOut { events: ids.len(), is_full: ids.len() == most })
}

/// Deliveries that are due, as far as there is room: first those of webhooks that have the fewest attempts running, so that
/// nobody's backlog takes every slot; of these the oldest. Other processes may see the same ones.
async fn due(db: &Db, turn: Turn, room: &Room<'_>, now: DateTime<Utc>) -> Result<Vec<i64>> {
    let running = room.running.iter().map(|(webhook, count)| serde_json::json!([webhook, count])).collect();
    let mut sql = Sql::new(db.dialect(), "WITH r AS ");
    sql.values_table(running, &[("webhook_id", "bigint"), ("count", "bigint")]);
    sql.push(
        ", due AS (SELECT d.\"id\", d.\"due_at\", ROW_NUMBER() OVER (PARTITION BY w.\"id\" ORDER BY d.\"due_at\") \
              + COALESCE(r.\"count\", 0) AS \"place\", ",
    );
    sql.push("CASE WHEN w.\"failing_since\" <= ").bind(now - FAILING).push(" THEN ").bind(number(room.failing));
    sql.push(" ELSE ")
        .bind(number(room.each))
        .push(" END AS \"most\" FROM \"webhooks\" w LEFT JOIN r ON r.\"webhook_id\" = w.\"id\" CROSS JOIN ");
    // A few index entries of each webhook, however long its backlog is.
    let lateral = db.dialect() == Dialect::Postgres;
    sql.push(if lateral {
        "LATERAL (SELECT d.\"id\", d.\"due_at\""
    } else {
        "\"webhook_deliveries\" d ON d.\"id\" IN (SELECT d.\"id\""
    });
    sql.push(" FROM \"webhook_deliveries\" d WHERE d.\"webhook_id\" = w.\"id\" AND ");
    turn.write_due(&mut sql, now);
    sql.push(" ORDER BY d.\"due_at\" LIMIT ").bind(number(room.each));
    sql.push(if lateral { ") d" } else { ")" });
    sql.push(" WHERE w.\"is_active\") SELECT \"id\" FROM due WHERE \"place\" <= \"most\" ORDER BY \"place\", \"due_at\" LIMIT ");
    sql.bind(number(room.slots));
    let rows = sql.all(db.reader()).await?;
    Ok(rows.iter().map(|row| row.try_get("", "id")).collect::<Result<_, _>>()?)
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Claims what is due, as far as there is room.
pub async fn claim(db: &Db, turn: Turn, room: &Room<'_>, now: DateTime<Utc>) -> Result<Vec<Claim>> {
    let ids = if room.slots == 0 { Vec::new() } else { due(db, turn, room, now).await? };
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    lease(db, &ids, Some(turn), now).await
}

/// Claims one delivery to send it once, whatever its status. `None` while another attempt at it is running.
pub async fn claim_one(db: &Db, id: i64, now: DateTime<Utc>) -> Result<Option<Claim>> {
    let claimed = lease(db, &[id], None, now).await?;
    Ok(claimed.into_iter().next().map(|claim| Claim { manual: true, once: true, ..claim }))
}

/// Writes a new lease into those of these rows that are still due in this turn, or in none into all, and that nobody
/// holds now. Others that are claiming the same rows are not waited for.
async fn lease(db: &Db, ids: &[i64], turn: Option<Turn>, now: DateTime<Utc>) -> Result<Vec<Claim>> {
    let token: Arc<str> = random()?.into();
    let transaction = db.begin().await?;
    let mut sql = Sql::new(db.dialect(), "UPDATE \"webhook_deliveries\" SET \"lease_owner\" = ");
    sql.bind(token.to_string()).push(", \"lease_until\" = ").bind(now + LEASE);
    sql.push(" WHERE \"id\" IN (SELECT d.\"id\" FROM \"webhook_deliveries\" d WHERE ").in_ids("d.\"id\"", ids);
    sql.push(" AND ");
    match turn {
        Some(turn) => turn.write_due(&mut sql, now),
        None => write_free(&mut sql, now),
    }
    if db.dialect() == Dialect::Postgres {
        sql.push(" FOR UPDATE SKIP LOCKED");
    }
    sql.push(") RETURNING \"id\", \"webhook_id\", \"event_id\", \"uid\", \"attempts\", \"retries\", \"manual\"");
    let rows = sql.all(&transaction).await?;
    transaction.commit().await?;
    read(db, &rows, &token, now).await
}

/// An event as it is sent.
struct Event {
    name: Arc<str>,
    body: Arc<str>,
    happened_at: DateTime<Utc>,
    trace: Option<Trace>,
}

/// What claimed rows need to be sent. Each event and each webhook is read once.
async fn read(db: &Db, rows: &[QueryResult], token: &Arc<str>, now: DateTime<Utc>) -> Result<Vec<Claim>> {
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
    let columns = "\"id\", \"url\", \"secret\", \"previous_secret\", \"previous_secret_until\", \"failing_since\"";
    let mut sql = Sql::new(db.dialect(), format!("SELECT {columns} FROM \"webhooks\" WHERE "));
    sql.in_ids("\"id\"", &distinct(rows, "webhook_id")?);
    for row in sql.all(db.reader()).await? {
        webhooks.insert(row.try_get::<i64>("", "id")?, row);
    }
    let mut claims = Vec::with_capacity(rows.len());
    for row in rows {
        let (webhook_id, event_id): (i64, i64) = (row.try_get("", "webhook_id")?, row.try_get("", "event_id")?);
        // Whoever deleted the webhook meanwhile deleted the delivery with it.
        let (Some(event), Some(webhook)) = (events.get(&event_id), webhooks.get(&webhook_id)) else { continue };
        let until: Option<DateTime<Utc>> = webhook.try_get("", "previous_secret_until")?;
        let previous: Option<String> = webhook.try_get("", "previous_secret")?;
        let attempt = Attempt {
            webhook_id,
            url: webhook.try_get("", "url")?,
            secret: webhook.try_get("", "secret")?,
            previous_secret: previous.filter(|_| until.is_some_and(|until| until > now)),
            event: event.name.clone(),
            body: event.body.clone(),
            uid: row.try_get("", "uid")?,
            number: row.try_get::<i32>("", "attempts")?.unsigned_abs() + 1,
            at: now,
            trace: event.trace,
        };
        claims.push(Claim {
            id: row.try_get("", "id")?,
            webhook_id,
            lease: token.clone(),
            retries: row.try_get("", "retries")?,
            manual: row.try_get("", "manual")?,
            once: false,
            failing_since: webhook.try_get("", "failing_since")?,
            happened_at: event.happened_at,
            attempt,
        });
    }
    Ok(claims)
}

/// 32 random hexadecimal digits.
pub(super) fn random() -> Result<String> {
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
