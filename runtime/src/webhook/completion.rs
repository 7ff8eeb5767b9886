//! What attempts came to, written in one transaction for many of them: the delivery, its log, the webhook's streak.

use std::collections::HashMap;

use chrono::{DateTime, SubsecRound, Utc};
use serde_json::json;

use super::cancellation::cancel;
use super::delivery::Claim;
use super::exchange::Outcome;
use super::schedule::{RETRIES, Streak, delay};
use crate::db::{Connection, Db, Dialect, Sql, time_text};
use crate::error::Result;

/// An attempt that has ended.
pub struct Finished {
    pub claim: Claim,
    pub outcome: Outcome,
    pub at: DateTime<Utc>,
}

/// What a delivery is after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Next {
    status: &'static str,
    retries: i32,
    /// When the next attempt is due; none when there is none.
    due_at: Option<DateTime<Utc>>,
}

/// A webhook's part in a batch of attempts.
struct Health {
    before: Streak,
    streak: Streak,
    was_active: bool,
    is_active: bool,
}

/// How webhooks are locked: whoever only adds logs lets others change them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lock {
    /// Nothing of a webhook will change.
    Kept,
    Changing,
}

/// Writes attempts that have ended, in the order in which they ended. Of a delivery whose lease another worker took
/// only the log is written; of a webhook that is gone, nothing.
pub async fn complete(db: &Db, finished: &[Finished]) -> Result<()> {
    if finished.is_empty() {
        return Ok(());
    }
    let healthy =
        finished.iter().all(|attempt| attempt.outcome.is_delivered() && attempt.claim.failing_since.is_none());
    if healthy && attempt(db, finished, Lock::Kept).await? {
        return Ok(());
    }
    attempt(db, finished, Lock::Changing).await.map(drop)
}

/// Answers false when a webhook must change and is not locked for it; then nothing is written.
///
/// Webhooks are locked before deliveries, here and by whoever disables one, so that none waits for the other for ever.
async fn attempt(db: &Db, finished: &[Finished], lock: Lock) -> Result<bool> {
    let transaction = db.begin().await?;
    let mut webhooks = webhooks(db, &transaction, finished, lock).await?;
    if lock == Lock::Kept && webhooks.values().any(|webhook| webhook.before != Streak::default()) {
        return Ok(false);
    }
    let held = held(db, &transaction, finished).await?;
    for attempt in finished {
        if let (Some(webhook), Some(_)) = (webhooks.get_mut(&attempt.claim.webhook_id), held.by(attempt)) {
            judge(webhook, attempt);
        }
    }
    let (mut changes, mut logs) = (Vec::new(), Vec::new());
    for attempt in finished {
        let Some(webhook) = webhooks.get(&attempt.claim.webhook_id) else { continue };
        let mut next_attempt_at = None;
        if held.by(attempt).is_none() && is_logged(db, &transaction, attempt).await? {
            continue;
        }
        if let Some(row) = held.by(attempt) {
            let next = next(attempt, row, webhook.is_active, chance());
            next_attempt_at = next.due_at;
            changes.push(json!([
                attempt.claim.id,
                next.status,
                next.retries,
                time_text(next.due_at.unwrap_or(attempt.at)),
                next.due_at.is_none().then(|| time_text(attempt.at)),
            ]));
        }
        logs.push(log(attempt, next_attempt_at));
    }
    write_deliveries(db.dialect(), &transaction, changes).await?;
    write_logs(db.dialect(), &transaction, logs).await?;
    let now = finished.iter().map(|attempt| attempt.at).max().unwrap_or_default();
    for (id, webhook) in &webhooks {
        write_webhook(db.dialect(), &transaction, *id, webhook, now).await?;
    }
    transaction.commit().await?;
    Ok(true)
}

/// The webhooks of these attempts that are still there.
async fn webhooks(
    db: &Db,
    transaction: &Connection,
    finished: &[Finished],
    lock: Lock,
) -> Result<HashMap<i64, Health>> {
    let mut ids: Vec<i64> = finished.iter().map(|attempt| attempt.claim.webhook_id).collect();
    ids.sort_unstable();
    ids.dedup();
    let columns = "\"id\", \"is_active\", \"failing_since\", \"last_failure_at\"";
    let mut sql = Sql::new(db.dialect(), format!("SELECT {columns} FROM \"webhooks\" WHERE "));
    sql.in_ids("\"id\"", &ids).push(" ORDER BY \"id\"");
    if db.dialect() == Dialect::Postgres {
        sql.push(if lock == Lock::Kept { " FOR KEY SHARE" } else { " FOR NO KEY UPDATE" });
    }
    let mut webhooks = HashMap::new();
    for row in sql.all(transaction).await? {
        let streak = Streak { since: row.try_get("", "failing_since")?, last: row.try_get("", "last_failure_at")? };
        let is_active = row.try_get("", "is_active")?;
        webhooks.insert(row.try_get("", "id")?, Health { before: streak, streak, was_active: is_active, is_active });
    }
    Ok(webhooks)
}

