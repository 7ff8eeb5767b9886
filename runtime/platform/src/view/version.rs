//! Version of the saved views, by which caches detect changes made by this process.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counter that grows with every committed change.
#[derive(Debug, Default)]
pub struct ViewVersion(AtomicU64);

impl ViewVersion {
    pub fn increment(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// The current version. Changes by other processes do not increase it.
    pub fn current(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}
