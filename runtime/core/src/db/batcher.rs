//! Request coalescing and batching: while a statement of a kind runs, requests of the same kind queue and share the
//! next statement.
//!
//! A request never waits for others to join: if no statement of its kind runs, it runs at once. Each request is
//! served by a statement that began after it arrived and therefore sees every write that was acknowledged before.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use sea_orm::DbErr;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tracing::Instrument;

use crate::client::Caller;
use crate::error::{Error, Result};
use crate::metrics;

/// Maximum wait for the running statement. After it, the next statement of the kind starts concurrently.
const MAX_WAIT: Duration = Duration::from_millis(5);

/// Queues of items by kind. The kind is the text of a statement, the items are its parameters.
pub(super) struct Batcher<I, O> {
    /// The items that wait for the running statement of their kind. A kind without a running statement has no queue.
    queues: Mutex<Queues<I, O>>,
    /// Label of the batches in the metrics.
    name: &'static str,
    metrics: metrics::Database,
    /// Limit on the items of one statement.
    max_items: usize,
    max_wait: Duration,
}

type Queues<I, O> = HashMap<Arc<str>, Vec<Pending<I, O>>>;

/// Returns one value per item, in their order.
type Run<I, O> = Arc<dyn Fn(Vec<I>) -> BoxFuture<'static, Result<Vec<O>, DbErr>> + Send + Sync>;

struct Pending<I, O> {
    item: I,
    caller: Caller,
    reply: oneshot::Sender<Result<O, DbErr>>,
}

impl<I, O> std::fmt::Debug for Batcher<I, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batcher").finish_non_exhaustive()
    }
}

impl<I: Copy + Send + 'static, O: Send + 'static> Batcher<I, O> {
    pub(super) fn new(name: &'static str, metrics: &metrics::Database, max_items: usize) -> Arc<Self> {
        let metrics = metrics.clone();
        Arc::new(Batcher { queues: Mutex::default(), name, metrics, max_items, max_wait: MAX_WAIT })
    }

    /// Returns the value for an item. `run` gets the items of a batch. It runs in a task of its own, which completes
    /// even if no request waits any more.
    ///
    /// # Errors
    /// The error of `run`, for every item of the batch.
    pub(super) async fn submit<R, F>(self: &Arc<Self>, kind: Arc<str>, item: I, run: R) -> Result<O>
    where
        R: Fn(Vec<I>) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Vec<O>, DbErr>> + Send + 'static,
    {
        let (reply, receiver) = oneshot::channel();
        if self.enqueue(&kind, Pending { item, caller: Caller::current(), reply }) {
            let run: Run<I, O> = Arc::new(move |items| Box::pin(run(items)));
            let leader = Leader { batcher: self.clone(), kind, has_left: false };
            // The line in the log, if the statement is slow, belongs to the request that starts it.
            tokio::spawn(leader.lead(run).in_current_span());
        }
        Ok(receiver.await.map_err(Error::internal)??)
    }

    /// Queues an item. Returns true if its kind needs a leader.
    fn enqueue(&self, kind: &Arc<str>, pending: Pending<I, O>) -> bool {
        match self.lock().entry(kind.clone()) {
            Entry::Occupied(mut queue) => {
                queue.get_mut().push(pending);
                false
            }
            Entry::Vacant(queue) => {
                queue.insert(vec![pending]);
                true
            }
        }
    }
}

