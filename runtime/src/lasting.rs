//! Work that goes on to its end when whoever waits for it goes away, as a client does in the middle of a request.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::error::{Error, Result};

/// Runs to the end, whoever waits for it.
///
/// # Errors
/// Those of the work; [`Error::Internal`] when it panics.
pub async fn to_the_end<T: Send + 'static>(work: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
    tokio::spawn(work).await.map_err(Error::internal)?
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
    use std::time::Duration;

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
    async fn who_goes_away_stops_nothing() {
        let (go, goes) = tokio::sync::oneshot::channel::<()>();
        let (tell, told) = tokio::sync::oneshot::channel();
        let waits = tokio::spawn(to_the_end(async move {
            goes.await.map_err(Error::internal)?;
            tell.send(()).map_err(|()| Error::internal("nobody listens"))
        }));
        tokio::task::yield_now().await;
        waits.abort();
        assert!(waits.await.unwrap_err().is_cancelled());
        go.send(()).unwrap();
        told.await.unwrap();
    }
}
