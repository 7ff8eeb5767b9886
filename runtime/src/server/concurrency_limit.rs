//! Admission control: a limit of the requests in flight, a bounded queue, and load shedding beyond it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use charter_core::error::{Error, Result};
use charter_core::metrics::{Admission, Refused};

/// Longest time that a request waits for its permit.
const QUEUE_WAIT: Duration = Duration::from_millis(500);
/// Length of the queue for each request that may be in flight.
const QUEUED_PER_PERMIT: usize = 16;
/// The queue also takes as many requests as got a permit within this time: they will not wait longer. Refusing a cheap request
/// costs as much as answering it, and a queued request uses no connection.
const THROUGHPUT_WINDOW: Duration = Duration::from_millis(250);
/// Upper bound of that extension, because each queued request holds the bytes that were received of it.
const MAX_EXTENDED_QUEUE: usize = 4_096;

/// Limits the requests in flight. Writes can wait for each other in the database while they hold their permits: they get at most
/// three quarters of all permits, and the rest is left to reads. Requests that wait for another server have permits of their own.
#[derive(Debug)]
pub struct ConcurrencyLimiter {
    all: Arc<Semaphore>,
    writes: Arc<Semaphore>,
    external_calls: Arc<Semaphore>,
    queued: AtomicUsize,
    min_queue: usize,
    throughput: Mutex<ThroughputWindow>,
    metrics: Admission,
}

/// Permits that were granted in the current window and in the one before.
#[derive(Debug)]
struct ThroughputWindow {
    start: Instant,
    granted: usize,
    granted_before: usize,
}

/// The permit of one request. Its clones share it; it is released when the last of them is dropped.
#[derive(Debug, Clone)]
pub struct Permit(Arc<PermitState>);

#[derive(Debug)]
struct PermitState {
    limiter: Arc<ConcurrencyLimiter>,
    writes: bool,
    permits: Mutex<Option<Permits>>,
}

/// A permit and, for a write, one of the permits for writes.
type Permits = (OwnedSemaphorePermit, Option<OwnedSemaphorePermit>);

impl ConcurrencyLimiter {
    /// Allows `max_in_flight` requests at once. `metrics` counts waits and refusals.
    pub fn new(max_in_flight: usize, metrics: Admission) -> ConcurrencyLimiter {
        ConcurrencyLimiter {
            all: Arc::new(Semaphore::new(max_in_flight)),
            writes: Arc::new(Semaphore::new(max_in_flight - max_in_flight / 4)),
            external_calls: Arc::new(Semaphore::new(max_in_flight.div_ceil(2))),
            queued: AtomicUsize::new(0),
            min_queue: max_in_flight.saturating_mul(QUEUED_PER_PERMIT),
            throughput: Mutex::new(ThroughputWindow { start: Instant::now(), granted: 0, granted_before: 0 }),
            metrics,
        }
    }

    async fn acquire(&self, writes: bool) -> Result<Permits> {
        let permits = async {
            // The scarcer one first, so that a request that waits for it holds nothing.
            let write = if writes { Some(self.writes.clone().acquire_owned().await) } else { None };
            let write = write.transpose().map_err(Error::internal)?;
            Ok((self.all.clone().acquire_owned().await.map_err(Error::internal)?, write))
        };
        let mut permits = std::pin::pin!(permits);
        // The semaphores are fair: while requests are queued, this does not succeed.
        let permits = match permits.as_mut().now_or_never() {
            Some(permits) => {
                self.metrics.record_wait(Duration::ZERO);
                permits
            }
            None => {
                let _queued = QueuedGuard::enter(self)?;
                let (_gauge, start) = (self.metrics.queue(), Instant::now());
                let permits = timeout(QUEUE_WAIT, permits).await.unwrap_or_else(|_| {
                    self.metrics.refuse(Refused::QueueTimeout);
                    Err(Error::Overloaded)
                });
                self.metrics.record_wait(start.elapsed());
                permits
            }
        }?;
        self.throughput().count(Instant::now());
        Ok(permits)
    }

    fn may_queue(&self, queued: usize) -> bool {
        queued < self.min_queue || queued < self.throughput().recent(Instant::now()).min(MAX_EXTENDED_QUEUE)
    }

    fn throughput(&self) -> MutexGuard<'_, ThroughputWindow> {
        self.throughput.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ThroughputWindow {
    fn count(&mut self, now: Instant) {
        self.roll(now);
        self.granted += 1;
    }

    fn recent(&mut self, now: Instant) -> usize {
        self.roll(now);
        self.granted.max(self.granted_before)
    }

    /// Starts a new window when the current one is over.
    fn roll(&mut self, now: Instant) {
        let elapsed = now.saturating_duration_since(self.start);
        if elapsed >= THROUGHPUT_WINDOW {
            self.granted_before = if elapsed < 2 * THROUGHPUT_WINDOW { self.granted } else { 0 };
            (self.start, self.granted) = (now, 0);
        }
    }
}

/// A queued request, counted until this is dropped.
struct QueuedGuard<'l>(&'l ConcurrencyLimiter);

