//! Rate limits in fixed windows, for each token or, without a valid one, for each address.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Response;
use charter_core::error::{Error, Result};
use charter_core::header;

const MINUTE: Duration = Duration::from_secs(60);
/// Number of keys from which expired windows are removed.
const SWEEP_MIN_KEYS: usize = 10_000;

/// A count for each key. Its window starts with the first request of the key.
#[derive(Debug)]
pub struct RateLimit<K> {
    limit: u32,
    window: Duration,
    counts: Mutex<Counts<K>>,
}

#[derive(Debug)]
struct Counts<K> {
    /// The start of the window of each key, and its requests since.
    by_key: HashMap<K, (Instant, u32)>,
    /// When expired windows were last removed: at most once a minute, because it visits all keys.
    last_sweep: Instant,
}

impl<K: Eq + Hash> RateLimit<K> {
    /// A limit of requests per minute and key; 0 is no limit.
    pub fn new(limit: u32) -> RateLimit<K> {
        RateLimit::per(limit, MINUTE)
    }

    /// A limit of requests per window and key; 0 is no limit.
    pub fn per(limit: u32, window: Duration) -> RateLimit<K> {
        RateLimit { limit, window, counts: Mutex::new(Counts { by_key: HashMap::new(), last_sweep: Instant::now() }) }
    }

    /// Counts a request, unless it exceeds the limit. `None` when there is no limit.
    pub fn count(&self, key: K) -> Option<Usage> {
        self.count_at(key, Instant::now())
    }

    /// Counts a request, and refuses it when it exceeds the limit.
    ///
    /// # Errors
    /// [`Error::RateLimited`] with the seconds to wait.
    pub fn admit(&self, key: K) -> Result<()> {
        self.count(key).map_or(Ok(()), |usage| usage.allowed())
    }

    /// Counts further requests for one that was admitted, as far as the limit allows. `None` when there is no limit.
    pub fn charge(&self, key: K, requests: u32) -> Option<Usage> {
        self.usage_at(key, Instant::now(), |count| {
            *count = count.saturating_add(requests).min(self.limit);
            false
        })
    }

    fn count_at(&self, key: K, now: Instant) -> Option<Usage> {
        self.usage_at(key, now, |count| {
            let exceeded = *count >= self.limit;
            *count += u32::from(!exceeded);
            exceeded
        })
    }

    /// Changes the count of a key. `change` returns true if the limit is exceeded.
    fn usage_at(&self, key: K, now: Instant, change: impl FnOnce(&mut u32) -> bool) -> Option<Usage> {
        if self.limit == 0 {
            return None;
        }
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.by_key.len() >= SWEEP_MIN_KEYS && now - counts.last_sweep >= self.window.min(MINUTE) {
            counts.last_sweep = now;
            counts.by_key.retain(|_, (start, _)| now - *start < self.window);
        }
        let (start, count) = counts.by_key.entry(key).or_insert((now, 0));
        if now - *start >= self.window {
            (*start, *count) = (now, 0);
        }
        let exceeded = change(count);
        // Rounded up, so that the window is over after these seconds.
        let left = self.window.saturating_sub(now - *start);
        let reset = left.as_secs() + u64::from(left.subsec_nanos() > 0);
        Some(Usage { limit: self.limit, remaining: self.limit - *count, reset, exceeded })
    }
}

/// The state of a limit after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    limit: u32,
    remaining: u32,
    /// Seconds until the window ends.
    reset: u64,
    exceeded: bool,
}

impl Usage {
    /// # Errors
    /// [`Error::RateLimited`] with the seconds to wait.
    pub fn allowed(&self) -> Result<()> {
        if self.exceeded { Err(Error::RateLimited(self.reset)) } else { Ok(()) }
    }

    /// Adds the `RateLimit-*` headers.
    pub fn add_headers(&self, response: Response) -> Response {
        response
            .with(header::RATE_LIMIT, self.limit.into())
            .with(header::RATE_LIMIT_REMAINING, self.remaining.into())
            .with(header::RATE_LIMIT_RESET, self.reset.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed<K: Eq + Hash>(limit: &RateLimit<K>, key: K, now: Instant) -> Result<()> {
        limit.count_at(key, now).map_or(Ok(()), |usage| usage.allowed())
    }

    #[test]
    fn request_over_the_limit_is_refused_until_the_minute_is_over() {
        let limit = RateLimit::new(2);
        let start = Instant::now();
        assert!(allowed(&limit, "a", start).is_ok() && allowed(&limit, "a", start).is_ok());
        let later = start + Duration::from_secs(20);
        assert!(matches!(allowed(&limit, "a", later), Err(Error::RateLimited(40))));
        assert!(allowed(&limit, "b", start).is_ok());
        assert!(allowed(&limit, "a", start + MINUTE).is_ok());
    }

    #[test]
    fn usage_reports_remaining_requests_and_seconds() {
        let limit = RateLimit::new(2);
        let start = Instant::now();
        let parts = |usage: Option<Usage>| usage.map(|u| (u.limit, u.remaining, u.reset, u.exceeded));
        assert_eq!(parts(limit.count_at("a", start)), Some((2, 1, 60, false)));
        assert_eq!(parts(limit.count_at("a", start)), Some((2, 0, 60, false)));
        assert_eq!(parts(limit.count_at("a", start + Duration::from_secs(59))), Some((2, 0, 1, true)));
    }

    #[test]
    fn charged_requests_use_up_the_window_and_are_not_refused() {
        let limit = RateLimit::new(10);
        limit.count("a");
        assert!(limit.charge("a", 4).is_some_and(|usage| usage.remaining == 5 && usage.allowed().is_ok()));
        assert!(limit.charge("a", 100).is_some_and(|usage| usage.remaining == 0 && usage.allowed().is_ok()));
        assert!(limit.admit("a").is_err() && limit.admit("b").is_ok());
    }

    #[test]
    fn keys_are_forgotten_within_a_minute_after_their_window() {
        let (day, limit) = (24 * 60 * MINUTE, RateLimit::per(1, 24 * 60 * MINUTE));
        let start = Instant::now();
        let late = start + day - MINUTE;
        (0..SWEEP_MIN_KEYS).for_each(|key| assert!(allowed(&limit, key, late).is_ok()));
        let known = || limit.counts.lock().expect("no thread panicked").by_key.len();
        // The keys of the other windows are visited once, and stay.
        assert!(allowed(&limit, SWEEP_MIN_KEYS, start + day).is_ok());
        assert!(allowed(&limit, 0, start + day).is_err());
        assert_eq!(known(), SWEEP_MIN_KEYS + 1);
        assert!(allowed(&limit, 0, late + day).is_ok());
        assert_eq!(known(), 2, "the one whose window is not over, and the new one");
    }

    #[test]
    fn zero_is_no_limit() {
        let limit = RateLimit::new(0);
        assert!((0..10_000).all(|_| limit.count("a").is_none()));
    }
}