impl<I, O> Batcher<I, O> {
    fn lock(&self) -> MutexGuard<'_, Queues<I, O>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs the batches of a kind until its queue is empty.
struct Leader<I, O> {
    batcher: Arc<Batcher<I, O>>,
    kind: Arc<str>,
    /// Another leader has taken over, or the queue is removed.
    has_left: bool,
}

impl<I: Copy + Send + 'static, O: Send + 'static> Leader<I, O> {
    /// Boxed, because a leader starts its successor.
    fn lead(mut self, run: Run<I, O>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            // Requests that arrive in this scheduler tick join the first batch.
            tokio::task::yield_now().await;
            while !self.has_left {
                let batch = self.next_batch();
                if batch.is_empty() {
                    break;
                }
                self.batcher.metrics.batch(self.batcher.name, batch.len());
                let caller = payer(&batch);
                let items = batch.iter().map(|pending| pending.item).collect();
                let mut work = Box::pin(caller.scope(run(items)));
                let results = match timeout(self.batcher.max_wait, &mut work).await {
                    Ok(results) => results,
                    Err(_) => {
                        self.hand_over(&run);
                        work.await
                    }
                };
                distribute(batch, results);
            }
        })
    }

    /// Takes the next items, except those whose requests were cancelled. If there are none, the queue is removed.
    fn next_batch(&mut self) -> Vec<Pending<I, O>> {
        let mut queues = self.batcher.lock();
        let Some(queue) = queues.get_mut(&self.kind) else { return Vec::new() };
        queue.retain(|pending| !pending.reply.is_closed());
        let count = queue.len().min(self.batcher.max_items);
        let batch: Vec<_> = queue.drain(..count).collect();
        if batch.is_empty() {
            self.has_left = true;
            queues.remove(&self.kind);
        }
        batch
    }

    fn hand_over(&mut self, run: &Run<I, O>) {
        self.has_left = true;
        let next = Leader { batcher: self.batcher.clone(), kind: self.kind.clone(), has_left: false };
        tokio::spawn(next.lead(run.clone()).in_current_span());
    }
}

/// The caller whose share a batch counts against: that of its items. A statement for several clients runs for the server,
/// because none of them may wait for the share of another.
fn payer<I, O>(batch: &[Pending<I, O>]) -> Caller {
    let Some(first) = batch.first().map(|pending| pending.caller) else { return Caller::SERVER };
    let is_shared = batch.iter().any(|pending| pending.caller.client != first.client);
    if is_shared { Caller { lane: first.lane, ..Caller::SERVER } } else { first }
}

/// Removes the queue after a panic. Its items get an error from their closed channels.
impl<I, O> Drop for Leader<I, O> {
    fn drop(&mut self) {
        if !self.has_left {
            self.batcher.lock().remove(&self.kind);
        }
    }
}

