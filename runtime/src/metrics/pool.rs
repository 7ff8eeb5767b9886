//! Connection pools: connections in use and idle, and the callers that wait for one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The callers that have a connection of a pool or wait for one.
#[derive(Debug, Clone, Default)]
pub struct Demand(Arc<AtomicUsize>);

/// A caller that has a connection or waits for one, until this is dropped.
#[derive(Debug)]
pub struct Wanted(Demand);

/// A pool as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolState {
    pub name: &'static str,
    pub most: u32,
    pub open: u32,
    pub idle: usize,
    /// Callers that have a connection or wait for one.
    pub wanted: usize,
}

impl Demand {
    pub fn begin(&self) -> Wanted {
        self.0.fetch_add(1, Ordering::Relaxed);
        Wanted(self.clone())
    }

    pub fn now(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Wanted {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl PoolState {
    pub fn used(&self) -> usize {
        (self.open as usize).saturating_sub(self.idle)
    }

    /// Callers that wait: those who want a connection, without those who have one. The pool does not say, and the numbers are
    /// not of one moment, therefore it may be wrong by those who come and go meanwhile.
    pub fn waiting(&self) -> usize {
        self.wanted.saturating_sub(self.used())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_beyond_the_connections_in_use_wait() {
        let demand = Demand::default();
        let wanted: Vec<Wanted> = (0..5).map(|_| demand.begin()).collect();
        let state = PoolState { name: "main", most: 4, open: 4, idle: 1, wanted: demand.now() };
        assert_eq!((state.used(), state.waiting()), (3, 2));
        drop(wanted);
        assert_eq!(demand.now(), 0);
    }
}
