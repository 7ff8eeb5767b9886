//! Figures on deliveries, as `/health/metrics` answers them in the text format of Prometheus.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::delivery::{Claim, Turn};
use super::exchange::Outcome;
use crate::clock::Clock;
use crate::db::{Db, Sql};
use crate::error::Result;

/// The backlog is counted at most so often, however often it is asked for.
const COUNTED: Duration = Duration::from_secs(5);

/// So long the database may take: what this process has counted is wanted most when it hangs.
const PATIENCE: Duration = Duration::from_secs(2);

/// The upper bounds of the histograms, in milliseconds.
const BOUNDS: [u64; 12] = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 15_000];

/// What this process has counted since it started.
#[derive(Debug, Default)]
pub struct Metrics {
    delivered: AtomicU64,
    refused: AtomicU64,
    unanswered: AtomicU64,
    /// How long exchanges took.
    exchanges: Histogram,
    /// From an event to the beginning of the first attempt.
    delays: Histogram,
    backlog: Mutex<Option<(Instant, Backlog)>>,
}

#[derive(Debug, Default)]
struct Histogram {
    counts: [AtomicU64; BOUNDS.len() + 1],
    sum_micros: AtomicU64,
}

/// Deliveries that are due and that nobody is attempting, and events before their deliveries, in the whole database.
#[derive(Debug, Clone, Copy, Default)]
struct Backlog {
    due: i64,
    oldest: Option<DateTime<Utc>>,
    waiting: i64,
}

impl Metrics {
    /// Counts the delay of a first attempt that begins.
    pub(super) fn begin(&self, claim: &Claim) {
        if claim.attempt.number == 1 && !claim.manual {
            self.delays.add((claim.attempt.at - claim.happened_at).to_std().unwrap_or_default());
        }
    }

    pub(super) fn count(&self, outcome: &Outcome) {
        let counter = match outcome {
            _ if outcome.is_delivered() => &self.delivered,
            Outcome { status: Some(_), error: None, .. } => &self.refused,
            _ => &self.unanswered,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        self.exchanges.add(outcome.duration);
    }

    /// Everything as text; without what the database knows where that does not answer.
    pub async fn text(&self, db: &Db, clock: &Clock) -> String {
        let now = clock.now();
        let mut text = String::with_capacity(4096);
        if let Ok(Ok(backlog)) = timeout(PATIENCE, self.backlog(db, now)).await {
            let age = backlog.oldest.map_or(0, |oldest| (now - oldest).num_milliseconds().max(0));
            about(&mut text, "charter_webhook_due", "gauge", "Deliveries that are due and that nobody is attempting.");
            let _ = writeln!(text, "charter_webhook_due {}", backlog.due);
            about(
                &mut text,
                "charter_webhook_oldest_due_seconds",
                "gauge",
                "How long the oldest of them has been due.",
            );
            let _ = writeln!(text, "charter_webhook_oldest_due_seconds {}", seconds(age.unsigned_abs() * 1000));
            about(&mut text, "charter_events_waiting", "gauge", "Events of which no deliveries were made yet.");
            let _ = writeln!(text, "charter_events_waiting {}", backlog.waiting);
        }
        about(
            &mut text,
            "charter_webhook_attempts_total",
            "counter",
            "Attempts of this process, by what came of them.",
        );
        for (outcome, count) in
            [("delivered", &self.delivered), ("refused", &self.refused), ("unanswered", &self.unanswered)]
        {
            let count = count.load(Ordering::Relaxed);
            let _ = writeln!(text, "charter_webhook_attempts_total{{outcome=\"{outcome}\"}} {count}");
        }
        let name = "charter_webhook_exchange_seconds";
        about(&mut text, name, "histogram", "How long exchanges of this process took.");
        self.exchanges.write(&mut text, name);
        let name = "charter_webhook_first_attempt_delay_seconds";
        about(&mut text, name, "histogram", "From an event to the beginning of its first attempt in this process.");
        self.delays.write(&mut text, name);
        text
    }

    async fn backlog(&self, db: &Db, now: DateTime<Utc>) -> Result<Backlog> {
        // Whoever asks meanwhile waits here, so that it is counted once.
        let mut counted = self.backlog.lock().await;
        if let Some((at, backlog)) = *counted
            && at.elapsed() < COUNTED
        {
            return Ok(backlog);
        }
        let mut sql = Sql::new(db.dialect(), "SELECT COUNT(*) AS \"due\", MIN(\"due_at\") AS \"oldest\", ");
        sql.push("(SELECT COUNT(*) FROM \"events\" WHERE \"fanned_out_at\" IS NULL) AS \"waiting\" FROM (");
        for (index, turn) in Turn::ALL.into_iter().enumerate() {
            sql.push(if index > 0 { " UNION ALL " } else { "" });
            sql.push("SELECT d.\"due_at\" FROM \"webhook_deliveries\" d WHERE ");
            turn.write_due(&mut sql, now);
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

impl Histogram {
    fn add(&self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let place = BOUNDS.iter().position(|bound| micros <= bound * 1000).unwrap_or(BOUNDS.len());
        if let Some(count) = self.counts.get(place) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.sum_micros.fetch_add(micros, Ordering::Relaxed);
    }

    fn write(&self, text: &mut String, name: &str) {
        let mut total = 0;
        for (place, count) in self.counts.iter().enumerate() {
            total += count.load(Ordering::Relaxed);
            let bound = BOUNDS.get(place).map_or("+Inf".to_string(), |bound| seconds(bound * 1000));
            let _ = writeln!(text, "{name}_bucket{{le=\"{bound}\"}} {total}");
        }
        let _ = writeln!(text, "{name}_sum {}", seconds(self.sum_micros.load(Ordering::Relaxed)));
        let _ = writeln!(text, "{name}_count {total}");
    }
}

fn about(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

/// Microseconds as seconds: `0.005`.
fn seconds(micros: u64) -> String {
    format!("{}", micros as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_counts_what_is_at_most_its_bound() {
        let histogram = Histogram::default();
        for millis in [0, 5, 6, 15_000, 15_001] {
            histogram.add(Duration::from_millis(millis));
        }
        let mut text = String::new();
        histogram.write(&mut text, "x");
        for line in [
            "x_bucket{le=\"0.005\"} 2",
            "x_bucket{le=\"0.01\"} 3",
            "x_bucket{le=\"10\"} 3",
            "x_bucket{le=\"15\"} 4",
            "x_bucket{le=\"+Inf\"} 5",
            "x_sum 30.012",
            "x_count 5",
        ] {
            assert!(text.lines().any(|l| l == line), "{line}: {text}");
        }
    }
}
