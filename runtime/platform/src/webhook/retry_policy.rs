//! Retry policy: exponential backoff of failed deliveries, and the failure streak that disables a webhook.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::transport::Outcome;

/// Attempts after the first.
pub(super) const MAX_RETRIES: i32 = 6;
/// Delay before the first retry; each further delay is four times as long.
const FIRST_DELAY: Duration = Duration::from_secs(30);
/// Maximum jitter as a fraction of the delay, which spreads retries that failed together.
const MAX_JITTER: f64 = 0.1;

/// A failure streak ends after this time without another failure.
const STREAK_RESET: TimeDelta = TimeDelta::hours(24);
/// A failure streak of this length disables the webhook.
const DISABLE_AFTER: TimeDelta = TimeDelta::hours(72);

/// The delay before retry `retry`, counted from 1: 30 s, 2 min, 8 min, 32 min, 2 h 8 min, 8 h 32 min.
pub(super) fn base_delay(retry: i32) -> Duration {
    FIRST_DELAY * 4_u32.pow(retry.clamp(1, MAX_RETRIES).unsigned_abs() - 1)
}

/// The delay before retry `retry`: at least the base delay. With 429 or 503, `Retry-After` may extend it to twice the
/// base delay.
///
/// `fraction` is from 0 to 1 and scales the jitter.
pub(super) fn retry_delay(retry: i32, failed: &Outcome, fraction: f64) -> Duration {
    let base = base_delay(retry);
    let usual = base + base.mul_f64(MAX_JITTER * fraction.clamp(0.0, 1.0));
    match (failed.status, failed.retry_after) {
        (Some(429 | 503), Some(asked)) => usual.max(asked.min(base * 2)),
        _ => usual,
    }
}

/// Streak of failures of a webhook without a success in between.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Streak {
    /// The column `failing_since`.
    pub since: Option<DateTime<Utc>>,
    /// The column `last_failure_at`.
    pub last: Option<DateTime<Utc>>,
}

impl Streak {
    /// A success, even of a manual attempt, ends the streak.
    pub(super) fn succeed(&mut self) {
        *self = Streak::default();
    }

    /// A failure of a scheduled attempt starts or continues the streak. Returns true if the webhook must be disabled:
    /// the streak has lasted 72 hours without a gap of more than 24 hours.
    pub(super) fn fail(&mut self, now: DateTime<Utc>) -> bool {
        let forgotten = self.last.is_none_or(|last| now - last > STREAK_RESET);
        let since = self.since.filter(|_| !forgotten).unwrap_or(now);
        *self = Streak { since: Some(since), last: Some(now) };
        now - since >= DISABLE_AFTER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(status: u16, retry_after: u64) -> Outcome {
        let retry_after = Some(Duration::from_secs(retry_after));
        Outcome { status: Some(status), retry_after, ..Outcome::default() }
    }

    #[test]
    fn six_retries_take_11_h_22_min_30_s_without_jitter() {
        let delays: Vec<u64> = (1..=MAX_RETRIES).map(|retry| base_delay(retry).as_secs()).collect();
        assert_eq!(delays, [30, 120, 480, 1920, 7680, 30720]);
        assert_eq!(delays.iter().sum::<u64>(), 11 * 3600 + 22 * 60 + 30);
    }

    #[test]
    fn jitter_adds_at_most_a_tenth_of_the_delay() {
        for retry in 1..=MAX_RETRIES {
            let base = base_delay(retry);
            assert_eq!(retry_delay(retry, &Outcome::default(), 0.0), base);
            assert_eq!(retry_delay(retry, &Outcome::default(), 1.0), base + base / 10);
            assert_eq!(retry_delay(retry, &Outcome::default(), -1.0), base);
            assert_eq!(retry_delay(retry, &Outcome::default(), 9.0), base + base / 10);
        }
    }

    #[test]
    fn retry_after_extends_the_delay_to_at_most_twice_its_length() {
        // Retry 2 is due after 120 s.
        for (status, asked, expected) in [
            (429, 0, 120),
            (429, 119, 120),
            (429, 121, 121),
            (503, 239, 239),
            (503, 240, 240),
            (503, 241, 240),
            (429, u64::MAX, 240),
            (500, 200, 120),
            (200, 200, 120),
        ] {
            assert_eq!(retry_delay(2, &failed(status, asked), 0.0).as_secs(), expected, "{status}, {asked} s");
        }
        // `Retry-After` gets no jitter.
        assert_eq!(retry_delay(2, &failed(429, 240), 1.0).as_secs(), 240);
        assert_eq!(retry_delay(2, &failed(429, 121), 1.0).as_secs(), 132);
    }

    /// Minutes of attempts, negative for a success, and the minute at which the webhook is disabled.
    #[test]
    fn webhook_is_disabled_after_72_hours_of_failures() {
        const HOUR: i64 = 60;
        let day = 24 * HOUR;
        let cases: &[(&str, &[i64], Option<i64>)] = &[
            ("71 h 59 min", &[0, day, 2 * day, 3 * day - 1], None),
            ("72 h", &[0, day, 2 * day, 3 * day], Some(3 * day)),
            ("72 h 1 min", &[0, day, 2 * day, 2 * day + 1, 3 * day + 1], Some(3 * day + 1)),
            ("a gap of exactly 24 h", &[0, day, 2 * day, 3 * day], Some(3 * day)),
            ("a gap of 24 h 1 min", &[0, day, 2 * day + 1, 3 * day], None),
            ("silence of 73 h", &[0, 73 * HOUR], None),
            ("silence at the end", &[0, day, 2 * day, 3 * day + 1], None),
            ("a success between", &[0, day, 2 * day, -(2 * day + 1), 3 * day], None),
            ("a success at the beginning", &[-1, 2, day, 2 * day, 3 * day], None),
            ("a success, then 72 h", &[0, -HOUR, 2 * HOUR, 26 * HOUR, 50 * HOUR, 74 * HOUR], Some(74 * HOUR)),
            ("many failures at once", &[0, 0, 0, 1, 1], None),
        ];
        for (name, attempts, expected) in cases {
            let start = Utc::now();
            let mut streak = Streak::default();
            let mut disabled = None;
            for minute in *attempts {
                let now = start + TimeDelta::minutes(minute.abs());
                if *minute < 0 {
                    streak.succeed();
                    assert_eq!(streak, Streak::default(), "{name}");
                } else if streak.fail(now) {
                    disabled.get_or_insert(*minute);
                }
            }
            assert_eq!(disabled, *expected, "{name}");
        }
    }
}
