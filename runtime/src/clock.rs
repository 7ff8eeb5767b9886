//! The clock of an application, which tests can turn.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};

/// The time of everything that is stored or compared with what is stored. It follows the system's clock.
#[derive(Debug, Default)]
pub struct Clock {
    /// How far it was turned, in milliseconds.
    offset_ms: AtomicI64,
}

impl Clock {
    /// The time to the millisecond, as both databases store it.
    pub fn now(&self) -> DateTime<Utc> {
        (Utc::now() + TimeDelta::milliseconds(self.offset_ms.load(Ordering::Relaxed))).trunc_subsecs(3)
    }

    /// The time of what is only remembered, which no change of the system's clock makes longer.
    pub fn instant(&self) -> Instant {
        Instant::now() + Duration::from_millis(self.offset_ms.load(Ordering::Relaxed).unsigned_abs())
    }

    /// Turns it offset_ms, for tests of what takes hours.
    pub fn advance(&self, by: Duration) {
        self.offset_ms.fetch_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX), Ordering::Relaxed);
    }
}
