//! Work that depends on no client: it goes on to its end when whoever waits for it goes away, and is begun again when it panics.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::Semaphore;
use tokio::time::sleep;
use tokio_util::task::TaskTracker;

use crate::error::{Error, Result};
use crate::metrics::Tasks;

/// The work of a process that goes on without whoever asked for it, counted so that a process that stops waits for it.
#[derive(Debug, Clone, Default)]
pub struct Lasting(TaskTracker);

impl Lasting {
    /// Runs to the end, whoever waits for it.
    ///
    /// # Errors
    /// Those of the work; [`Error::Internal`] when it panics.
    pub async fn to_the_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        self.0.spawn(work).await.map_err(Error::internal)?
    }

    /// Waits until none is left.
    pub async fn ended(&self) {
        // A closed tracker still takes work: closing lets `wait` return.
        self.0.close();
        self.0.wait().await;
    }
}

/// How long after a panic a task is begun again.
const PAUSE: Duration = Duration::from_secs(1);

/// Keeps what works beside the requests at it: a task that panics is told of, and begun again.
pub async fn kept<F: Future<Output = ()>>(tasks: Tasks, task: &'static str, mut begin: impl FnMut() -> F) {
    let _running = tasks.run(task);
    while AssertUnwindSafe(begin()).catch_unwind().await.is_err() {
        tracing::error!(task, "it panicked, and is begun again");
        sleep(PAUSE).await;
        tasks.restart(task);
    }
}

/// Works on a thread where nobody else waits, in its turn. The turn is the work's and not the waiter's: a thread cannot
/// be stopped, so of those that nobody waits for any more no more run than of the others.
///
/// # Errors
/// [`Error::Internal`] when the work panics.
pub async fn apart<T: Send + 'static>(turns: &Arc<Semaphore>, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let turn = turns.clone().acquire_owned().await.map_err(Error::internal)?;
    let work = move || {
        let _turn = turn;
        work()
    };
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn a_turn_ends_with_the_work_and_not_with_who_waits_for_it() {
        let turns = Arc::new(Semaphore::new(1));
        let (begun, begins) = mpsc::channel();
        let (end, ends) = mpsc::channel::<()>();
        let waits = tokio::spawn({
            let turns = turns.clone();
            async move {
                let work = move || {
                    begun.send(()).unwrap();
                    ends.recv().unwrap();
                };
                apart(&turns, work).await
            }
        });
        tokio::task::spawn_blocking(move || begins.recv().unwrap()).await.unwrap();
        waits.abort();
        assert!(waits.await.unwrap_err().is_cancelled());
        assert_eq!(turns.available_permits(), 0, "it is still at work");
        end.send(()).unwrap();
        tokio::time::timeout(Duration::from_secs(10), apart(&turns, || ())).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn a_task_that_panics_is_begun_again() {
        let mut begun = 0;
        let begin = || {
            begun += 1;
            let again = begun == 2;
            async move { assert!(again, "a panic of a test") }
        };
        let tasks = Tasks::default();
        kept(tasks.clone(), "test", begin).await;
        assert_eq!((begun, tasks.restarts("test")), (2, 1));
    }

    #[tokio::test]
    async fn who_goes_away_stops_nothing() {
        let (go, goes) = tokio::sync::oneshot::channel::<()>();
        let (tell, told) = tokio::sync::oneshot::channel();
        let lasting = Lasting::default();
        lasting.ended().await;
        let waits = tokio::spawn({
            let lasting = lasting.clone();
            async move {
                let work = async move {
                    goes.await.map_err(Error::internal)?;
                    tell.send(()).map_err(|()| Error::internal("nobody listens"))
                };
                lasting.to_the_end(work).await
            }
        });
        tokio::task::yield_now().await;
        waits.abort();
        assert!(waits.await.unwrap_err().is_cancelled());
        assert!(lasting.ended().now_or_never().is_none(), "it is still at work");
        go.send(()).unwrap();
        told.await.unwrap();
        lasting.ended().await;
    }
}
