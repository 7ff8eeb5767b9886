//! One attempt at a run: the job's code and the end of the run in one transaction, with a lease that is extended meanwhile.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use charter_core::db::{Connection, Dialect, Sql};
use charter_core::error::{Error, Result};
use charter_core::ops::{Context, State, Transaction};
use charter_core::principal::Principal;
use chrono::TimeDelta;
use futures_util::FutureExt;
use sea_orm::EntityTrait;
use tokio::time::{sleep, timeout};

use super::metrics::Outcome;
use super::record::{DONE, Entity, FAILED, Model, RUNNING, TABLE, WAITING};
use super::{Job, Jobs, retry};
use crate::lease::{Claim, KEEP_INTERVAL, LEASE};

/// Makes an attempt at a claimed run.
///
/// # Errors
/// When the database fails: the lease expires, and a worker makes the next attempt.
pub(super) async fn attempt(state: &Arc<State>, claim: &Claim) -> Result<()> {
    let jobs = state.extension::<Jobs>()?;
    let Some(run) = Entity::find_by_id(claim.id).one(state.db.reader()).await? else { return Ok(()) };
    let Some(job) = jobs.find(&run.name) else { return Ok(()) };
    let attempts = u32::try_from(run.attempts).unwrap_or(u32::MAX);
    if attempts > job.max_attempts {
        // Each attempt ended with its process: it may have exhausted the memory.
        let why = format!("The server stopped during each of {} attempts.", job.max_attempts);
        jobs.metrics.count(job.name, Outcome::Failed);
        return fail(state, claim, &why, None).await;
    }
    let (principal, request_id) = (Principal::operator(), request_id(&run));
    let outside = Context::new(state, &principal, state.db.reader()).with_request_id(Some(&request_id));
    let done = tokio::select! {
        done = guarded(&outside, claim, job, &run) => done,
        () = lost(state, claim, job) => return Ok(()),
    };
    match done {
        Ok(Ended::Done) => {
            jobs.metrics.count(job.name, Outcome::Done);
            Ok(())
        }
        // The hooks after the commit belong neither to the attempt nor to its time.
        Ok(Ended::Uncommitted(transaction)) => {
            transaction.commit(&outside).await?;
            jobs.metrics.count(job.name, Outcome::Done);
            Ok(())
        }
        // Another worker has the run, and the transaction was rolled back.
        Ok(Ended::Elsewhere) => Ok(()),
        Err(error) => {
            let is_last = attempts >= job.max_attempts;
            let cause = match &error {
                Error::Internal(cause) => cause.to_string(),
                other => other.message("-"),
            };
            tracing::error!(%request_id, job = job.name, attempt = attempts, is_last, cause, "a job failed");
            jobs.metrics.count(job.name, if is_last { Outcome::Failed } else { Outcome::Retried });
            let delay = (!is_last).then(|| retry::delay(attempts, job.every));
            let delay = delay.map(|delay| TimeDelta::from_std(delay).unwrap_or(TimeDelta::hours(6)));
            fail(state, claim, &retry::text(&error), delay).await
        }
    }
}

/// The id that the audit entries and log lines of a run have in common.
fn request_id(run: &Model) -> String {
    format!("job-{}", run.id)
}

/// Runs the code of a job within its timeout; a panic is an error.
async fn guarded(outside: &Context<'_>, claim: &Claim, job: &Job, run: &Model) -> Result<Ended> {
    let code = AssertUnwindSafe(execute(outside, claim, job, run)).catch_unwind();
    match timeout(job.timeout, code).await {
        Ok(Ok(done)) => done,
        Ok(Err(_)) => Err(Error::internal("the job panicked")),
        Err(_) => {
            Err(Error::Conflict(format!("The attempt took longer than its timeout of {} s.", job.timeout.as_secs())))
        }
    }
}

/// The end of an attempt without an error.
enum Ended {
    Done,
    /// Done with this commit.
    Uncommitted(Box<Transaction>),
    /// Another worker has the run.
    Elsewhere,
}

/// Runs the code of a job, and ends the run in the same transaction.
async fn execute(outside: &Context<'_>, claim: &Claim, job: &Job, run: &Model) -> Result<Ended> {
    let state = outside.state_arc();
    if job.is_external {
        job.run(outside, &run.arguments).await?;
        let transaction = state.db.begin().await?;
        let is_own = end(state, &transaction, claim).await?;
        transaction.commit().await?;
        return Ok(if is_own { Ended::Done } else { Ended::Elsewhere });
    }
    let transaction = Transaction::begin_late(state).await?;
    let context = outside.in_transaction(&transaction);
    job.run(&context, &run.arguments).await?;
    // Dropped without a commit, the transaction rolls back.
    let is_own = end(state, context.db(), claim).await?;
    Ok(if is_own { Ended::Uncommitted(Box::new(transaction)) } else { Ended::Elsewhere })
}

/// Marks the run as done. Returns false if it is no longer this worker's.
async fn end(state: &State, connection: &Connection, claim: &Claim) -> Result<bool> {
    let now = state.clock.now();
    let mut sql = Sql::new(state.db.dialect(), "UPDATE ");
    sql.name(TABLE).push(&format!(" SET \"status\" = '{DONE}', \"error\" = NULL, \"finished_at\" = ")).bind(now);
    sql.push(", \"updated_at\" = ").bind(now).push(", \"lease_owner\" = NULL, \"lease_until\" = NULL");
    claim.write_own(&mut sql, RUNNING);
    Ok(sql.run(connection).await? == 1)
}

/// Stores why an attempt failed. After `delay` follows the next one; without it, the run has failed.
async fn fail(state: &State, claim: &Claim, why: &str, delay: Option<TimeDelta>) -> Result<()> {
    let now = state.clock.now();
    let mut sql = Sql::new(state.db.dialect(), "UPDATE ");
    sql.name(TABLE).push(" SET \"status\" = ").bind(if delay.is_some() { WAITING } else { FAILED });
    sql.push(", \"error\" = ").bind(why).push(", \"updated_at\" = ").bind(now);
    match delay {
        Some(delay) => sql.push(", \"due_at\" = ").bind(now + delay),
        None => sql.push(", \"finished_at\" = ").bind(now),
    };
    sql.push(", \"lease_owner\" = NULL, \"lease_until\" = NULL");
    claim.write_own(&mut sql, RUNNING);
    let transaction = state.db.begin().await?;
    sql.run(&transaction).await?;
    transaction.commit().await
}

/// Extends the lease until another worker has the run.
async fn lost(state: &State, claim: &Claim, job: &Job) {
    loop {
        sleep(KEEP_INTERVAL).await;
        // The transaction of a job holds the only write lock of SQLite: no other worker can claim the run.
        let is_excluded = state.db.dialect() == Dialect::Sqlite && !job.is_external;
        if !is_excluded && let Ok(false) = keep(state, claim).await {
            return;
        }
    }
}

async fn keep(state: &State, claim: &Claim) -> Result<bool> {
    let mut sql = Sql::new(state.db.dialect(), "UPDATE ");
    sql.name(TABLE).push(" SET \"lease_until\" = ").bind(state.clock.now() + LEASE);
    claim.write_own(&mut sql, RUNNING);
    let transaction = state.db.begin().await?;
    let extended = sql.run(&transaction).await?;
    transaction.commit().await?;
    Ok(extended == 1)
}
