//! Caches in memory: hits, misses and bytes, by the name of the cache.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

/// The caches of a server. A name is a word of the program, such as `lists`.
#[derive(Debug, Clone, Default)]
pub struct Cache {
    hits: Family<Name, Counter>,
    misses: Family<Name, Counter>,
    bytes: Family<Name, Gauge>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Name {
    cache: &'static str,
}

impl Cache {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register("charter_cache_hits", "Look-ups that a cache answered", self.hits.clone());
        registry.register("charter_cache_misses", "Look-ups that a cache did not answer", self.misses.clone());
        registry.register_with_unit("charter_cache_size", "Bytes that a cache holds", Unit::Bytes, self.bytes.clone());
    }

    /// Counts a look-up that the cache answered.
    pub fn hit(&self, cache: &'static str) {
        self.hits.get_or_create(&Name { cache }).inc();
    }

    /// Counts a look-up that the cache did not answer.
    pub fn miss(&self, cache: &'static str) {
        self.misses.get_or_create(&Name { cache }).inc();
    }

    /// Says how many bytes the cache holds now.
    pub fn bytes(&self, cache: &'static str, bytes: u64) {
        self.bytes.get_or_create(&Name { cache }).set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }
}
