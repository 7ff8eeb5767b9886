//! How often saved views have changed by this process, for who remembers what was read of them.

use std::sync::atomic::{AtomicU64, Ordering};

/// A count that grows with every change that was committed.
#[derive(Debug, Default)]
pub struct ViewVersion(AtomicU64);

impl ViewVersion {
    pub fn bump(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// What was read while this was the same is as it was, but for what other processes do.
    pub fn current(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}
