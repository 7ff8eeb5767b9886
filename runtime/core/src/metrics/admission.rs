//! Metrics of admission control: queue, waiting time and refused requests.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Bucket bounds in seconds. The longest wait is 500 ms.
const WAIT_SECONDS: [f64; 10] = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5];

/// Reason of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The queue was full.
    QueueFull,
    /// The request waited for the longest time allowed.
    QueueTimeout,
    /// Too many requests wait for other servers.
    ExternalCallLimit,
    /// The client exceeded a rate limit.
    RateLimited,
}

/// The metrics of the queue and of refusals.
#[derive(Debug, Clone)]
pub struct Admission {
    waits: Histogram,
    waiting: Gauge,
    refused: Family<Reason, Counter>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Reason {
    reason: &'static str,
}

/// A request in the queue, until this is dropped.
#[derive(Debug)]
pub struct Queued(Gauge);

impl Default for Admission {
    fn default() -> Admission {
        let refused = Family::<Reason, Counter>::default();
        // A counter must be exported as 0 before its first increment to have a rate.
        Refused::ALL.into_iter().for_each(|reason| drop(refused.get_or_create(&reason.label())));
        Admission { waits: Histogram::new(WAIT_SECONDS), waiting: Gauge::default(), refused }
    }
}

impl Admission {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register_with_unit(
            "charter_queue_wait",
            "Time that a request was queued, 0 if it was not",
            Unit::Seconds,
            self.waits.clone(),
        );
        registry.register("charter_queue_waiting", "Requests in the queue", self.waiting.clone());
        registry.register("charter_requests_refused", "Requests refused before they began", self.refused.clone());
    }

    /// Records the time that a request was queued, whether it was then refused or not.
    pub fn record_wait(&self, time: Duration) {
        self.waits.observe(time.as_secs_f64());
    }

    /// Counts a queued request until the guard is dropped.
    pub fn queue(&self) -> Queued {
        self.waiting.inc();
        Queued(self.waiting.clone())
    }

    /// Counts a refused request.
    pub fn refuse(&self, reason: Refused) {
        self.refused.get_or_create(&reason.label()).inc();
    }

    /// Requests refused for this reason.
    pub fn refused(&self, reason: Refused) -> u64 {
        self.refused.get_or_create(&reason.label()).get()
    }
}

impl Refused {
    const ALL: [Refused; 4] =
        [Refused::QueueFull, Refused::QueueTimeout, Refused::ExternalCallLimit, Refused::RateLimited];

    fn label(self) -> Reason {
        let reason = match self {
            Refused::QueueFull => "queue_full",
            Refused::QueueTimeout => "queue_timeout",
            Refused::ExternalCallLimit => "external_call_limit",
            Refused::RateLimited => "rate_limited",
        };
        Reason { reason }
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        self.0.dec();
    }
}