/// Deliveries as they are in the transaction that completes them.
struct Held(HashMap<i64, Row>);

struct Row {
    lease: Option<String>,
    status: String,
    /// Not as claimed: whoever queued it again meanwhile gave it its whole schedule.
    retries: i32,
    due_at: DateTime<Utc>,
}

impl Held {
    /// The delivery of this attempt, if no other worker took its lease.
    fn by(&self, attempt: &Finished) -> Option<&Row> {
        self.0.get(&attempt.claim.id).filter(|row| row.lease.as_deref() == Some(&*attempt.claim.lease))
    }
}

async fn held(db: &Db, transaction: &Connection, finished: &[Finished]) -> Result<Held> {
    let ids: Vec<i64> = finished.iter().map(|attempt| attempt.claim.id).collect();
    let columns = "\"id\", \"status\", \"retries\", \"due_at\", \"lease_owner\"";
    let mut sql = Sql::new(db.dialect(), format!("SELECT {columns} FROM \"webhook_deliveries\" WHERE "));
    sql.in_ids("\"id\"", &ids).push(" ORDER BY \"id\"");
    if db.dialect() == Dialect::Postgres {
        sql.push(" FOR UPDATE");
    }
    let mut held = HashMap::new();
    for row in sql.all(transaction).await? {
        let (lease, status) = (row.try_get("", "lease_owner")?, row.try_get("", "status")?);
        let (retries, due_at) = (row.try_get("", "retries")?, row.try_get("", "due_at")?);
        held.insert(row.try_get("", "id")?, Row { lease, status, retries, due_at });
    }
    Ok(Held(held))
}

/// What an attempt says of its webhook.
fn judge(webhook: &mut Health, attempt: &Finished) {
    if attempt.outcome.is_delivered() {
        webhook.streak.succeed();
    } else if !attempt.claim.manual && webhook.is_active && webhook.streak.fail(attempt.at) {
        webhook.is_active = false;
    }
}

/// What a delivery becomes. One that was cancelled meanwhile stays so, unless it arrived.
fn next(attempt: &Finished, row: &Row, is_active: bool, chance: f64) -> Next {
    let Finished { claim, outcome, at } = attempt;
    let ended = |status| Next { status, retries: row.retries, due_at: None };
    match row.status.as_str() {
        _ if outcome.is_delivered() => ended("delivered"),
        "delivered" => ended("delivered"),
        "failed" => ended("failed"),
        "pending" if !is_active => ended("cancelled"),
        "pending" if claim.once => Next { status: "pending", retries: row.retries, due_at: Some(row.due_at) },
        // The receiver says that it is gone; that ends this delivery, and says nothing of others.
        "pending" if outcome.status == Some(410) || row.retries >= RETRIES => ended("failed"),
        "pending" => {
            let retries = row.retries + 1;
            // To the millisecond, as the clock is that it is compared with.
            let due_at = (*at + delay(retries, outcome, chance)).trunc_subsecs(3);
            Next { status: "pending", retries, due_at: Some(due_at) }
        }
        _ => ended("cancelled"),
    }
}

/// A number from 0 to 1, for what is added to a delay.
fn chance() -> f64 {
    getrandom::u32().map_or(0.0, |number| f64::from(number) / f64::from(u32::MAX))
}

fn log(attempt: &Finished, next_attempt_at: Option<DateTime<Utc>>) -> serde_json::Value {
    let Finished { claim, outcome, at } = attempt;
    // PostgreSQL refuses this one character, whatever sent it.
    let clean = |text: &Option<String>| text.as_ref().map(|text| text.replace('\0', "\u{fffd}"));
    json!([
        claim.webhook_id,
        claim.attempt.event.as_ref(),
        claim.attempt.uid,
        claim.attempt.number,
        outcome.status,
        clean(&outcome.body),
        clean(&outcome.error),
        u32::try_from(outcome.duration.as_millis()).unwrap_or(u32::MAX).min(i32::MAX.unsigned_abs()),
        // As they are shown, so that a filter by what is shown finds them.
        next_attempt_at.map(|at| time_text(at.trunc_subsecs(0))),
        time_text(at.trunc_subsecs(0)),
        claim.attempt.url,
        time_text(claim.attempt.at),
    ])
}

