//! Request coalescing and batching: while a statement of a kind runs, requests for the same kind queue, and share the next one.
//!
//! A request never waits for company: it runs at once and alone if no statement of its kind runs. Each is answered by a
//! statement that began after the request arrived, so that it sees every write that was acknowledged before.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use sea_orm::DbErr;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tracing::Instrument;

use crate::error::{Error, Result};
use crate::metrics;

/// A statement that runs for longer no longer keeps others of its kind waiting: the next one starts beside it.
const MAX_WAIT: Duration = Duration::from_millis(5);

/// Queues of items by kind. A kind is the text of a statement; items differ in what they ask of it.
pub struct Batcher<I, O> {
    /// The items that wait for the running statement of a kind. A kind without a running statement has no queue.
    queues: Mutex<Queues<I, O>>,
    /// What the batches are called in the metrics.
    name: &'static str,
    metrics: metrics::Database,
    /// The number of items of one statement.
    max_items: usize,
    max_wait: Duration,
}

type Queues<I, O> = HashMap<Arc<str>, Vec<Pending<I, O>>>;

/// Answers one value per item, in their order.
type Run<I, O> = Arc<dyn Fn(Vec<I>) -> BoxFuture<'static, Result<Vec<O>, DbErr>> + Send + Sync>;

struct Pending<I, O> {
    item: I,
    answer: oneshot::Sender<Result<O, DbErr>>,
}

impl<I, O> std::fmt::Debug for Batcher<I, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batcher").finish_non_exhaustive()
    }
}

impl<I: Copy + Send + 'static, O: Send + 'static> Batcher<I, O> {
    pub fn new(name: &'static str, metrics: &metrics::Database, max_items: usize) -> Arc<Self> {
        let metrics = metrics.clone();
        Arc::new(Batcher { queues: Mutex::default(), name, metrics, max_items, max_wait: MAX_WAIT })
    }

    /// The answer for an item. `run` is called with the items of a batch, in a task of its own that ends whether or not the
    /// requests still wait.
    ///
    /// # Errors
    /// Those of `run`, for every item of the batch.
    pub async fn submit<R, F>(self: &Arc<Self>, kind: Arc<str>, item: I, run: R) -> Result<O>
    where
        R: Fn(Vec<I>) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Vec<O>, DbErr>> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        if self.enqueue(&kind, Pending { item, answer }) {
            let run: Run<I, O> = Arc::new(move |items| Box::pin(run(items)));
            let leader = Leader { batcher: self.clone(), kind, has_left: false };
            // A slow statement is logged with the request that started it.
            tokio::spawn(leader.lead(run).in_current_span());
        }
        Ok(answered.await.map_err(Error::internal)??)
    }

    /// Whether a leader has to be started for this kind.
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

/// Runs one batch of a kind after the other until its queue is empty.
struct Leader<I, O> {
    batcher: Arc<Batcher<I, O>>,
    kind: Arc<str>,
    /// Another leader has taken over, or the queue is gone.
    has_left: bool,
}

