//! Admission control: limits of the requests in flight, of all clients and of each, a bounded queue, and load shedding beyond it.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::time::timeout;

use charter_core::client::Caller;
use charter_core::error::{Error, Result};
use charter_core::fair_queue::{self, FairQueue, Limits, QueueLength};
use charter_core::metrics::{Admission, Refused};

/// Longest time that a request waits for its permit.
const QUEUE_WAIT: Duration = Duration::from_millis(500);
/// The same while the client's own requests alone keep it waiting: it delays nobody.
const OWN_QUEUE_WAIT: Duration = Duration::from_secs(5);
/// Length of the queue for each request that may be in flight.
const QUEUED_PER_PERMIT: usize = 16;
/// The queue also takes as many requests as got a permit within this time: they will not wait longer. Refusing a cheap request
/// costs as much as answering it, and a queued request uses no connection.
const THROUGHPUT_WINDOW: Duration = Duration::from_millis(250);
/// Upper bound of that extension, because each queued request holds the bytes that were received of it.
const MAX_EXTENDED_QUEUE: usize = 4_096;
/// A client with fewer requests in the queue is not refused because others have filled it.
const QUEUED_PER_CLIENT: usize = 16;

/// Limits the requests in flight. Writes can wait for each other in the database while they hold their permits: they get at most
/// three quarters of all permits, and the rest is left to reads. An eighth is reserved for reads of one record. Requests that wait
/// for another server have permits of their own.
#[derive(Debug)]
pub struct ConcurrencyLimiter {
    requests: FairQueue,
    external_calls: FairQueue,
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
    caller: Caller,
    permit: Mutex<Option<fair_queue::Permit>>,
}

impl ConcurrencyLimiter {
    /// Allows `max_in_flight` requests at once, `per_client` of one client. `metrics` counts waits and refusals.
    pub fn new(max_in_flight: usize, per_client: usize, metrics: Admission) -> ConcurrencyLimiter {
        let (all, external) = (max_in_flight, max_in_flight.div_ceil(2));
        let external_per_client = per_client.div_ceil(2);
        let external_limits = Limits {
            all: external,
            ordinary: external,
            writes: external,
            per_client: external_per_client,
            writes_per_client: external_per_client,
        };
        let limits = Limits {
            all,
            ordinary: all - all / 8,
            writes: all - all / 4,
            per_client,
            writes_per_client: per_client - per_client / 4,
        };
        ConcurrencyLimiter {
            requests: FairQueue::new(limits),
            external_calls: FairQueue::new(external_limits),
            min_queue: max_in_flight.saturating_mul(QUEUED_PER_PERMIT),
            throughput: Mutex::new(ThroughputWindow { start: Instant::now(), granted: 0, granted_before: 0 }),
            metrics,
        }
    }

    async fn acquire(&self, caller: Caller) -> Result<fair_queue::Permit> {
        let permit = match self.requests.try_acquire(caller) {
            Some(permit) => {
                self.metrics.record_wait(Duration::ZERO);
                Ok(permit)
            }
            None => {
                let (mut gauge, start) = (None, Instant::now());
                let permit = {
                    let mut permit = pin!(self.requests.acquire(caller, |length| {
                        let may_queue = self.may_queue(length);
                        gauge = may_queue.then(|| self.metrics.queue());
                        may_queue
                    }));
                    match timeout(QUEUE_WAIT, &mut permit).await {
                        Err(_) if self.requests.is_share_used(caller) => {
                            timeout(OWN_QUEUE_WAIT - QUEUE_WAIT, permit).await
                        }
                        permit => permit,
                    }
                };
                if gauge.take().is_some() {
                    self.metrics.record_wait(start.elapsed());
                }
                let refused = match permit {
                    Ok(Some(permit)) => Ok(permit),
                    Ok(None) => Err(Refused::QueueFull),
                    Err(_) => Err(Refused::QueueTimeout),
                };
                refused.map_err(|reason| {
                    self.metrics.refuse(reason);
                    Error::Overloaded
                })
            }
        }?;
        self.throughput().count(Instant::now());
        Ok(permit)
    }

