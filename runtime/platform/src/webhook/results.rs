//! Results of attempts, recorded in one transaction for many attempts: delivery, delivery log and failure streak of the
//! webhook.

use std::collections::HashMap;

use chrono::{DateTime, SubsecRound, Utc};
use serde_json::json;

use super::cancellation::cancel;
use super::delivery::{Claim, Unsent};
use super::retry_policy::{MAX_RETRIES, Streak, retry_delay};
use super::transport::Outcome;
use charter_core::db::{Connection, Db, Dialect, Sql, time_text};
use charter_core::error::Result;

/// `disabled_reason` of a webhook whose deliveries have failed for 72 hours.
const FAILING: &str = "failing";

/// The same, if the last of them failed because its condition is invalid.
const CONDITION: &str = "condition";

/// An attempt that has ended.
pub(super) struct FinishedAttempt {
    pub claim: Claim,
    pub outcome: Outcome,
    pub at: DateTime<Utc>,
}

/// State of a delivery after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NextState {
    status: &'static str,
    retries: i32,
    /// When the next attempt is due; `None` if the delivery is finished.
    due_at: Option<DateTime<Utc>>,
}

/// State of a webhook before and after a batch of attempts.
struct WebhookState {
    before: Streak,
    streak: Streak,
    was_active: bool,
    is_active: bool,
    /// `disabled_reason` if an attempt of this batch disables it.
    reason: &'static str,
}

/// Row lock on the webhooks of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowLock {
    /// For batches that change no webhook.
    KeyShare,
    NoKeyUpdate,
}

/// Records finished attempts in the order in which they ended. If another worker has taken the lease of a delivery,
/// only the log is written; if the webhook is deleted, nothing is.
pub(super) async fn record_results(db: &Db, finished: &[FinishedAttempt]) -> Result<()> {
    if finished.is_empty() {
        return Ok(());
    }
    let healthy =
        finished.iter().all(|attempt| attempt.outcome.is_delivered() && attempt.claim.failing_since.is_none());
    if healthy && try_record(db, finished, RowLock::KeyShare).await? {
        return Ok(());
    }
    try_record(db, finished, RowLock::NoKeyUpdate).await.map(drop)
}