impl<I: Copy + Send + 'static, O: Send + 'static> Leader<I, O> {
    /// A boxed future, because a leader starts its successor.
    fn lead(mut self, run: Run<I, O>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            // Requests that are about to arrive join the first batch.
            tokio::task::yield_now().await;
            while !self.has_left {
                let batch = self.next_batch();
                if batch.is_empty() {
                    break;
                }
                self.batcher.metrics.batch(self.batcher.name, batch.len());
                let mut work = run(batch.iter().map(|pending| pending.item).collect());
                let answers = match timeout(self.batcher.max_wait, &mut work).await {
                    Ok(answers) => answers,
                    Err(_) => {
                        self.hand_over(&run);
                        work.await
                    }
                };
                distribute(batch, answers);
            }
        })
    }

    /// The next items, without those whose requests are gone. An empty batch removes the queue.
    fn next_batch(&mut self) -> Vec<Pending<I, O>> {
        let mut queues = self.batcher.lock();
        let Some(queue) = queues.get_mut(&self.kind) else { return Vec::new() };
        queue.retain(|pending| !pending.answer.is_closed());
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

/// After a panic the queue is removed: its items are told by the end of their channels.
impl<I, O> Drop for Leader<I, O> {
    fn drop(&mut self) {
        if !self.has_left {
            self.batcher.lock().remove(&self.kind);
        }
    }
}

fn distribute<I, O>(batch: Vec<Pending<I, O>>, answers: Result<Vec<O>, DbErr>) {
    // A request that is gone takes no answer.
    match answers {
        Ok(answers) => {
            batch.into_iter().zip(answers).for_each(|(pending, answer)| drop(pending.answer.send(Ok(answer))))
        }
        Err(error) => batch.into_iter().for_each(|pending| drop(pending.answer.send(Err(error.clone())))),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::future::join_all;
    use tokio::sync::Semaphore;

    use super::*;

    /// Batches as they ran; each waits for a permit of `gate`.
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

    async fn ask(batcher: &Arc<Batcher<i64, i64>>, log: &Arc<Log>, gate: &Arc<Semaphore>, item: i64) -> Result<i64> {
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
    async fn items_that_arrive_while_a_statement_runs_share_the_next_one() {
        let (batcher, log, gate) =
            (batcher(Duration::from_secs(60)), Arc::<Log>::default(), Arc::new(Semaphore::new(0)));
        let first = tokio::spawn({
            let (batcher, log, gate) = (batcher.clone(), log.clone(), gate.clone());
            async move { ask(&batcher, &log, &gate, 100).await }
        });
        while log.running.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        let others = join_all((0..6).map(|item| ask(&batcher, &log, &gate, item)));
        let open = async {
            tokio::task::yield_now().await;
            gate.add_permits(1);
        };
        let (others, ()) = tokio::join!(others, open);
        let others: Vec<i64> = others.into_iter().map(Result::unwrap).collect();
        assert_eq!(others, [0, 2, 4, 6, 8, 10]);
        assert_eq!(first.await.unwrap().unwrap(), 200);
        assert_eq!(*log.sizes.lock().unwrap(), [1, 4, 2], "a batch has at most four");
        assert!(batcher.lock().is_empty());
    }

    #[tokio::test]
    async fn a_slow_statement_does_not_keep_the_next_one_waiting() {
        let (batcher, log) = (batcher(Duration::from_millis(1)), Arc::<Log>::default());
        let (never, now) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(9)));
        let slow = tokio::spawn({
            let (batcher, log, never) = (batcher.clone(), log.clone(), never.clone());
            async move { ask(&batcher, &log, &never, 1).await }
        });
        while log.running.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        // Leaders of a kind share `run`; the successor of the slow one has its gate.
        let waits = tokio::spawn({
            let (batcher, log, now) = (batcher.clone(), log.clone(), now.clone());
            async move { ask(&batcher, &log, &now, 2).await }
        });
        while log.running.load(Ordering::SeqCst) < 2 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        never.add_permits(2);
        assert_eq!((slow.await.unwrap().unwrap(), waits.await.unwrap().unwrap()), (2, 4));
    }

    #[tokio::test]
    async fn an_error_is_that_of_every_item_of_the_batch_and_of_no_later_one() {
        let (batcher, log, gate) = (batcher(MAX_WAIT), Arc::<Log>::default(), Arc::new(Semaphore::new(1)));
        gate.close();
        for answer in join_all((0..3).map(|item| ask(&batcher, &log, &gate, item))).await {
            assert!(matches!(answer, Err(Error::Internal(_))), "{answer:?}");
        }
        let gate = Arc::new(Semaphore::new(1));
        assert_eq!(ask(&batcher, &log, &gate, 4).await.unwrap(), 8);
    }

    #[tokio::test]
    async fn a_panic_ends_the_batch_and_not_the_batcher() {
        let batcher = batcher(MAX_WAIT);
        let panics = |_: Vec<i64>| async { panic!("a panic of a test") };
        assert!(batcher.submit("kind".into(), 1, panics).await.is_err());
        let (log, gate) = (Arc::default(), Arc::new(Semaphore::new(1)));
        assert_eq!(ask(&batcher, &log, &gate, 2).await.unwrap(), 4);
    }
}
