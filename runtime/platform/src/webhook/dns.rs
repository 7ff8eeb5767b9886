//! DNS resolver that returns only addresses that the URL policy permits, which rules out DNS rebinding.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::url_policy::UrlPolicy;

/// Resolves a host name to its addresses.
pub type Lookup = Arc<dyn Fn(String) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>> + Send + Sync>;

/// How long a lookup is cached.
const CACHE_TTL: Duration = Duration::from_secs(30);
/// Maximum number of cached names.
const MAX_CACHED_NAMES: usize = 4096;

/// Reason why a name has no usable address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResolveError {
    /// The lookup failed or found no address.
    NotFound,
    /// The lookup timed out.
    Timeout,
    /// One of the addresses is not permitted. A name that also has public addresses is rejected as a whole, because the
    /// client may connect to any of them.
    Forbidden,
}

/// Resolver with a cache, which coalesces concurrent lookups of one name.
#[derive(Clone)]
pub struct Resolver(Arc<Shared>);

struct Shared {
    policy: UrlPolicy,
    lookup: Lookup,
    timeout: Duration,
    cache: Mutex<HashMap<String, CachedLookup>>,
}

/// Cached lookup of one name. The task that holds the lock resolves the name while others wait for its result.
type CachedLookup = Arc<tokio::sync::Mutex<Option<(Instant, Vec<IpAddr>)>>>;

impl Resolver {
    pub fn new(policy: UrlPolicy, lookup: Lookup, timeout: Duration) -> Resolver {
        Resolver(Arc::new(Shared { policy, lookup, timeout, cache: Mutex::default() }))
    }

    /// The addresses of a name, at least one and all of them permitted.
    ///
    /// # Errors
    /// If there is no address, or one that is not permitted.
    pub async fn resolve_allowed(&self, name: &str) -> Result<Vec<IpAddr>, ResolveError> {
        if let Some(own) = self.0.policy.permitted_local_addresses(name) {
            return if own.is_empty() { Err(ResolveError::Forbidden) } else { Ok(own) };
        }
        let looked_up = tokio::time::timeout(self.0.timeout, self.lookup_cached(name)).await;
        let addresses = looked_up.map_err(|_| ResolveError::Timeout)??;
        match addresses.iter().all(|address| self.0.policy.permits(*address)) {
            true => Ok(addresses),
            false => Err(ResolveError::Forbidden),
        }
    }

    async fn lookup_cached(&self, name: &str) -> Result<Vec<IpAddr>, ResolveError> {
        let entry = self.entry(name);
        let mut entry = entry.lock().await;
        if let Some((at, addresses)) = &*entry
            && at.elapsed() < CACHE_TTL
        {
            return Ok(addresses.clone());
        }
        let addresses = (self.0.lookup)(name.to_string()).await.map_err(|_| ResolveError::NotFound)?;
        if addresses.is_empty() {
            return Err(ResolveError::NotFound);
        }
        *entry = Some((Instant::now(), addresses.clone()));
        Ok(addresses)
    }

    fn entry(&self, name: &str) -> CachedLookup {
        let mut all = self.0.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_CACHED_NAMES && !all.contains_key(name) {
            // Lookups in progress stay: removing them would start a second lookup of the same name.
            all.retain(|_, entry| Arc::strong_count(entry) > 1);
        }
        all.entry(name.to_string()).or_default().clone()
    }
}

/// Lookup by the operating system: its `hosts` file and its name servers.
pub fn system_lookup() -> Lookup {
    Arc::new(|name| {
        Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect()) })
    })
}

impl reqwest::dns::Resolve for Resolver {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let resolver = self.clone();
        Box::pin(async move {
            match resolver.resolve_allowed(name.as_str()).await {
                // The HTTP client replaces port 0 by the port of the URL.
                Ok(addresses) => {
                    let addresses = addresses.into_iter().map(|address| SocketAddr::new(address, 0));
                    Ok(Box::new(addresses.collect::<Vec<_>>().into_iter()) as reqwest::dns::Addrs)
                }
                Err(problem) => Err(format!("{problem:?}").into()),
            }
        })
    }
}

impl std::fmt::Debug for Resolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resolver").field("policy", &self.0.policy).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Lookup that counts its calls and returns after 20 ms.
    fn counting(calls: &Arc<AtomicUsize>, addresses: &[&str]) -> Lookup {
        let (calls, addresses) = (calls.clone(), addresses.iter().map(|a| a.parse().unwrap()).collect::<Vec<IpAddr>>());
        Arc::new(move |_| {
            calls.fetch_add(1, Ordering::SeqCst);
            let addresses = addresses.clone();
            Box::pin(async move {
                tokio::time::sleep(Duration::from_millis(20)).await;
                Ok(addresses)
            })
        })
    }

    #[tokio::test]
    async fn concurrent_lookups_of_a_name_are_coalesced() {
        let calls = Arc::default();
        let resolver = Resolver::new(UrlPolicy::default(), counting(&calls, &["8.8.8.8"]), Duration::from_secs(1));
        let asked: Vec<_> = (0..20)
            .map(|_| resolver.clone())
            .map(|n| tokio::spawn(async move { n.resolve_allowed("a.example").await }))
            .collect();
        for answer in asked {
            assert_eq!(answer.await.unwrap(), Ok(vec!["8.8.8.8".parse().unwrap()]));
        }
        resolver.resolve_allowed("b.example").await.unwrap();
        assert_eq!(calls.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn name_with_one_forbidden_address_is_rejected() {
        for (addresses, expected) in [
            (&["8.8.8.8", "10.0.0.1"][..], ResolveError::Forbidden),
            (&["::1"], ResolveError::Forbidden),
            (&[], ResolveError::NotFound),
        ] {
            let resolver =
                Resolver::new(UrlPolicy::default(), counting(&Arc::default(), addresses), Duration::from_secs(1));
            assert_eq!(resolver.resolve_allowed("a.example").await, Err(expected));
        }
    }

    #[tokio::test]
    async fn slow_lookup_times_out_and_is_not_cached() {
        let calls: Arc<AtomicUsize> = Arc::default();
        let counted = calls.clone();
        let endless: Lookup = Arc::new(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            Box::pin(std::future::pending())
        });
        let resolver = Resolver::new(UrlPolicy::default(), endless, Duration::from_millis(5));
        assert_eq!(resolver.resolve_allowed("a.example").await, Err(ResolveError::Timeout));
        assert_eq!(resolver.resolve_allowed("a.example").await, Err(ResolveError::Timeout));
        assert_eq!(calls.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn cache_of_names_is_bounded() {
        let resolver = Resolver::new(
            UrlPolicy::default(),
            Arc::new(|_| Box::pin(async { Ok(vec!["8.8.8.8".parse().unwrap()]) })),
            Duration::from_secs(1),
        );
        for number in 0..MAX_CACHED_NAMES + 10 {
            resolver.resolve_allowed(&format!("{number}.example")).await.unwrap();
        }
        assert!(resolver.0.cache.lock().unwrap().len() <= MAX_CACHED_NAMES);
    }
}
