//! Tasks that outlive their clients, supervised background tasks, and a limited number of blocking threads.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::Semaphore;
use tokio::time::sleep;
use tokio_util::task::TaskTracker;

use crate::error::{Error, Result};
use crate::metrics::Tasks;

/// Tasks that continue when their client disconnects. The server waits for them when it stops.
#[derive(Debug, Clone, Default)]
pub struct DetachedTasks(TaskTracker);

impl DetachedTasks {
    /// Runs a task that completes even if this future is dropped.
    ///
    /// # Errors
    /// Those of the task; [`Error::Internal`] when it panics.
    pub async fn run_to_completion<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        self.0.spawn(work).await.map_err(Error::internal)?
    }

    /// Starts a task that nobody waits for but the end of the server.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.0.spawn(work);
    }

    /// Waits until all tasks have finished.
    pub async fn wait(&self) {
        // A closed tracker still accepts tasks. `wait` returns only after it was closed.
        self.0.close();
        self.0.wait().await;
    }
}

/// Pause before a task is restarted after a panic.
const RESTART_DELAY: Duration = Duration::from_secs(1);

/// Runs a background task and restarts it after a panic.
pub async fn supervise<F: Future<Output = ()>>(tasks: Tasks, task: &'static str, mut start: impl FnMut() -> F) {
    let _running = tasks.run(task);
    while AssertUnwindSafe(start()).catch_unwind().await.is_err() {
        tracing::error!(task, "background task panicked; restarting");
        sleep(RESTART_DELAY).await;
        tasks.restart(task);
    }
}

/// Runs blocking work on a thread of its own, when `limit` has a permit. The work holds the permit until it ends, even if this
/// future is dropped: a thread cannot be stopped.
///
/// # Errors
/// [`Error::Internal`] when the work panics.
pub async fn spawn_blocking_limited<T: Send + 'static>(
    limit: &Arc<Semaphore>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let permit = limit.clone().acquire_owned().await.map_err(Error::internal)?;
    let work = move || {
        let _permit = permit;
        work()
    };
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn blocking_work_holds_its_permit_after_its_caller_gives_up() {
        let limit = Arc::new(Semaphore::new(1));
        let (started, starts) = mpsc::channel();
        let (end, ends) = mpsc::channel::<()>();
        let caller = tokio::spawn({
            let limit = limit.clone();
            async move {
                let work = move || {
                    started.send(()).unwrap();
                    ends.recv().unwrap();
                };
                spawn_blocking_limited(&limit, work).await
            }
        });
        tokio::task::spawn_blocking(move || starts.recv().unwrap()).await.unwrap();
        caller.abort();
        assert!(caller.await.unwrap_err().is_cancelled());
        assert_eq!(limit.available_permits(), 0, "the work still runs");
        end.send(()).unwrap();
        tokio::time::timeout(Duration::from_secs(10), spawn_blocking_limited(&limit, || ())).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn background_task_is_restarted_after_a_panic() {
        let mut starts = 0;
        let start = || {
            starts += 1;
            let succeeds = starts == 2;
            async move { assert!(succeeds, "a panic of a test") }
        };
        let tasks = Tasks::default();
        supervise(tasks.clone(), "test", start).await;
        assert_eq!((starts, tasks.restarts("test")), (2, 1));
    }

    #[tokio::test]
    async fn detached_task_completes_after_its_caller_gives_up() {
        let (go, goes) = tokio::sync::oneshot::channel::<()>();
        let (done, is_done) = tokio::sync::oneshot::channel();
        let tasks = DetachedTasks::default();
        tasks.wait().await;
        let caller = tokio::spawn({
            let tasks = tasks.clone();
            async move {
                let work = async move {
                    goes.await.map_err(Error::internal)?;
                    done.send(()).map_err(|()| Error::internal("the test has ended"))
                };
                tasks.run_to_completion(work).await
            }
        });
        tokio::task::yield_now().await;
        caller.abort();
        assert!(caller.await.unwrap_err().is_cancelled());
        assert!(tasks.wait().now_or_never().is_none(), "the task still runs");
        go.send(()).unwrap();
        is_done.await.unwrap();
        tasks.wait().await;
    }
}
