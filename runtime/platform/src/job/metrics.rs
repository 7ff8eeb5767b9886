//! Metrics of background jobs: attempts by outcome, and the time of the last success.

use std::time::{SystemTime, UNIX_EPOCH};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

/// Counters of this process since its start.
#[derive(Debug, Clone, Default)]
pub struct Metrics {
    attempts: Family<Attempts, Counter>,
    succeeded: Family<Name, Gauge>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Attempts {
    job: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Name {
    job: &'static str,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Done,
    /// Another attempt follows.
    Retried,
    /// The last attempt failed.
    Failed,
}

impl Metrics {
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "charter_job_attempts",
            "Attempts of background jobs in this process, by outcome",
            self.attempts.clone(),
        );
        registry.register_with_unit(
            "charter_job_last_success_timestamp",
            "Unix time at which a background job last succeeded in this process",
            Unit::Seconds,
            self.succeeded.clone(),
        );
    }

    pub(super) fn count(&self, job: &'static str, outcome: Outcome) {
        let name = match outcome {
            Outcome::Done => "done",
            Outcome::Retried => "retried",
            Outcome::Failed => "failed",
        };
        self.attempts.get_or_create(&Attempts { job, outcome: name }).inc();
        if outcome == Outcome::Done {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
            self.succeeded.get_or_create(&Name { job }).set(i64::try_from(now).unwrap_or(i64::MAX));
        }
    }
}
