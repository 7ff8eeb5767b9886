//! Background jobs of an application: scheduled ones, and ones that a write queues in its transaction.
//!
//! Both are rows of `background_jobs`, one for each run. A worker of any process claims a row by a lease.

mod metrics;
pub mod record;
mod retention;
mod retry;
mod run;
mod schedule;
mod worker;

use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

use charter_core::db::Sql;
use charter_core::error::{Error, Result};
use charter_core::ops::{BoxFuture, Context, RunScheduled, ScheduledJob, work_after_commit};
use charter_model::job::{ATTEMPTS, INTERVALS, INTERVALS_TEXT, TIMEOUTS, TIMEOUTS_TEXT};
use serde_json::Value;
use tokio::sync::Notify;

pub use metrics::Metrics;
pub use retention::prune;
pub use worker::run_worker;

use record::WAITING;

/// The code of a queued job. It gets a context with all rights, and the arguments of the run.
pub type RunJob = for<'a> fn(&'a Context<'a>, &'a Value) -> BoxFuture<'a, Result<()>>;

/// Maximum length of a job's name.
const MAX_NAME: usize = 64;
/// Maximum size of the arguments of a queued job, as JSON.
const MAX_ARGUMENTS: usize = 64 << 10;

/// A background job of an application: a scheduled one of a resource, or one that code queues, added by `App::job`.
#[derive(Clone, Copy)]
pub struct Job {
    /// Unique in the application: `remind_overdue`.
    pub name: &'static str,
    /// The interval of a scheduled job.
    pub every: Option<Duration>,
    run: Run,
    pub max_attempts: u32,
    /// Maximum duration of one attempt.
    pub timeout: Duration,
    /// True if the job runs outside of a transaction.
    pub is_external: bool,
}

/// The two forms of code.
#[derive(Clone, Copy)]
enum Run {
    Queued(RunJob),
    Scheduled(RunScheduled),
}

impl From<ScheduledJob> for Job {
    fn from(job: ScheduledJob) -> Job {
        let ScheduledJob { name, schedule, run } = job;
        Job {
            name,
            every: Some(schedule.interval()),
            run: Run::Scheduled(run),
            max_attempts: schedule.attempts,
            timeout: Duration::from_secs(schedule.timeout),
            is_external: schedule.external,
        }
    }
}

impl Job {
    /// Runs its code. `arguments` are those of a queued run.
    fn run<'a>(&self, context: &'a Context<'a>, arguments: &'a Value) -> BoxFuture<'a, Result<()>> {
        match self.run {
            Run::Queued(run) => run(context, arguments),
            Run::Scheduled(run) => run(context),
        }
    }

    /// A job that runs when a write queues it: see [`Job::enqueue`].
    pub const fn queued(name: &'static str, run: RunJob) -> Job {
        Job {
            name,
            every: None,
            run: Run::Queued(run),
            max_attempts: 5,
            timeout: Duration::from_secs(30),
            is_external: false,
        }
    }

    /// The number of attempts after which a run has failed, from 1 to 20; 5 by default.
    pub const fn attempts(self, max_attempts: u32) -> Job {
        Job { max_attempts, ..self }
    }

    /// The maximum duration of one attempt, from a second to 24 hours; 30 seconds by default. A job that is not external holds locks
    /// for this long, on SQLite those of all writes.
    pub const fn timeout(self, timeout: Duration) -> Job {
        Job { timeout, ..self }
    }

    /// Runs the job outside of a transaction, because it calls another server. An attempt that is interrupted is repeated,
    /// even if the other server has done its part.
    pub const fn external(self) -> Job {
        Job { is_external: true, ..self }
    }

    /// Queues a run in the transaction of a write: it exists exactly if the write does. Outside of a transaction, such as in
    /// a mounted route, it is queued at once. Returns the id of the run.
    ///
    /// # Errors
    /// [`Error::Internal`] if the application has no such job, or if the arguments have more than 64 KiB as JSON; those of
    /// the database.
    pub async fn enqueue(&self, context: &Context<'_>, arguments: Value) -> Result<i64> {
        let state = context.state();
        let entry = state.catalog.get(record::NAME);
        let (Ok(entry), Some(_)) = (entry, state.extension::<Jobs>()?.find(self.name)) else {
            return Err(Error::internal(format!("the application has no job `{}`: add it with App::job", self.name)));
        };
        if arguments.to_string().len() > MAX_ARGUMENTS {
            return Err(Error::internal(format!(
                "the arguments of the job `{}` have more than {MAX_ARGUMENTS} bytes: store a record, and pass its id",
                self.name
            )));
        }
        let now = state.clock.now();
        let mut sql = Sql::new(state.db.dialect(), "INSERT INTO \"background_jobs\" (\"name\", \"arguments\", ");
        sql.push("\"status\", \"attempts\", \"user_id\", \"due_at\", \"created_at\", \"updated_at\") VALUES (");
        sql.bind(self.name).push(", ").bind(arguments).push(&format!(", '{WAITING}', 0, "));
        sql.bind(context.caller().user_id).push(", ").bind(now).push(", ").bind(now).push(", ").bind(now);
        sql.push(") RETURNING \"id\"");
        let row = if context.transaction().is_some() {
            let row = sql.one(context.db()).await?;
            work_after_commit(context, entry, Box::new(|context| Box::pin(async move { wake(context) })));
            row
        } else {
            let transaction = state.db.begin().await?;
            let row = sql.one(&transaction).await?;
            transaction.commit().await?;
            wake(context)?;
            row
        };
        let row = row.ok_or_else(|| Error::internal("the insert returned no row"))?;
        Ok(row.try_get("", "id")?)
    }
}