fn distribute<I, O>(batch: Vec<Pending<I, O>>, results: Result<Vec<O>, DbErr>) {
    // Sending fails for cancelled requests, which is fine.
    match results {
        Ok(results) => {
            batch.into_iter().zip(results).for_each(|(pending, result)| drop(pending.reply.send(Ok(result))))
        }
        Err(error) => batch.into_iter().for_each(|pending| drop(pending.reply.send(Err(error.clone())))),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::future::join_all;
    use tokio::sync::Semaphore;

    use super::*;
    use crate::client::{Client, Lane};

    /// Sizes of the batches that ran. Each waits for a permit of `gate`.
    #[derive(Default)]
    struct Log {
        sizes: Mutex<Vec<usize>>,
        running: AtomicUsize,
    }

    fn batcher(max_wait: Duration) -> Arc<Batcher<i64, i64>> {
        Arc::new(Batcher {
            queues: Mutex::default(),
            name: "test",
            metrics: Default::default(),
            max_items: 4,
            max_wait,
        })
    }

    async fn submit(batcher: &Arc<Batcher<i64, i64>>, log: &Arc<Log>, gate: &Arc<Semaphore>, item: i64) -> Result<i64> {
        let (log, gate) = (log.clone(), gate.clone());
        let run = move |items: Vec<i64>| {
            let (log, gate) = (log.clone(), gate.clone());
            async move {
                log.running.fetch_add(1, Ordering::SeqCst);
                let _permit = gate.acquire().await.map_err(|_| DbErr::Custom("refused".into()))?;
                log.sizes.lock().unwrap().push(items.len());
                Ok(items.iter().map(|item| item * 2).collect())
            }
        };
        batcher.submit("kind".into(), item, run).await
    }

    #[tokio::test]
    async fn items_that_arrive_during_a_statement_share_the_next_one() {
        let (batcher, log, gate) =
            (batcher(Duration::from_secs(60)), Arc::<Log>::default(), Arc::new(Semaphore::new(0)));
        let first = tokio::spawn({
            let (batcher, log, gate) = (batcher.clone(), log.clone(), gate.clone());
            async move { submit(&batcher, &log, &gate, 100).await }
        });
        while log.running.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        let others = join_all((0..6).map(|item| submit(&batcher, &log, &gate, item)));
        let open = async {
            tokio::task::yield_now().await;
            gate.add_permits(1);
        };
        let (others, ()) = tokio::join!(others, open);
        let others: Vec<i64> = others.into_iter().map(Result::unwrap).collect();
        assert_eq!(others, [0, 2, 4, 6, 8, 10]);
        assert_eq!(first.await.unwrap().unwrap(), 200);
        assert_eq!(*log.sizes.lock().unwrap(), [1, 4, 2], "a batch has at most four items");
        assert!(batcher.lock().is_empty());
    }

    #[tokio::test]
    async fn next_statement_starts_after_the_maximum_wait_for_a_slow_one() {
        let (batcher, log) = (batcher(Duration::from_millis(1)), Arc::<Log>::default());
        let (never, now) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(9)));
        let slow = tokio::spawn({
            let (batcher, log, never) = (batcher.clone(), log.clone(), never.clone());
            async move { submit(&batcher, &log, &never, 1).await }
        });
        while log.running.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        // Leaders of a kind share `run`, thus the successor of the slow one has the same gate.
        let waits = tokio::spawn({
            let (batcher, log, now) = (batcher.clone(), log.clone(), now.clone());
            async move { submit(&batcher, &log, &now, 2).await }
        });
        while log.running.load(Ordering::SeqCst) < 2 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        never.add_permits(2);
        assert_eq!((slow.await.unwrap().unwrap(), waits.await.unwrap().unwrap()), (2, 4));
    }

    #[tokio::test]
    async fn statement_counts_against_the_share_of_its_own_items() {
        let batcher = batcher(Duration::from_millis(1));
        let (gate, callers) = (Arc::new(Semaphore::new(0)), Arc::<Mutex<Vec<Caller>>>::default());
        let submit = |client: i64, item: i64| {
            let (batcher, gate, callers) = (batcher.clone(), gate.clone(), callers.clone());
            let run = move |items: Vec<i64>| {
                let (gate, callers) = (gate.clone(), callers.clone());
                async move {
                    callers.lock().unwrap().push(Caller::current());
                    // The first client has used up its share.
                    if Caller::current().client == Client::User(1) {
                        let _permit = gate.acquire().await;
                    }
                    Ok(items)
                }
            };
            let caller = Caller { client: Client::User(client), lane: Lane::Read };
            tokio::spawn(caller.scope(async move { batcher.submit("kind".into(), item, run).await }))
        };
        let slow = submit(1, 10);
        while callers.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(submit(2, 20).await.unwrap().unwrap(), 20, "it does not wait for the other client");
        let both = join_all([submit(2, 30), submit(3, 40)]).await;
        assert!(both.into_iter().all(|reply| reply.is_ok_and(|reply| reply.is_ok())));
        gate.add_permits(9);
        assert_eq!(slow.await.unwrap().unwrap(), 10);
        let clients: Vec<Client> = callers.lock().unwrap().iter().map(|caller| caller.client).collect();
        assert_eq!(clients[..2], [Client::User(1), Client::User(2)]);
    }

    #[tokio::test]
    async fn error_is_returned_to_every_item_of_its_batch_only() {
        let (batcher, log, gate) = (batcher(MAX_WAIT), Arc::<Log>::default(), Arc::new(Semaphore::new(1)));
        gate.close();
        for reply in join_all((0..3).map(|item| submit(&batcher, &log, &gate, item))).await {
            assert!(matches!(reply, Err(Error::Internal(_))), "{reply:?}");
        }
        let gate = Arc::new(Semaphore::new(1));
        assert_eq!(submit(&batcher, &log, &gate, 4).await.unwrap(), 8);
    }

    #[tokio::test]
    async fn panic_fails_its_batch_and_later_items_succeed() {
        let batcher = batcher(MAX_WAIT);
        let panics = |_: Vec<i64>| async { panic!("a panic of a test") };
        assert!(batcher.submit("kind".into(), 1, panics).await.is_err());
        let (log, gate) = (Arc::default(), Arc::new(Semaphore::new(1)));
        assert_eq!(submit(&batcher, &log, &gate, 2).await.unwrap(), 4);
    }
}
