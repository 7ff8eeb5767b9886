//! TTL cache of values that a change in this process invalidates at once.

use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Clock;
use crate::error::Result;
use crate::ttl_cache::TtlCache;

/// The longest time for which a change made by another process stays unseen.
const TTL: Duration = Duration::from_secs(5);

/// Cache of values that are valid for one version of their source.
#[derive(Debug)]
pub struct VersionedCache<K, V>(TtlCache<K, CachedValue<V>>);

#[derive(Debug)]
struct CachedValue<V> {
    value: Arc<V>,
    /// The version of the source when the value was read: a count of changes.
    version: u64,
}

impl<V> Clone for CachedValue<V> {
    fn clone(&self) -> Self {
        CachedValue { value: self.value.clone(), version: self.version }
    }
}

impl<K: Eq + Hash, V> Default for VersionedCache<K, V> {
    fn default() -> Self {
        VersionedCache(TtlCache::default())
    }
}

impl<K: Eq + Hash + Clone, V> VersionedCache<K, V> {
    /// The cached value of this version, or the result of `read`.
    ///
    /// # Errors
    /// Those of `read`, which are not cached.
    pub async fn get(
        &self,
        key: K,
        version: u64,
        clock: &Clock,
        read: impl Future<Output = Result<V>>,
    ) -> Result<Arc<V>> {
        let hit = self.0.get(&key, clock.instant()).filter(|cached| cached.version == version);
        if let Some(cached) = hit {
            return Ok(cached.value);
        }
        let value = Arc::new(read.await?);
        self.0.insert(key, CachedValue { value: value.clone(), version }, clock.instant() + TTL);
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[tokio::test]
    async fn a_value_is_read_again_only_for_another_version() {
        let (cache, clock) = (VersionedCache::<&str, i32>::default(), Clock::default());
        for (key, version, read, expected) in
            [("a", 0, 1, 1), ("a", 0, 2, 1), ("b", 0, 3, 3), ("a", 1, 4, 4), ("b", 0, 5, 3)]
        {
            assert_eq!(
                *cache.get(key, version, &clock, async { Ok(read) }).await.expect("a value"),
                expected,
                "{key} {read}"
            );
        }
        assert!(cache.get("c", 0, &clock, async { Err(Error::NotFound) }).await.is_err());
        assert_eq!(*cache.get("c", 0, &clock, async { Ok(6) }).await.expect("a value"), 6, "errors are not cached");
    }
}
