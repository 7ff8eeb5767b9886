//! Workers of background jobs: they claim runs that are due.

use std::sync::Arc;
use std::time::Duration;

use charter_core::db::{Dialect, Sql};
use charter_core::error::Result;
use charter_core::ops::State;
use chrono::{DateTime, Utc};
use futures_util::future::join_all;
use tokio::time::timeout;

use super::record::{ACTIVE, RUNNING, TABLE};
use super::{Jobs, retention, run, schedule};
use crate::lease::{self, Claim, Queue};

/// Interval at which a worker looks for runs of other processes, attempts that are due, and expired leases.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Runs at a time on PostgreSQL.
const WORKERS: usize = 4;

/// SQLite has one writer: a second job would wait for it, and its lease could expire.
fn workers(dialect: Dialect) -> usize {
    if dialect == Dialect::Postgres { WORKERS } else { 1 }
}

/// Works while the server runs.
pub async fn run_worker(state: Arc<State>) {
    let workers = join_all((0..workers(state.db.dialect())).map(|_| work(&state)));
    tokio::join!(workers, schedule::schedule_periodically(&state), retention::prune_periodically(&state));
}

async fn work(state: &Arc<State>) {
    loop {
        let worked = work_once(state).await;
        state.metrics.tasks.round("jobs", &worked);
        if let Err(error) = &worked {
            tracing::error!(%error, "jobs: an error of the database; retrying");
        }
        if !worked.unwrap_or(false)
            && let Ok(jobs) = state.extension::<Jobs>()
        {
            let _ = timeout(POLL_INTERVAL, jobs.wake.notified()).await;
        }
    }
}

/// Makes one attempt at a run that is due. Returns false if none is.
async fn work_once(state: &Arc<State>) -> Result<bool> {
    let Some(claim) = claim(state).await? else { return Ok(false) };
    // A shutdown waits for the attempt, but does not wait for further ones.
    let (tasks, state) = (&state.detached_tasks, state.clone());
    tasks.run_to_completion(async move { run::attempt(&state, &claim).await }).await?;
    Ok(true)
}

/// Claims the run that has waited longest. Runs of jobs that this process does not know are left to others: during an
/// update, a process of the new version may have queued them.
async fn claim(state: &State) -> Result<Option<Claim>> {
    let now: DateTime<Utc> = state.clock.now();
    let jobs = state.extension::<Jobs>()?;
    let names: Vec<sea_orm::Value> = jobs.all.iter().map(|job| job.name.into()).collect();
    let states = ACTIVE.map(|status| format!("'{status}'")).join(", ");
    let waiting = |sql: &mut Sql| {
        sql.push(&format!("\"status\" IN ({states}) AND \"name\" IN ")).values_list(&names);
        sql.push(" AND \"due_at\" <= ").bind(now);
    };
    let begin = |sql: &mut Sql| {
        sql.push(&format!(", \"status\" = '{RUNNING}', \"attempts\" = \"attempts\" + 1, \"started_at\" = ")).bind(now);
        sql.push(", \"finished_at\" = NULL, \"updated_at\" = ").bind(now);
    };
    lease::claim(state, &Queue { table: TABLE, waiting: &waiting, order: "\"due_at\", \"id\"", begin: &begin }).await
}
