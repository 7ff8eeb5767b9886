//! Webhook metrics: attempts by outcome, durations and delays of this process, and the backlog of the database.

use std::time::Duration;

use chrono::{DateTime, Utc};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::delivery::{AttemptKind, Claim};
use super::transport::Outcome;
use charter_core::clock::Clock;
use charter_core::db::{Db, Sql};
use charter_core::error::Result;

/// The backlog is counted at most this often.
const BACKLOG_MAX_AGE: Duration = Duration::from_secs(5);

/// Timeout of the backlog query: the counters of this process must be served even if the database hangs.
const BACKLOG_TIMEOUT: Duration = Duration::from_secs(2);

/// Upper bounds of the histogram buckets, in seconds.
const BUCKET_BOUNDS: [f64; 12] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0];

/// Counters and histograms of this process since its start.
#[derive(Debug)]
pub struct Metrics {
    attempts: Family<Attempts, Counter>,
    /// Durations of attempts.
    exchanges: Histogram,
    /// From the event to its first attempt.
    delays: Histogram,
    backlog: Mutex<Option<(Instant, Backlog)>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Attempts {
    outcome: &'static str,
}

/// Due deliveries without a lease and events before their fan-out, in the whole database.
#[derive(Debug, Clone, Copy, Default)]
struct Backlog {
    due: i64,
    oldest: Option<DateTime<Utc>>,
    waiting: i64,
}

const OUTCOMES: [&str; 3] = ["delivered", "refused", "unanswered"];

impl Default for Metrics {
    fn default() -> Metrics {
        let attempts = Family::<Attempts, Counter>::default();
        OUTCOMES.into_iter().for_each(|outcome| drop(attempts.get_or_create(&Attempts { outcome })));
        let histogram = || Histogram::new(BUCKET_BOUNDS);
        Metrics { attempts, exchanges: histogram(), delays: histogram(), backlog: Mutex::default() }
    }
}

impl Metrics {
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "charter_webhook_attempts",
            "Delivery attempts of this process, by outcome",
            self.attempts.clone(),
        );
        registry.register_with_unit(
            "charter_webhook_exchange",
            "Duration of delivery attempts",
            Unit::Seconds,
            self.exchanges.clone(),
        );
        registry.register_with_unit(
            "charter_webhook_first_attempt_delay",
            "Time from an event to its first delivery attempt",
            Unit::Seconds,
            self.delays.clone(),
        );
    }

    /// Observes the delay of a first attempt.
    pub(super) fn observe_delay(&self, claim: &Claim) {
        if claim.attempt.number == 1 && !claim.manual {
            let delay = (claim.attempt.at - claim.happened_at).to_std().unwrap_or_default();
            self.delays.observe(delay.as_secs_f64());
        }
    }

    pub(super) fn observe_outcome(&self, outcome: &Outcome) {
        let [delivered, refused, unanswered] = OUTCOMES;
        let label = match outcome {
            _ if outcome.is_delivered() => delivered,
            Outcome { status: Some(_), error: None, .. } => refused,
            _ => unanswered,
        };
        self.attempts.get_or_create(&Attempts { outcome: label }).inc();
        self.exchanges.observe(outcome.duration.as_secs_f64());
    }

    /// Gauges of the backlog in their own registry; `None` if the database does not respond in time.
    pub async fn backlog(&self, db: &Db, clock: &Clock) -> Option<Registry> {
        let now = clock.now();
        let backlog = timeout(BACKLOG_TIMEOUT, self.count_backlog(db, now)).await.ok()?.ok()?;
        let age = backlog.oldest.map_or(0, |oldest| (now - oldest).num_milliseconds().max(0));
        let mut registry = Registry::default();
        registry.register(
            "charter_webhook_due",
            "Deliveries that are due and not being attempted",
            ConstGauge::new(backlog.due),
        );
        registry.register_with_unit(
            "charter_webhook_oldest_due",
            "Time since the oldest due delivery became due",
            Unit::Seconds,
            ConstGauge::new(age as f64 / 1000.0),
        );
        registry.register(
            "charter_events_waiting",
            "Events that are not fanned out yet",
            ConstGauge::new(backlog.waiting),
        );
        Some(registry)
    }

    async fn count_backlog(&self, db: &Db, now: DateTime<Utc>) -> Result<Backlog> {
        // Concurrent requests wait here and share one count.
        let mut counted = self.backlog.lock().await;
        if let Some((at, backlog)) = *counted
            && at.elapsed() < BACKLOG_MAX_AGE
        {
            return Ok(backlog);
        }
        let mut sql = Sql::new(db.dialect(), "SELECT COUNT(*) AS \"due\", MIN(\"due_at\") AS \"oldest\", ");
        sql.push("(SELECT COUNT(*) FROM \"events\" WHERE \"fanned_out_at\" IS NULL) AS \"waiting\" FROM (");
        for (index, kind) in AttemptKind::ALL.into_iter().enumerate() {
            sql.push(if index > 0 { " UNION ALL " } else { "" });
            sql.push("SELECT d.\"due_at\" FROM \"webhook_deliveries\" d WHERE ");
            kind.write_due(&mut sql, now);
        }
        sql.push(") AS d");
        let row = sql.one(db.reader()).await?;
        let backlog = match row {
            Some(row) => Backlog {
                due: row.try_get("", "due")?,
                oldest: row.try_get("", "oldest")?,
                waiting: row.try_get("", "waiting")?,
            },
            None => Backlog::default(),
        };
        *counted = Some((Instant::now(), backlog));
        Ok(backlog)
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::prometheus_text::encode;

    use super::*;

    #[test]
    fn metric_names_and_outcomes_are_stable() {
        let metrics = Metrics::default();
        for millis in [0, 5, 6, 15_000, 15_001] {
            let duration = Duration::from_millis(millis);
            metrics.observe_outcome(&Outcome { status: Some(404), duration, ..Outcome::default() });
        }
        metrics.delays.observe(0.02);
        let (mut registry, mut text) = (Registry::default(), String::new());
        metrics.register(&mut registry);
        encode(&mut text, &registry).unwrap();
        for line in [
            "charter_webhook_attempts_total{outcome=\"delivered\"} 0",
            "charter_webhook_attempts_total{outcome=\"refused\"} 5",
            "charter_webhook_attempts_total{outcome=\"unanswered\"} 0",
            "charter_webhook_exchange_seconds_bucket{le=\"0.005\"} 2",
            "charter_webhook_exchange_seconds_bucket{le=\"0.01\"} 3",
            "charter_webhook_exchange_seconds_bucket{le=\"15\"} 4",
            "charter_webhook_exchange_seconds_bucket{le=\"+Inf\"} 5",
            "charter_webhook_exchange_seconds_sum 30.012",
            "charter_webhook_exchange_seconds_count 5",
            "charter_webhook_first_attempt_delay_seconds_count 1",
        ] {
            assert!(text.lines().any(|l| l == line), "{line}: {text}");
        }
    }
}
