//! Metric of the log: lines that were dropped.

use std::sync::atomic::AtomicU64;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;

/// The metric of the log.
#[derive(Debug, Clone, Default)]
pub struct Log {
    dropped: Counter<u64, AtomicU64>,
}

impl Log {
    pub(super) fn register(&self, registry: &mut Registry) {
        let help = "Log lines that were dropped because standard error did not take them";
        registry.register("charter_log_dropped_lines", help, self.dropped.clone());
    }

    /// Sets the number of lines that were dropped since the start.
    pub fn dropped(&self, lines: u64) {
        self.dropped.inc_by(lines.saturating_sub(self.dropped.get()));
    }
}
