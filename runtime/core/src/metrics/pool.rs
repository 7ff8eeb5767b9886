//! State of a connection pool: used and idle connections, and waiting callers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of callers that wait for or use a connection of a pool.
#[derive(Debug, Clone, Default)]
pub(super) struct Demand(Arc<AtomicUsize>);

/// A caller that waits for or uses a connection, until this is dropped.
#[derive(Debug)]
pub struct DemandGuard(Demand);

/// A snapshot of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolState {
    pub name: &'static str,
    pub max: u32,
    pub open: u32,
    pub idle: usize,
    /// Callers that wait for or use a connection.
    pub demand: usize,
}

impl Demand {
    pub(super) fn begin(&self) -> DemandGuard {
        self.0.fetch_add(1, Ordering::Relaxed);
        DemandGuard(self.clone())
    }

    pub(super) fn now(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for DemandGuard {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl PoolState {
    pub fn used(&self) -> usize {
        (self.open as usize).saturating_sub(self.idle)
    }

    /// Waiting callers, which the pool does not report: all callers without those that have a connection. The two numbers are not read
    /// at the same time, so that the result is approximate.
    pub fn waiting(&self) -> usize {
        self.demand.saturating_sub(self.used())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_without_a_connection_are_waiting() {
        let demand = Demand::default();
        let guards: Vec<DemandGuard> = (0..5).map(|_| demand.begin()).collect();
        let state = PoolState { name: "main", max: 4, open: 4, idle: 1, demand: demand.now() };
        assert_eq!((state.used(), state.waiting()), (3, 2));
        drop(guards);
        assert_eq!(demand.now(), 0);
    }
}
