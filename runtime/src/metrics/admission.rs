//! Admission control: the time that requests wait for their turn, and the requests that are refused before they begin.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Upper bounds in seconds. No request waits longer than half a second.
const WAIT_SECONDS: [f64; 10] = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5];

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The queue was full when the request came.
    QueueFull,
    /// The request waited for its turn as long as one may.
    QueueTimeout,
    /// A request that waits for another server found all places for that taken.
    ExternalCallLimit,
    /// The client exceeded a rate limit.
    RateLimited,
}

/// The queue for turns, and refusals.
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
        // A counter that is there from the start has a rate when it is first raised.
        Refused::ALL.into_iter().for_each(|why| drop(refused.get_or_create(&why.label())));
        Admission { waits: Histogram::new(WAIT_SECONDS), waiting: Gauge::default(), refused }
    }
}

impl Admission {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register_with_unit(
            "charter_queue_wait",
            "Time that a request waited for its turn, 0 where it did not wait",
            Unit::Seconds,
            self.waits.clone(),
        );
        registry.register("charter_queue_waiting", "Requests that wait for their turn", self.waiting.clone());
        registry.register("charter_requests_refused", "Requests refused before they began", self.refused.clone());
    }

    /// Records the wait of a request whose turn has come, or that was refused after it.
    pub fn waited(&self, time: Duration) {
        self.waits.observe(time.as_secs_f64());
    }

    /// Counts a request into the queue.
    pub fn queue(&self) -> Queued {
        self.waiting.inc();
        Queued(self.waiting.clone())
    }

    /// Counts a request that is refused.
    pub fn refuse(&self, why: Refused) {
        self.refused.get_or_create(&why.label()).inc();
    }

    /// Requests refused for this reason since the server started.
    #[cfg(test)]
    pub fn refused(&self, why: Refused) -> u64 {
        self.refused.get_or_create(&why.label()).get()
    }
}

impl Refused {
    const ALL: [Refused; 4] = [Refused::QueueFull, Refused::QueueTimeout, Refused::ExternalCallLimit, Refused::RateLimited];

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
