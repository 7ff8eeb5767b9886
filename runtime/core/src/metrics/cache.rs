//! Metrics of in-memory caches: hits, misses and bytes.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

/// The metrics of all caches, by the name of the cache: `lists`.
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
        registry.register("charter_cache_hits", "Cache hits", self.hits.clone());
        registry.register("charter_cache_misses", "Cache misses", self.misses.clone());
        registry.register_with_unit("charter_cache_size", "Size of a cache in bytes", Unit::Bytes, self.bytes.clone());
    }

    pub fn hit(&self, cache: &'static str) {
        self.hits.get_or_create(&Name { cache }).inc();
    }

    pub fn miss(&self, cache: &'static str) {
        self.misses.get_or_create(&Name { cache }).inc();
    }

    /// Sets the size of a cache.
    pub fn bytes(&self, cache: &'static str, bytes: u64) {
        self.bytes.get_or_create(&Name { cache }).set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }
}