    fn may_queue(&self, length: QueueLength) -> bool {
        length.all < self.min_queue
            || length.all < self.throughput().recent(Instant::now()).min(MAX_EXTENDED_QUEUE)
            || (length.all < MAX_EXTENDED_QUEUE && length.own < QUEUED_PER_CLIENT)
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

impl Permit {
    /// A permit that is not acquired yet.
    pub fn new(limiter: &Arc<ConcurrencyLimiter>, caller: Caller) -> Permit {
        Permit(Arc::new(PermitState { limiter: limiter.clone(), caller, permit: Mutex::default() }))
    }

    /// Waits in the queue until the request may run.
    ///
    /// # Errors
    /// [`Error::Overloaded`] when the queue is full, and after `QUEUE_WAIT` or `OWN_QUEUE_WAIT`.
    pub async fn acquire(&self) -> Result<()> {
        let permit = self.0.limiter.acquire(self.0.caller).await?;
        *self.permit() = Some(permit);
        Ok(())
    }

    /// Swaps the permit for one of those of external calls, of which there are half as many and which have no queue.
    ///
    /// # Errors
    /// [`Error::Overloaded`] when all of them are taken.
    pub fn release_for_external_call(&self) -> Result<()> {
        let external = self.0.limiter.external_calls.try_acquire(self.0.caller).ok_or_else(|| {
            self.0.limiter.metrics.refuse(Refused::ExternalCallLimit);
            Error::Overloaded
        })?;
        *self.permit() = Some(external);
        Ok(())
    }

    /// Releases the permit, for good or until it is acquired again.
    pub fn release(&self) {
        self.permit().take();
    }

    fn permit(&self) -> MutexGuard<'_, Option<fair_queue::Permit>> {
        self.0.permit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use charter_core::client::{Client, Lane};
    use futures_util::FutureExt;

    use super::*;

    fn limiter(max_in_flight: usize) -> Arc<ConcurrencyLimiter> {
        Arc::new(ConcurrencyLimiter::new(max_in_flight, max_in_flight, Admission::default()))
    }

    fn queued_in(limiter: &ConcurrencyLimiter) -> usize {
        limiter.requests.length(Client::Server).all
    }

    fn permits(limiter: &Arc<ConcurrencyLimiter>, client: i64, lane: Lane, count: usize) -> Vec<Permit> {
        (0..count).map(|_| Permit::new(limiter, Caller { client: Client::User(client), lane })).collect()
    }

    fn acquired(permits: &[Permit]) -> usize {
        permits.iter().filter(|permit| permit.acquire().now_or_never().is_some_and(|acquired| acquired.is_ok())).count()
    }

    #[tokio::test]
    async fn writes_leave_permits_to_reads_and_both_leave_some_to_reads_of_a_record() {
        for (all, for_writes, ordinary) in [(1, 1, 1), (2, 2, 2), (4, 3, 4), (5, 4, 5), (8, 6, 7), (32, 24, 28)] {
            let limiter = limiter(all);
            let [writes, reads, records] =
                [Lane::Write, Lane::Read, Lane::Record].map(|lane| permits(&limiter, 1, lane, all + 1));
            assert_eq!(acquired(&writes), for_writes, "{all}");
            assert_eq!(acquired(&reads), ordinary - for_writes, "{all}");
            assert_eq!(acquired(&records), all - ordinary, "{all}");
        }
    }

    #[tokio::test]
    async fn client_with_a_full_share_and_queue_delays_nobody() {
        let limiter = Arc::new(ConcurrencyLimiter::new(4, 2, Admission::default()));
        let own = permits(&limiter, 1, Lane::Read, 3);
        assert_eq!(acquired(&own), 2);
        let queued: Vec<_> = permits(&limiter, 1, Lane::Read, 4 * QUEUED_PER_PERMIT)
            .into_iter()
            .map(|permit| tokio::spawn(async move { permit.acquire().await }))
            .collect();
        while queued_in(&limiter) < queued.len() {
            tokio::task::yield_now().await;
        }
        assert!(matches!(own[2].acquire().now_or_never(), Some(Err(Error::Overloaded))), "the queue is full");
        let others = permits(&limiter, 2, Lane::Read, 3);
        assert_eq!(acquired(&others), 2, "they do not wait");
        let waits = tokio::spawn({
            let permit = others[2].clone();
            async move { permit.acquire().await }
        });
        while queued_in(&limiter) == queued.len() {
            tokio::task::yield_now().await;
        }
        others[0].release();
        waits.await.unwrap().unwrap();
    }

    #[test]
    fn queue_grows_with_the_permits_that_were_granted_recently() {
        let (limiter, start) = (limiter(1), Instant::now());
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
            let may_queue = |all, own| limiter.may_queue(QueueLength { all, own });
            assert!(may_queue(max - 1, max) && !may_queue(max, QUEUED_PER_CLIENT), "{granted}");
            assert!(may_queue(MAX_EXTENDED_QUEUE - 1, QUEUED_PER_CLIENT - 1) && !may_queue(MAX_EXTENDED_QUEUE, 0));
        }
    }

    #[tokio::test]
    async fn external_calls_release_their_permits_to_other_requests() {
        let limiter = limiter(4);
        let permits = permits(&limiter, 1, Lane::Write, 3);
        for permit in &permits[..2] {
            permit.acquire().await.unwrap();
            permit.release_for_external_call().unwrap();
        }
        permits[2].acquire().await.unwrap();
        assert!(matches!(permits[2].release_for_external_call(), Err(Error::Overloaded)), "half as many");
        let others = super::tests::permits(&limiter, 1, Lane::Read, 4);
        assert_eq!(acquired(&others), 3);
        permits[0].release();
        permits[2].release_for_external_call().unwrap();
    }

    #[tokio::test]
    async fn requests_beyond_the_queue_are_refused_immediately() {
        let limiter = limiter(1);
        let [first, second] = [(); 2].map(|()| permits(&limiter, 1, Lane::Read, 1).remove(0));
        first.acquire().await.unwrap();
        let queued: Vec<_> = permits(&limiter, 1, Lane::Read, QUEUED_PER_PERMIT)
            .into_iter()
            .map(|permit| tokio::spawn(async move { permit.acquire().await }))
            .collect();
        while queued_in(&limiter) < QUEUED_PER_PERMIT {
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
        assert_eq!(queued_in(&limiter), 0);
        first.acquire().await.unwrap();
    }
}
