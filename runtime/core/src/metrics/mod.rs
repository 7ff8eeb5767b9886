//! Metrics of a server, exported at `/health/metrics` in the Prometheus text format.
//!
//! Names and labels follow OpenTelemetry's semantic conventions (`http.server.*`, `db.client.*`); others begin with `charter_`. The
//! values of labels are bounded: a route is the template of a path, never the path of a request. The registry is not global, because
//! several servers can run in one process.

mod admission;
mod cache;
mod database;
mod http;
mod log;
mod pool;
mod tasks;

use prometheus_client::encoding::prometheus_text;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

pub use admission::{Admission, Refused};
pub use cache::Cache;
pub use database::Database;
pub use http::{ActiveRequest, Http, UNMATCHED, route};
pub use log::Log;
pub use pool::{DemandGuard, PoolState};
pub use tasks::Tasks;

/// The `Content-Type` of the export.
pub use prometheus_client::encoding::prometheus_text::CONTENT_TYPE;

/// Bucket bounds of request durations, in seconds: OpenTelemetry's, and three smaller ones for cached responses.
const REQUEST_SECONDS: [f64; 16] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 10.0];

/// The metrics of a server, and their registry.
#[derive(Debug)]
pub struct Metrics {
    pub http: Http,
    pub admission: Admission,
    pub tasks: Tasks,
    pub cache: Cache,
    pub database: Database,
    pub log: Log,
    registry: Registry,
}

impl Metrics {
    /// Registers the metrics of a server. `more` registers those of other modules.
    pub fn new(database: &Database, more: impl FnOnce(&mut Registry)) -> Metrics {
        let mut registry = Registry::default();
        let (http, admission, tasks, cache, log) =
            (Http::default(), Admission::default(), Tasks::default(), Cache::default(), Log::default());
        http.register(&mut registry);
        admission.register(&mut registry);
        database.register(&mut registry);
        cache.register(&mut registry);
        tasks.register(&mut registry);
        log.register(&mut registry);
        more(&mut registry);
        Metrics { http, admission, tasks, cache, database: database.clone(), log, registry }
    }

    /// Exports all metrics, with the current state of the pools and the gauges of `more`.
    pub fn text(&self, pools: &[PoolState], more: Option<&Registry>) -> String {
        self.database.show_pools(pools);
        let mut text = String::with_capacity(32 << 10);
        for registry in [Some(&self.registry), more].into_iter().flatten() {
            // Writing to a string cannot fail.
            let _ = prometheus_text::encode(&mut text, registry);
        }
        text
    }
}

/// A histogram of request durations.
fn request_seconds() -> Histogram {
    Histogram::new(REQUEST_SECONDS)
}
