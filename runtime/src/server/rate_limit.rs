//! Requests a minute, counted for each token and, without a valid one, for each address.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

const WINDOW: Duration = Duration::from_secs(60);
/// More keys than this are swept when their minute is over.
const MANY: usize = 10_000;

/// A count for each key, begun anew every minute from the key's first request.
#[derive(Debug)]
pub struct RateLimit<K> {
    limit: u32,
    counts: Mutex<Counts<K>>,
}

#[derive(Debug)]
struct Counts<K> {
    /// When a key's minute began, and its requests since.
    of: HashMap<K, (Instant, u32)>,
    /// When those of the past were removed: at most once a minute, because it looks at all of them.
    swept: Instant,
}

impl<K: Eq + Hash> RateLimit<K> {
    /// At most `limit` requests a minute for one key; 0 is no limit.
    pub fn new(limit: u32) -> RateLimit<K> {
        RateLimit { limit, counts: Mutex::new(Counts { of: HashMap::new(), swept: Instant::now() }) }
    }

    /// Counts a request.
    ///
    /// # Errors
    /// [`Error::RateLimited`] with the seconds until the minute is over.
    pub fn count(&self, key: K) -> Result<()> {
        self.count_at(key, Instant::now())
    }

    fn count_at(&self, key: K, now: Instant) -> Result<()> {
        if self.limit == 0 {
            return Ok(());
        }
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.of.len() >= MANY && now - counts.swept >= WINDOW {
            counts.swept = now;
            counts.of.retain(|_, (begun, _)| now - *begun < WINDOW);
        }
        let (begun, count) = counts.of.entry(key).or_insert((now, 0));
        if now - *begun >= WINDOW {
            (*begun, *count) = (now, 0);
        }
        if *count >= self.limit {
            let left = WINDOW.saturating_sub(now - *begun);
            return Err(Error::RateLimited(left.as_secs() + 1));
        }
        *count += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_over_the_limit_is_refused_until_the_minute_is_over() {
        let limit = RateLimit::new(2);
        let begun = Instant::now();
        assert!(limit.count_at("a", begun).is_ok() && limit.count_at("a", begun).is_ok());
        assert!(matches!(limit.count_at("a", begun + Duration::from_secs(20)), Err(Error::RateLimited(41))));
        assert!(limit.count_at("b", begun).is_ok());
        assert!(limit.count_at("a", begun + WINDOW).is_ok());
    }

    #[test]
    fn zero_is_no_limit() {
        let limit = RateLimit::new(0);
        assert!((0..10_000).all(|_| limit.count("a").is_ok()));
    }
}