async fn write_deliveries(dialect: Dialect, transaction: &Connection, rows: Vec<serde_json::Value>) -> Result<()> {
    let mut sql =
        Sql::new(dialect, "UPDATE \"webhook_deliveries\" SET \"status\" = o.\"status\", \"retries\" = o.\"retries\"");
    sql.push(", \"attempts\" = \"webhook_deliveries\".\"attempts\" + 1, \"due_at\" = o.\"due_at\"");
    sql.push(", \"finished_at\" = o.\"finished_at\", \"lease_owner\" = NULL, \"lease_until\" = NULL");
    let columns = [
        ("id", "bigint"),
        ("status", "text"),
        ("retries", "integer"),
        ("due_at", "timestamptz"),
        ("finished_at", "timestamptz"),
    ];
    sql.push(" FROM ").values_table(rows, &columns).push(" AS o");
    sql.push(" WHERE \"webhook_deliveries\".\"id\" = o.\"id\"");
    sql.run(transaction).await.map(drop)
}

async fn write_logs(dialect: Dialect, transaction: &Connection, rows: Vec<serde_json::Value>) -> Result<()> {
    let columns = [
        ("webhook_id", "bigint"),
        ("event", "text"),
        ("delivery_id", "text"),
        ("attempt", "integer"),
        ("response_status", "integer"),
        ("response_body", "text"),
        ("error", "text"),
        ("duration_ms", "integer"),
        ("next_attempt_at", "timestamptz"),
        ("created_at", "timestamptz"),
        ("url", "text"),
        ("sent_at", "timestamptz"),
    ];
    let names: Vec<String> = columns.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    let names = names.join(", ");
    let mut sql = Sql::new(dialect, format!("INSERT INTO \"webhook_logs\" ({names}) SELECT {names}"));
    sql.push(" FROM ").values_table(rows, &columns).push(" AS o");
    sql.run(transaction).await.map(drop)
}

/// Whether the log has an attempt already: it was written, and word of that was lost.
async fn is_logged(db: &Db, transaction: &Connection, attempt: &Finished) -> Result<bool> {
    let Claim { webhook_id, attempt, .. } = &attempt.claim;
    let mut sql = Sql::new(db.dialect(), "SELECT 1 AS \"one\" FROM \"webhook_logs\" WHERE \"webhook_id\" = ");
    sql.bind(*webhook_id).push(" AND \"delivery_id\" = ").bind(attempt.uid.as_str());
    sql.push(" AND \"attempt\" = ").bind(attempt.number).push(" AND \"sent_at\" = ").bind(attempt.at);
    Ok(sql.push(" LIMIT 1").clone().one(transaction).await?.is_some())
}

async fn write_webhook(
    dialect: Dialect,
    transaction: &Connection,
    id: i64,
    webhook: &Health,
    now: DateTime<Utc>,
) -> Result<()> {
    if webhook.streak == webhook.before && webhook.is_active == webhook.was_active {
        return Ok(());
    }
    let shown = |at: Option<DateTime<Utc>>| at.map(|at| at.trunc_subsecs(0));
    let mut sql = Sql::new(dialect, "UPDATE \"webhooks\" SET \"failing_since\" = ");
    sql.bind(shown(webhook.streak.since)).push(", \"last_failure_at\" = ").bind(webhook.streak.last);
    if webhook.is_active != webhook.was_active {
        let now = shown(Some(now));
        sql.push(", \"is_active\" = ").bind(webhook.is_active).push(", \"disabled_at\" = ").bind(now);
        sql.push(", \"updated_at\" = ").bind(now);
        tracing::warn!(webhook = id, "a webhook is disabled: its deliveries failed for 72 hours");
    }
    sql.push(" WHERE \"id\" = ").bind(id);
    sql.run(transaction).await?;
    if !webhook.is_active {
        // What is left is cancelled by the engine, some at a time.
        cancel(dialect, transaction, id, now).await?;
    }
    Ok(())
}
