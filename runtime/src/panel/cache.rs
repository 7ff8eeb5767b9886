//! What every page of a list needs and what seldom changes, remembered while this process does not change it.

use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::columns::Column;
use crate::cache::TtlCache;
use crate::clock::Clock;
use crate::error::Result;

/// What other processes change is seen within this time.
const REMEMBERED: Duration = Duration::from_secs(5);

/// What is remembered for pages.
#[derive(Debug, Default)]
pub struct Remembered {
    /// The saved views that a user sees.
    pub views: Memory<OfUser, Vec<Value>>,
    /// What a list can show, custom fields included.
    pub columns: Memory<&'static str, Vec<Column>>,
}

/// A user, the roles of that user, and a list.
type OfUser = (Option<i64>, Vec<i64>, &'static str);

/// Cache of values that this process may have changed since.
#[derive(Debug)]
pub struct Memory<K, V>(TtlCache<K, Kept<V>>);

#[derive(Debug)]
struct Kept<V> {
    value: Arc<V>,
    /// How often what it was read from had changed before.
    changes: u64,
}

impl<V> Clone for Kept<V> {
    fn clone(&self) -> Self {
        Kept { value: self.value.clone(), changes: self.changes }
    }
}

impl<K: Eq + Hash, V> Default for Memory<K, V> {
    fn default() -> Self {
        Memory(TtlCache::default())
    }
}

impl<K: Eq + Hash + Clone, V> Memory<K, V> {
    /// The value, read anew unless it is known since as many `changes`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn get(
        &self,
        key: K,
        changes: u64,
        clock: &Clock,
        read: impl Future<Output = Result<V>>,
    ) -> Result<Arc<V>> {
        let known = self.0.get(&key, clock.instant()).filter(|kept| kept.changes == changes).map(|kept| kept.value);
        if let Some(value) = known {
            return Ok(value);
        }
        let value = Arc::new(read.await?);
        self.0.insert(key, Kept { value: value.clone(), changes }, clock.instant() + REMEMBERED);
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[tokio::test]
    async fn what_is_known_is_read_again_after_a_change_alone() {
        let (memory, clock) = (Memory::<&str, i32>::default(), Clock::default());
        for (key, changes, read, expected) in
            [("a", 0, 1, 1), ("a", 0, 2, 1), ("b", 0, 3, 3), ("a", 1, 4, 4), ("b", 0, 5, 3)]
        {
            assert_eq!(
                *memory.get(key, changes, &clock, async { Ok(read) }).await.expect("it is read"),
                expected,
                "{key} {read}"
            );
        }
        assert!(memory.get("c", 0, &clock, async { Err(Error::NotFound) }).await.is_err());
        assert_eq!(
            *memory.get("c", 0, &clock, async { Ok(6) }).await.expect("it is read"),
            6,
            "what failed is not known"
        );
    }
}
