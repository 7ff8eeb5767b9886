//! Requests a minute, counted for each token and, without a valid one, for each address.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Answer;
use crate::error::{Error, Result};
use crate::header;

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

    /// Counts a request; one over the limit is not counted. `None` when there is no limit.
    pub fn count(&self, key: K) -> Option<Usage> {
        self.count_at(key, Instant::now())
    }

    /// Counts a request, and refuses one over the limit.
    ///
    /// # Errors
    /// [`Error::RateLimited`] with the seconds to wait.
    pub fn admit(&self, key: K) -> Result<()> {
        self.count(key).map_or(Ok(()), |usage| usage.allowed())
    }

    fn count_at(&self, key: K, now: Instant) -> Option<Usage> {
        if self.limit == 0 {
            return None;
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
        let exceeded = *count >= self.limit;
        if !exceeded {
            *count += 1;
        }
        // Whole seconds after which the minute is surely over.
        let left = WINDOW.saturating_sub(now - *begun);
        let reset = left.as_secs() + u64::from(left.subsec_nanos() > 0);
        Some(Usage { limit: self.limit, remaining: self.limit - *count, reset, exceeded })
    }
}

/// How a caller stands to a limit, once a request was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    limit: u32,
    remaining: u32,
    /// Seconds until the count begins anew.
    reset: u64,
    exceeded: bool,
}

impl Usage {
    /// # Errors
    /// [`Error::RateLimited`] with the seconds to wait.
    pub fn allowed(&self) -> Result<()> {
        if self.exceeded { Err(Error::RateLimited(self.reset)) } else { Ok(()) }
    }

    /// Adds the headers that tell a client.
    pub fn tell(&self, answer: Answer) -> Answer {
        answer
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
    fn the_request_over_the_limit_is_refused_until_the_minute_is_over() {
        let limit = RateLimit::new(2);
        let begun = Instant::now();
        assert!(allowed(&limit, "a", begun).is_ok() && allowed(&limit, "a", begun).is_ok());
        let later = begun + Duration::from_secs(20);
        assert!(matches!(allowed(&limit, "a", later), Err(Error::RateLimited(40))));
        assert!(allowed(&limit, "b", begun).is_ok());
        assert!(allowed(&limit, "a", begun + WINDOW).is_ok());
    }

    #[test]
    fn what_is_left_is_told() {
        let limit = RateLimit::new(2);
        let begun = Instant::now();
        let told = |usage: Option<Usage>| usage.map(|u| (u.limit, u.remaining, u.reset, u.exceeded));
        assert_eq!(told(limit.count_at("a", begun)), Some((2, 1, 60, false)));
        assert_eq!(told(limit.count_at("a", begun)), Some((2, 0, 60, false)));
        assert_eq!(told(limit.count_at("a", begun + Duration::from_secs(59))), Some((2, 0, 1, true)));
    }

    #[test]
    fn zero_is_no_limit() {
        let limit = RateLimit::new(0);
        assert!((0..10_000).all(|_| limit.count("a").is_none()));
    }
}
