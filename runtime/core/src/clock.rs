//! Clock of an application, which tests can advance.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};

/// The system clock, plus an offset that tests set.
#[derive(Debug, Default)]
pub struct Clock {
    offset_ms: AtomicI64,
}

impl Clock {
    /// The time in milliseconds, the precision of both databases.
    pub fn now(&self) -> DateTime<Utc> {
        (Utc::now() + TimeDelta::milliseconds(self.offset_ms.load(Ordering::Relaxed))).trunc_subsecs(3)
    }

    /// Monotonic time, for deadlines that are not stored.
    pub fn instant(&self) -> Instant {
        Instant::now() + Duration::from_millis(self.offset_ms.load(Ordering::Relaxed).unsigned_abs())
    }

    /// Advances the clock, for tests.
    pub fn advance(&self, by: Duration) {
        self.offset_ms.fetch_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX), Ordering::Relaxed);
    }
}