/// Returns false, and writes nothing, if a webhook must change and its lock does not allow it.
///
/// Webhooks are locked before deliveries, as in the transaction that disables a webhook, which prevents deadlocks.
async fn try_record(db: &Db, finished: &[FinishedAttempt], lock: RowLock) -> Result<bool> {
    let transaction = db.begin().await?;
    let mut webhooks = lock_webhooks(db, &transaction, finished, lock).await?;
    if lock == RowLock::KeyShare && webhooks.values().any(|webhook| webhook.before != Streak::default()) {
        return Ok(false);
    }
    let locked = lock_deliveries(db, &transaction, finished).await?;
    for attempt in finished {
        if let (Some(webhook), Some(_)) = (webhooks.get_mut(&attempt.claim.webhook_id), locked.leased_to(attempt)) {
            update_streak(webhook, attempt);
        }
    }
    let (mut changes, mut logs) = (Vec::new(), Vec::new());
    for attempt in finished {
        let Some(webhook) = webhooks.get(&attempt.claim.webhook_id) else { continue };
        let mut next_attempt_at = None;
        if locked.leased_to(attempt).is_none() && is_logged(db, &transaction, attempt).await? {
            continue;
        }
        if let Some(row) = locked.leased_to(attempt) {
            let next = next_state(attempt, row, webhook.is_active, random_fraction());
            next_attempt_at = next.due_at;
            changes.push(json!([
                attempt.claim.id,
                next.status,
                next.retries,
                time_text(next.due_at.unwrap_or(attempt.at)),
                next.due_at.is_none().then(|| time_text(attempt.at)),
            ]));
        }
        logs.push(log_row(attempt, next_attempt_at));
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

/// Locks and reads the webhooks of these attempts, except deleted ones.
async fn lock_webhooks(
    db: &Db,
    transaction: &Connection,
    finished: &[FinishedAttempt],
    lock: RowLock,
) -> Result<HashMap<i64, WebhookState>> {
    let mut ids: Vec<i64> = finished.iter().map(|attempt| attempt.claim.webhook_id).collect();
    ids.sort_unstable();
    ids.dedup();
    let columns = "\"id\", \"is_active\", \"failing_since\", \"last_failure_at\"";
    let mut sql = Sql::new(db.dialect(), format!("SELECT {columns} FROM \"webhooks\" WHERE "));
    sql.in_ids("\"id\"", &ids).push(" ORDER BY \"id\"");
    if db.dialect() == Dialect::Postgres {
        sql.push(if lock == RowLock::KeyShare { " FOR KEY SHARE" } else { " FOR NO KEY UPDATE" });
    }
    let mut webhooks = HashMap::new();
    for row in sql.all(transaction).await? {
        let streak = Streak { since: row.try_get("", "failing_since")?, last: row.try_get("", "last_failure_at")? };
        let is_active = row.try_get("", "is_active")?;
        webhooks.insert(
            row.try_get("", "id")?,
            WebhookState { before: streak, streak, was_active: is_active, is_active, reason: FAILING },
        );
    }
    Ok(webhooks)
}

/// Deliveries as they are in this transaction.
struct LockedDeliveries(HashMap<i64, Row>);

struct Row {
    lease: Option<String>,
    status: String,
    /// Read again, because a recovery may have reset the retries since the claim.
    retries: i32,
    due_at: DateTime<Utc>,
}

impl LockedDeliveries {
    /// The delivery of this attempt, if no other worker has taken its lease.
    fn leased_to(&self, attempt: &FinishedAttempt) -> Option<&Row> {
        self.0.get(&attempt.claim.id).filter(|row| row.lease.as_deref() == Some(&*attempt.claim.lease))
    }
}

async fn lock_deliveries(db: &Db, transaction: &Connection, finished: &[FinishedAttempt]) -> Result<LockedDeliveries> {
    let ids: Vec<i64> = finished.iter().map(|attempt| attempt.claim.id).collect();
    let columns = "\"id\", \"status\", \"retries\", \"due_at\", \"lease_owner\"";
    let mut sql = Sql::new(db.dialect(), format!("SELECT {columns} FROM \"webhook_deliveries\" WHERE "));
    sql.in_ids("\"id\"", &ids).push(" ORDER BY \"id\"");
    if db.dialect() == Dialect::Postgres {
        sql.push(" FOR UPDATE");
    }
    let mut locked = HashMap::new();
    for row in sql.all(transaction).await? {
        let (lease, status) = (row.try_get("", "lease_owner")?, row.try_get("", "status")?);
        let (retries, due_at) = (row.try_get("", "retries")?, row.try_get("", "due_at")?);
        locked.insert(row.try_get("", "id")?, Row { lease, status, retries, due_at });
    }
    Ok(LockedDeliveries(locked))
}

/// Updates the failure streak of a webhook, which disables it after 72 hours.
fn update_streak(webhook: &mut WebhookState, attempt: &FinishedAttempt) {
    if attempt.outcome.is_delivered() {
        webhook.streak.succeed();
    } else if !attempt.claim.manual && webhook.is_active && webhook.streak.fail(attempt.at) {
        webhook.is_active = false;
        webhook.reason = if matches!(attempt.claim.unsent, Some(Unsent::Condition(_))) { CONDITION } else { FAILING };
    }
}

/// State of a delivery after this attempt. A delivery that was cancelled in the meantime stays cancelled, unless it
/// arrived.
fn next_state(attempt: &FinishedAttempt, row: &Row, is_active: bool, fraction: f64) -> NextState {
    let FinishedAttempt { claim, outcome, at } = attempt;
    let ended = |status| NextState { status, retries: row.retries, due_at: None };
    match row.status.as_str() {
        _ if outcome.is_delivered() => ended("delivered"),
        "delivered" => ended("delivered"),
        "failed" => ended("failed"),
        "pending" if !is_active => ended("cancelled"),
        "pending" if claim.once => NextState { status: "pending", retries: row.retries, due_at: Some(row.due_at) },
        // 410 Gone fails this delivery at once, but does not disable the webhook.
        "pending" if outcome.status == Some(410) || row.retries >= MAX_RETRIES => ended("failed"),
        "pending" => {
            let retries = row.retries + 1;
            // In milliseconds, as the clock that it is compared with.
            let due_at = (*at + retry_delay(retries, outcome, fraction)).trunc_subsecs(3);
            NextState { status: "pending", retries, due_at: Some(due_at) }
        }
        _ => ended("cancelled"),
    }
}

/// A random number from 0 to 1, for the jitter.
fn random_fraction() -> f64 {
    getrandom::u32().map_or(0.0, |number| f64::from(number) / f64::from(u32::MAX))
}

fn log_row(attempt: &FinishedAttempt, next_attempt_at: Option<DateTime<Utc>>) -> serde_json::Value {
    let FinishedAttempt { claim, outcome, at } = attempt;
    // PostgreSQL rejects NUL in text.
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
        // In whole seconds, as the API shows them, which makes filters by a shown value match.
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

/// Reports whether the attempt is logged: an earlier commit may have succeeded although its acknowledgement was lost.
async fn is_logged(db: &Db, transaction: &Connection, attempt: &FinishedAttempt) -> Result<bool> {
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
    webhook: &WebhookState,
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
        sql.push(", \"disabled_reason\" = ").bind(webhook.reason);
        sql.push(", \"updated_at\" = ").bind(now);
        tracing::warn!(
            webhook = id,
            reason = webhook.reason,
            "webhook disabled: its deliveries have failed for 72 hours"
        );
    }
    sql.push(" WHERE \"id\" = ").bind(id);
    sql.run(transaction).await?;
    if !webhook.is_active {
        // The dispatcher cancels the remaining deliveries in batches.
        cancel(dialect, transaction, id, now).await?;
    }
    Ok(())
}
