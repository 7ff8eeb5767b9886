//! Values that are made from constants of the metadata, such as a compiled pattern.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

/// Values by key. Each is made once and stays for the lifetime of the process, so that the keys must be few and known when
/// the process starts.
pub struct Memo<K: 'static, V: 'static>(RwLock<BTreeMap<K, &'static V>>);

impl<K: Ord, V> Memo<K, V> {
    pub const fn new() -> Memo<K, V> {
        Memo(RwLock::new(BTreeMap::new()))
    }

    /// The value of a key, made if it is not there.
    ///
    /// # Errors
    /// That of `make`, whose result is not kept then.
    pub fn get<E>(&self, key: K, make: impl FnOnce() -> Result<V, E>) -> Result<&'static V, E> {
        if let Some(value) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(value);
        }
        let value = make()?;
        let mut values = self.0.write().unwrap_or_else(PoisonError::into_inner);
        Ok(values.entry(key).or_insert_with(|| Box::leak(Box::new(value))))
    }
}

impl<K: Ord, V> Default for Memo<K, V> {
    fn default() -> Memo<K, V> {
        Memo::new()
    }
}
