//! Limits of background jobs, which the generator and the start of a server check.

use std::ops::RangeInclusive;
use std::time::Duration;

/// The interval of a scheduled job.
pub const INTERVALS: RangeInclusive<Duration> = Duration::from_secs(10)..=Duration::from_secs(366 * 24 * 60 * 60);
/// [`INTERVALS`] in words.
pub const INTERVALS_TEXT: &str = "10 seconds to 366 days";
/// The duration of one attempt.
pub const TIMEOUTS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(24 * 60 * 60);
/// [`TIMEOUTS`] in words.
pub const TIMEOUTS_TEXT: &str = "1 second to 24 hours";
/// The attempts of a run.
pub const ATTEMPTS: RangeInclusive<u32> = 1..=20;
