//! Background jobs at regular times, as resources declare them.

use std::time::Duration;

use super::Context;
use super::route::BoxFuture;
use crate::error::Result;

/// The code of a scheduled job. It gets a context with all rights.
pub type RunScheduled = for<'a> fn(&'a Context<'a>) -> BoxFuture<'a, Result<()>>;

/// When and how a scheduled job runs.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    /// The interval in seconds.
    pub every: u64,
    /// The maximum duration of an attempt in seconds.
    pub timeout: u64,
    /// The attempts after which a run has failed.
    pub attempts: u32,
    /// It runs outside of a transaction.
    pub external: bool,
}

impl Schedule {
    /// A job that runs once in each interval; `seconds` is its length.
    pub const fn every(seconds: u64) -> Schedule {
        Schedule { every: seconds, timeout: 30, attempts: 5, external: false }
    }

    pub fn interval(&self) -> Duration {
        Duration::from_secs(self.every)
    }
}

/// A job of a resource.
#[derive(Clone, Copy)]
pub struct ScheduledJob {
    /// Unique in the application: `remind_overdue`.
    pub name: &'static str,
    pub schedule: Schedule,
    pub run: RunScheduled,
}
