//! Metrics of the database: statements, batches and connection pools; log of slow statements.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::pool::{Demand, DemandGuard, PoolState};

/// Bucket bounds in seconds: OpenTelemetry's, with more below 5 ms, where most statements are.
const STATEMENT_SECONDS: [f64; 14] =
    [0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0];

/// Bucket bounds of batch sizes. A batch has at most 64 requests.
const BATCH_SIZES: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

/// Bytes of a statement that are logged: a statement can have thousands of placeholders.
const MAX_LOGGED_BYTES: usize = 4_000;

/// Kind of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Select,
    Insert,
    Update,
    Delete,
    Other,
}

/// The metrics of a database and its pools. Clones share their values.
#[derive(Debug, Clone, Default)]
pub struct Database(Arc<OfPool>);

#[derive(Debug, Default)]
struct OfPool {
    shared: Arc<Shared>,
    /// The demand of one pool; see [`Database::of_pool`].
    demand: Demand,
}

#[derive(Debug)]
struct Shared {
    statements: Family<Operation, Histogram, fn() -> Histogram>,
    /// The histograms of `statements`, by [`Kind`], without a lookup.
    of_kind: [Histogram; Kind::ALL.len()],
    abandoned: Counter,
    batches: Family<BatchKind, Histogram, fn() -> Histogram>,
    connections: Family<Connections, Gauge>,
    max: Family<PoolName, Gauge>,
    waiting: Family<PoolName, Gauge>,
    /// Threshold of the slow statement log in microseconds; [`u64::MAX`] disables it.
    slow: AtomicU64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Operation {
    db_operation_name: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct BatchKind {
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Connections {
    db_client_connection_pool_name: &'static str,
    db_client_connection_state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PoolName {
    db_client_connection_pool_name: &'static str,
}

impl Default for Shared {
    fn default() -> Shared {
        let seconds: fn() -> Histogram = || Histogram::new(STATEMENT_SECONDS);
        let statements = Family::new_with_constructor(seconds);
        let of_kind = Kind::ALL.map(|kind| statements.get_or_create_owned(&kind.label()));
        Shared {
            statements,
            of_kind,
            abandoned: Counter::default(),
            batches: Family::new_with_constructor(|| Histogram::new(BATCH_SIZES)),
            connections: Family::default(),
            max: Family::default(),
            waiting: Family::default(),
            slow: AtomicU64::new(u64::MAX),
        }
    }
}

impl Database {
    pub(super) fn register(&self, registry: &mut Registry) {
        let shared = &self.0.shared;
        registry.register_with_unit(
            "db_client_operation_duration",
            "Duration of statements, without the wait for a connection",
            Unit::Seconds,
            shared.statements.clone(),
        );
        registry.register(
            "charter_statements_abandoned",
            "Statements that were still running, or waited for a connection, when their caller gave up",
            shared.abandoned.clone(),
        );
        registry.register("charter_batch_size", "Requests served by one statement", shared.batches.clone());
        registry.register(
            "db_client_connection_count",
            "Open connections of a pool, in use or idle",
            shared.connections.clone(),
        );
        registry.register("db_client_connection_max", "Maximum number of connections of a pool", shared.max.clone());
        registry.register(
            "db_client_connection_pending_requests",
            "Callers that wait for a connection of a pool",
            shared.waiting.clone(),
        );
    }

    /// The same metrics for another pool, which has a demand of its own.
    pub fn of_pool(&self) -> Database {
        Database(Arc::new(OfPool { shared: self.0.shared.clone(), demand: Demand::default() }))
    }

    /// Sets the threshold of the slow statement log; `None` disables it.
    pub fn log_slower_than(&self, slow: Option<Duration>) {
        let micros = slow.and_then(|slow| u64::try_from(slow.as_micros()).ok()).unwrap_or(u64::MAX);
        self.0.shared.slow.store(micros, Ordering::Relaxed);
    }

    /// Records a completed statement, and logs it if it was slow: its text with placeholders, never its values.
    pub fn statement(&self, sql: &str, elapsed: Duration) {
        self.observe(Kind::of(sql), sql, elapsed);
    }

    fn observe(&self, kind: Kind, sql: &str, elapsed: Duration) {
        self.0.shared.of_kind[kind as usize].observe(elapsed.as_secs_f64());
        if self.is_slow(elapsed) {
            let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
            tracing::warn!(elapsed_ms, operation = kind.name(), sql = shortened(sql), "slow statement");
        }
    }

    /// Watches a statement from its start. If the caller gives up, it is counted as abandoned, and logged if it was slow.
    pub fn time_statement(&self, sql: impl Into<String>) -> StatementTimer {
        StatementTimer { database: self.clone(), sql: sql.into(), start: Instant::now(), ended: false }
    }

    /// Counts a caller that waits for or uses a connection, until the guard is dropped.
    pub fn count_demand(&self) -> DemandGuard {
        self.0.demand.begin()
    }

    /// Callers that wait for or use a connection of this pool.
    pub fn demand(&self) -> usize {
        self.0.demand.now()
    }

    /// Records the number of requests that a statement serves.
    pub fn batch(&self, kind: &'static str, size: usize) {
        self.0.shared.batches.get_or_create(&BatchKind { kind }).observe(size as f64);
    }

    pub(super) fn show_pools(&self, pools: &[PoolState]) {
        for pool in pools {
            let name = PoolName { db_client_connection_pool_name: pool.name };
            for (db_client_connection_state, count) in [("used", pool.used()), ("idle", pool.idle)] {
                let labels = Connections { db_client_connection_pool_name: pool.name, db_client_connection_state };
                self.0.shared.connections.get_or_create(&labels).set(gauge(count));
            }
            self.0.shared.max.get_or_create(&name).set(i64::from(pool.max));
            self.0.shared.waiting.get_or_create(&name).set(gauge(pool.waiting()));
        }
    }

    fn is_slow(&self, elapsed: Duration) -> bool {
        elapsed.as_micros() >= u128::from(self.0.shared.slow.load(Ordering::Relaxed))
    }
}

/// A running statement. Dropping it without [`StatementTimer::end`] counts it as abandoned.
#[derive(Debug)]
pub struct StatementTimer {
    database: Database,
    sql: String,
    start: Instant,
    ended: bool,
}

impl StatementTimer {
    /// Marks the statement as completed.
    pub fn end(mut self) {
        self.ended = true;
    }
}

impl Drop for StatementTimer {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        self.database.0.shared.abandoned.inc();
        let elapsed = self.start.elapsed();
        if self.database.is_slow(elapsed) {
            let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
            let operation = Kind::of(&self.sql).name();
            tracing::warn!(
                elapsed_ms,
                operation,
                sql = shortened(&self.sql),
                "slow statement, abandoned by its caller"
            );
        }
    }
}

impl Kind {
    const ALL: [Kind; 5] = [Kind::Select, Kind::Insert, Kind::Update, Kind::Delete, Kind::Other];

    /// The kind of a statement. A statement with CTEs has the kind of its first part that writes.
    pub(super) fn of(sql: &str) -> Kind {
        let sql = sql.trim_start();
        let word = sql.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        match word.to_ascii_uppercase().as_str() {
            "SELECT" => Kind::Select,
            "INSERT" | "REPLACE" => Kind::Insert,
            "UPDATE" => Kind::Update,
            "DELETE" => Kind::Delete,
            "WITH" => {
                // The quote distinguishes it from `FOR NO KEY UPDATE OF` and `ON CONFLICT DO UPDATE SET`.
                let parts =
                    [("INSERT INTO ", Kind::Insert), ("UPDATE \"", Kind::Update), ("DELETE FROM ", Kind::Delete)];
                let found = parts.into_iter().filter_map(|(text, kind)| Some((sql.find(text)?, kind)));
                found.min_by_key(|(place, _)| *place).map_or(Kind::Select, |(_, kind)| kind)
            }
            _ => Kind::Other,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Select => "SELECT",
            Kind::Insert => "INSERT",
            Kind::Update => "UPDATE",
            Kind::Delete => "DELETE",
            Kind::Other => "OTHER",
        }
    }

    fn label(self) -> Operation {
        Operation { db_operation_name: self.name() }
    }
}

fn shortened(sql: &str) -> &str {
    &sql[..sql.floor_char_boundary(MAX_LOGGED_BYTES)]
}

fn gauge(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statement_with_ctes_has_the_kind_of_its_first_part_that_writes() {
        for (sql, kind) in [
            ("SELECT 1", Kind::Select),
            ("  select 1", Kind::Select),
            ("WITH r AS (SELECT 1) SELECT * FROM r FOR UPDATE", Kind::Select),
            ("WITH g AS (SELECT 1), k AS (INSERT INTO \"a\" SELECT 1) SELECT 1", Kind::Insert),
            (
                "WITH h AS (SELECT 1 FOR NO KEY UPDATE OF t), k AS (UPDATE \"a\" SET x = 1), e AS (INSERT INTO \"b\" SELECT 1) \
                 SELECT 1",
                Kind::Update,
            ),
            ("WITH d AS (DELETE FROM \"a\") SELECT 1", Kind::Delete),
            ("INSERT INTO a VALUES (1) ON CONFLICT DO UPDATE SET x = 1", Kind::Insert),
            ("DELETE FROM a", Kind::Delete),
            ("SET LOCAL statement_timeout = 0", Kind::Other),
            ("", Kind::Other),
        ] {
            assert_eq!(Kind::of(sql), kind, "{sql}");
        }
    }

    #[test]
    fn statement_is_slow_from_the_threshold_and_never_without_one() {
        let database = Database::default();
        assert!(!database.is_slow(Duration::from_secs(3_600)));
        database.log_slower_than(Some(Duration::from_millis(500)));
        assert!(!database.is_slow(Duration::from_millis(499)) && database.is_slow(Duration::from_millis(500)));
        database.log_slower_than(None);
        assert!(!database.is_slow(Duration::from_secs(3_600)));
    }

    #[test]
    fn dropped_statement_is_counted_as_abandoned() {
        let database = Database::default();
        database.time_statement("SELECT 1").end();
        drop(database.time_statement("SELECT 2"));
        assert_eq!(database.0.shared.abandoned.get(), 1);
    }

    #[test]
    fn logged_statement_is_truncated_between_characters() {
        assert_eq!(shortened("SELECT 1"), "SELECT 1");
        assert_eq!(shortened(&"é".repeat(MAX_LOGGED_BYTES)).len(), MAX_LOGGED_BYTES);
    }
}
