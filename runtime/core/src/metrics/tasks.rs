//! Metrics of background tasks: running, restarts, rounds and the time of the last successful round.

use std::time::{SystemTime, UNIX_EPOCH};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

/// The metrics of all background tasks, by the name of the task: `retention`.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    running: Family<Name, Gauge>,
    restarts: Family<Name, Counter>,
    rounds: Family<Round, Counter>,
    ended: Family<Name, Gauge>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Name {
    task: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Round {
    task: &'static str,
    outcome: &'static str,
}

/// A running task, until this is dropped.
#[derive(Debug)]
pub struct RunningTask(Gauge);

impl Tasks {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register("charter_task_running", "1 while a background task runs", self.running.clone());
        registry.register(
            "charter_task_restarts",
            "Restarts of a background task after a panic",
            self.restarts.clone(),
        );
        registry.register("charter_task_rounds", "Rounds of a background task", self.rounds.clone());
        registry.register_with_unit(
            "charter_task_last_round_timestamp",
            "Unix time at which the last round of a background task succeeded",
            Unit::Seconds,
            self.ended.clone(),
        );
    }

    /// Counts a running task.
    pub fn run(&self, task: &'static str) -> RunningTask {
        let name = Name { task };
        drop(self.restarts.get_or_create(&name));
        let running = self.running.get_or_create_owned(&name);
        running.inc();
        RunningTask(running)
    }

    /// Counts a restart of a task.
    pub fn restart(&self, task: &'static str) {
        self.restarts.get_or_create(&Name { task }).inc();
    }

    /// Restarts of a task.
    #[cfg(test)]
    pub fn restarts(&self, task: &'static str) -> u64 {
        self.restarts.get_or_create(&Name { task }).get()
    }

    /// Counts a completed round of a task, and its outcome.
    pub fn round<T, E>(&self, task: &'static str, ended: &Result<T, E>) {
        let outcome = if ended.is_ok() { "done" } else { "failed" };
        self.rounds.get_or_create(&Round { task, outcome }).inc();
        if ended.is_ok() {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
            self.ended.get_or_create(&Name { task }).set(i64::try_from(now).unwrap_or(i64::MAX));
        }
    }
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        self.0.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_round_keeps_the_time_of_the_last_successful_round() {
        let tasks = Tasks::default();
        tasks.round("test", &Err::<(), _>("the database is away"));
        assert!(tasks.ended.get(&Name { task: "test" }).is_none());
        tasks.round("test", &Ok::<_, &str>(()));
        assert!(tasks.ended.get_or_create(&Name { task: "test" }).get() > 1_700_000_000);
    }
}
