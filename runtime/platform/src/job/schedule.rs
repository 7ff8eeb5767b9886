//! Schedule: one run of each scheduled job in each interval, created by the first process that looks.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use charter_core::db::Sql;
use charter_core::error::Result;
use charter_core::ops::State;
use chrono::{DateTime, Utc};
use tokio::time::sleep;

use super::record::{ACTIVE, WAITING};
use super::{Job, Jobs};

/// Interval at which it looks for intervals that have begun.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Creates runs while the server runs.
pub(super) async fn schedule_periodically(state: &Arc<State>) {
    // The last interval of each job for which this process knows a run.
    let mut known = HashMap::new();
    loop {
        let scheduled = schedule(state, &mut known).await;
        state.metrics.tasks.round("jobs_schedule", &scheduled);
        if let Err(error) = &scheduled {
            tracing::error!(%error, "jobs: an error of the database; retrying");
        }
        sleep(POLL_INTERVAL).await;
    }
}

async fn schedule(state: &State, known: &mut HashMap<&'static str, DateTime<Utc>>) -> Result<()> {
    let jobs = state.extension::<Jobs>()?;
    for job in &jobs.all {
        let Some(every) = job.every else { continue };
        let begun = interval_start(state.clock.now(), every);
        if known.get(job.name).is_some_and(|last| *last >= begun) {
            continue;
        }
        let (last, is_active) = last_run(state, job).await?;
        if last.is_some_and(|last| last >= begun) {
            known.insert(job.name, begun);
        // A run that takes longer than the interval, or waits for its next attempt, is not overtaken.
        } else if !is_active && create(state, job, begun).await? {
            known.insert(job.name, begun);
            jobs.wake.notify_one();
        }
    }
    Ok(())
}

/// The start of the interval that contains this time.
fn interval_start(now: DateTime<Utc>, every: Duration) -> DateTime<Utc> {
    let seconds = i64::try_from(every.as_secs()).unwrap_or(i64::MAX).max(1);
    let start = now.timestamp() - now.timestamp().rem_euclid(seconds);
    DateTime::from_timestamp(start, 0).unwrap_or(now)
}

/// The last interval with a run, and whether that run has not ended.
async fn last_run(state: &State, job: &Job) -> Result<(Option<DateTime<Utc>>, bool)> {
    let select = "SELECT \"scheduled_for\", \"status\" FROM \"background_jobs\" WHERE \"name\" = ";
    let mut sql = Sql::new(state.db.dialect(), select);
    sql.bind(job.name).push(" AND \"scheduled_for\" IS NOT NULL ORDER BY \"scheduled_for\" DESC LIMIT 1");
    let Some(row) = sql.one(state.db.reader()).await? else { return Ok((None, false)) };
    let status: String = row.try_get("", "status")?;
    Ok((row.try_get("", "scheduled_for")?, ACTIVE.contains(&status.as_str())))
}

/// Creates the run of an interval. Returns false if another run of the job has not ended, or another process was first.
async fn create(state: &State, job: &Job, begun: DateTime<Utc>) -> Result<bool> {
    let now = state.clock.now();
    let mut sql = Sql::new(state.db.dialect(), "INSERT INTO \"background_jobs\" (\"name\", \"arguments\", ");
    sql.push("\"scheduled_for\", \"status\", \"attempts\", \"due_at\", \"created_at\", \"updated_at\") VALUES (");
    sql.bind(job.name).push(", ").bind(serde_json::Value::Null).push(", ").bind(begun);
    sql.push(&format!(", '{WAITING}', 0, ")).bind(begun).push(", ").bind(now).push(", ").bind(now);
    sql.push(") ON CONFLICT DO NOTHING");
    let transaction = state.db.begin().await?;
    let created = sql.run(&transaction).await?;
    transaction.commit().await?;
    Ok(created == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_of_a_day_begins_at_midnight_in_utc() {
        let now: DateTime<Utc> = "2026-11-29T13:45:07.250Z".parse().unwrap();
        let start = |seconds| interval_start(now, Duration::from_secs(seconds)).to_rfc3339();
        assert_eq!(start(24 * 60 * 60), "2026-11-29T00:00:00+00:00");
        assert_eq!(start(300), "2026-11-29T13:45:00+00:00");
    }
}