impl<'l> QueuedGuard<'l> {
    fn enter(limiter: &'l ConcurrencyLimiter) -> Result<QueuedGuard<'l>> {
        let guard = QueuedGuard(limiter);
        match limiter.may_queue(limiter.queued.fetch_add(1, Ordering::Relaxed)) {
            true => Ok(guard),
            false => {
                limiter.metrics.refuse(Refused::QueueFull);
                Err(Error::Overloaded)
            }
        }
    }
}

impl Drop for QueuedGuard<'_> {
    fn drop(&mut self) {
        self.0.queued.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Permit {
    /// A permit that is not acquired yet.
    pub fn new(limiter: &Arc<ConcurrencyLimiter>, writes: bool) -> Permit {
        Permit(Arc::new(PermitState { limiter: limiter.clone(), writes, permits: Mutex::default() }))
    }

    /// Waits in the queue until the request may run.
    ///
    /// # Errors
    /// [`Error::Overloaded`] when the queue is full, and after `QUEUE_WAIT`.
    pub async fn acquire(&self) -> Result<()> {
        let permits = self.0.limiter.acquire(self.0.writes).await?;
        *self.permits() = Some(permits);
        Ok(())
    }

    /// Swaps the permit for one of those of external calls, of which there are half as many and which have no queue.
    ///
    /// # Errors
    /// [`Error::Overloaded`] when all of them are taken.
    pub fn release_for_external_call(&self) -> Result<()> {
        let external = self.0.limiter.external_calls.clone().try_acquire_owned().map_err(|_| {
            self.0.limiter.metrics.refuse(Refused::ExternalCallLimit);
            Error::Overloaded
        })?;
        *self.permits() = Some((external, None));
        Ok(())
    }

    /// Releases the permit, for good or until it is acquired again.
    pub fn release(&self) {
        self.permits().take();
    }

    fn permits(&self) -> MutexGuard<'_, Option<Permits>> {
        self.0.permits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn writes_leave_a_quarter_of_the_permits_to_reads() {
        for (all, for_writes) in [(1, 1), (2, 2), (4, 3), (5, 4), (8, 6), (32, 24)] {
            let limiter = Arc::new(ConcurrencyLimiter::new(all, Admission::default()));
            let writes: Vec<Permit> = (0..=all).map(|_| Permit::new(&limiter, true)).collect();
            let acquired = writes.iter().filter(|permit| permit.acquire().now_or_never().is_some()).count();
            assert_eq!(acquired, for_writes, "{all}");
            let reads = (0..all).map(|_| Permit::new(&limiter, false)).collect::<Vec<_>>();
            let acquired = reads.iter().filter(|permit| permit.acquire().now_or_never().is_some()).count();
            assert_eq!(acquired, all - for_writes, "{all}");
        }
    }

    #[test]
    fn queue_grows_with_the_permits_that_were_granted_recently() {
        let (limiter, start) = (ConcurrencyLimiter::new(1, Admission::default()), Instant::now());
        let after = |windows: f64| start + THROUGHPUT_WINDOW.mul_f64(windows);
        let mut throughput = ThroughputWindow { start, granted: 0, granted_before: 0 };
        (0..100).for_each(|_| throughput.count(after(0.5)));
        assert_eq!(throughput.recent(after(0.9)), 100, "of this window");
        (0..30).for_each(|_| throughput.count(after(1.5)));
        assert_eq!(throughput.recent(after(1.9)), 100, "or of the window before");
        assert_eq!(throughput.recent(after(2.6)), 30);
        assert_eq!(throughput.recent(after(9.0)), 0, "and of no earlier one");
        for (granted, max) in [(0, QUEUED_PER_PERMIT), (100, 100), (1_000_000, MAX_EXTENDED_QUEUE)] {
            let start = Instant::now() + Duration::from_secs(60);
            *limiter.throughput() = ThroughputWindow { start, granted, granted_before: 0 };
            assert!(limiter.may_queue(max - 1) && !limiter.may_queue(max), "{granted}");
        }
    }

    #[tokio::test]
    async fn external_calls_release_their_permits_to_other_requests() {
        let limiter = Arc::new(ConcurrencyLimiter::new(4, Admission::default()));
        let permits: Vec<Permit> = (0..3).map(|_| Permit::new(&limiter, true)).collect();
        for permit in &permits[..2] {
            permit.acquire().await.unwrap();
            permit.release_for_external_call().unwrap();
        }
        permits[2].acquire().await.unwrap();
        assert!(matches!(permits[2].release_for_external_call(), Err(Error::Overloaded)), "half as many");
        let others = (0..4).map(|_| Permit::new(&limiter, false)).collect::<Vec<_>>();
        assert_eq!(others.iter().filter(|permit| permit.acquire().now_or_never().is_some()).count(), 3);
        permits[0].release();
        permits[2].release_for_external_call().unwrap();
    }

    #[tokio::test]
    async fn requests_beyond_the_queue_are_refused_immediately() {
        let limiter = Arc::new(ConcurrencyLimiter::new(1, Admission::default()));
        let (first, second) = (Permit::new(&limiter, false), Permit::new(&limiter, false));
        first.acquire().await.unwrap();
        let queued: Vec<_> = (0..QUEUED_PER_PERMIT)
            .map(|_| {
                let permit = Permit::new(&limiter, false);
                tokio::spawn(async move { permit.acquire().await })
            })
            .collect();
        while limiter.queued.load(Ordering::Relaxed) < QUEUED_PER_PERMIT {
            tokio::task::yield_now().await;
        }
        assert!(matches!(second.acquire().now_or_never(), Some(Err(Error::Overloaded))));
        assert_eq!(limiter.metrics.refused(Refused::QueueFull), 1);
        // The queued requests get the permit one after the other.
        first.release();
        for permit in queued {
            permit.await.unwrap().unwrap();
        }
        second.acquire().await.unwrap();
        // After the longest wait a request is refused and no longer counted as queued.
        let start = Instant::now();
        assert!(matches!(first.acquire().await, Err(Error::Overloaded)));
        assert!(start.elapsed() >= QUEUE_WAIT);
        assert_eq!(limiter.metrics.refused(Refused::QueueTimeout), 1);
        drop(second);
        assert_eq!(limiter.queued.load(Ordering::Relaxed), 0);
        first.acquire().await.unwrap();
    }
}
