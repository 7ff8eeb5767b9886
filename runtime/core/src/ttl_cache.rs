//! Bounded in-memory cache whose entries expire individually.

use std::borrow::Borrow;
use std::fmt;
use std::hash::Hash;
use std::time::Instant;

use quick_cache::sync::Cache;

/// Capacity. Beyond it, S3-FIFO evicts the least used entries.
const MAX_ENTRIES: usize = 10_000;

/// Cache with an expiry per entry. `get` clones the value, which should be cheap.
pub struct TtlCache<K, V>(Cache<K, (V, Instant)>);

impl<K: Eq + Hash, V: Clone> Default for TtlCache<K, V> {
    fn default() -> Self {
        TtlCache(Cache::new(MAX_ENTRIES))
    }
}

impl<K, V> fmt::Debug for TtlCache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TtlCache").finish_non_exhaustive()
    }
}

impl<K: Eq + Hash + Clone, V: Clone> TtlCache<K, V> {
    /// The value, unless it has expired.
    pub fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q, now: Instant) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.0.get(key).filter(|(_, deadline)| *deadline > now).map(|(value, _)| value)
    }

    pub fn insert(&self, key: K, value: V, deadline: Instant) {
        self.0.insert(key, (value, deadline));
    }

    pub fn remove<Q: Eq + Hash + ?Sized>(&self, key: &Q)
    where
        K: Borrow<Q>,
    {
        self.0.remove(key);
    }

    pub fn clear(&self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn value_expires_at_its_deadline() {
        let (now, cache) = (Instant::now(), TtlCache::default());
        cache.insert("a", 1, now + Duration::from_secs(1));
        assert_eq!((cache.get("a", now), cache.get("b", now)), (Some(1), None));
        assert_eq!(cache.get("a", now + Duration::from_secs(1)), None);
        cache.remove("a");
        assert_eq!(cache.get("a", now), None);
        cache.insert("a", 1, now + Duration::from_secs(1));
        cache.clear();
        assert_eq!(cache.get("a", now), None);
    }

    #[test]
    fn number_of_entries_is_bounded() {
        let (now, cache) = (Instant::now(), TtlCache::default());
        for number in 0..3 * MAX_ENTRIES {
            cache.insert(number, (), now + Duration::from_secs(1));
        }
        assert!(cache.0.len() <= MAX_ENTRIES + MAX_ENTRIES / 8, "{}", cache.0.len());
        assert_eq!(cache.get(&(3 * MAX_ENTRIES - 1), now), Some(()), "the newest entry is cached");
    }
}