/// Wakes a worker of this process. Those of other processes look every second.
fn wake(context: &Context<'_>) -> Result<()> {
    context.state().extension::<Jobs>()?.wake.notify_one();
    Ok(())
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("name", &self.name).field("every", &self.every).finish_non_exhaustive()
    }
}

/// The jobs of an application, an extension of its state.
#[derive(Debug)]
pub struct Jobs {
    all: Vec<Job>,
    /// Signals that a run waits for a worker.
    wake: Notify,
    metrics: Metrics,
}

impl Jobs {
    /// # Errors
    /// The first problem of a declaration: a name that is malformed or not unique, or a number out of its range.
    pub fn new(all: Vec<Job>, metrics: Metrics) -> Result<Jobs> {
        let mut names = HashSet::new();
        for job in &all {
            let problem = |what: String| Err(Error::internal(format!("job `{}`: {what}", job.name)));
            let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            if job.name.is_empty() || job.name.len() > MAX_NAME || !job.name.chars().all(is_word) {
                return problem(format!("a name has 1 to {MAX_NAME} characters of a-z, 0-9 and _"));
            }
            if !names.insert(job.name) {
                return problem("the application has two jobs of this name".into());
            }
            if job.every.is_some_and(|every| !INTERVALS.contains(&every)) {
                return problem(format!("an interval is from {INTERVALS_TEXT}"));
            }
            if !TIMEOUTS.contains(&job.timeout) {
                return problem(format!("a timeout is from {TIMEOUTS_TEXT}"));
            }
            if !ATTEMPTS.contains(&job.max_attempts) {
                return problem(format!("the number of attempts is from {} to {}", ATTEMPTS.start(), ATTEMPTS.end()));
            }
        }
        Ok(Jobs { all, wake: Notify::new(), metrics })
    }

    /// True if the application has no jobs.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    fn find(&self, name: &str) -> Option<&Job> {
        self.all.iter().find(|job| job.name == name)
    }
}

#[cfg(test)]
mod tests {
    use charter_core::ops::Schedule;

    use super::*;

    fn nothing<'a>(_: &'a Context<'a>, _: &'a Value) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    #[test]
    fn problem_of_a_declaration_names_the_job() {
        let job = Job::queued("send", nothing);
        let problem = |jobs: Vec<Job>| Jobs::new(jobs, Metrics::default()).map(drop).unwrap_err().to_string();
        let every = |seconds| {
            let run = |_: &'_ Context<'_>| -> BoxFuture<'_, Result<()>> { Box::pin(async { Ok(()) }) };
            Job::from(ScheduledJob { name: "tidy", schedule: Schedule::every(seconds), run })
        };
        assert!(Jobs::new(vec![job, every(10)], Metrics::default()).is_ok());
        for (jobs, expected) in [
            (vec![job, job], "job `send`: the application has two jobs of this name"),
            (vec![Job::queued("Send it", nothing)], "job `Send it`: a name has"),
            (vec![every(9)], "job `tidy`: an interval is"),
            (vec![job.attempts(0)], "job `send`: the number of attempts is from 1 to 20"),
            (vec![job.timeout(Duration::ZERO)], "job `send`: a timeout is"),
        ] {
            assert!(problem(jobs.clone()).contains(expected), "{jobs:?}");
        }
    }
}
