//! How many requests are worked on at once, and who waits for a turn: the rest is refused while that is still cheap.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::error::{Error, Result};

/// Nobody waits longer for a turn.
const PATIENCE: Duration = Duration::from_millis(500);
/// For each request that is worked on, so many wait.
const WAITING: usize = 16;

/// The turns of a server. Those who write may wait for each other in the database, each with its turn: a quarter of them
/// is left to those who read.
#[derive(Debug)]
pub struct Gate {
    turns: Arc<Semaphore>,
    writing: Arc<Semaphore>,
    waiting: AtomicUsize,
    most_waiting: usize,
}

/// The turn of one request, shared by what works on it. It ends when the last of them is dropped.
#[derive(Debug, Clone)]
pub struct Turn(Arc<Held>);

#[derive(Debug)]
struct Held {
    gate: Arc<Gate>,
    writes: bool,
    permit: Mutex<Option<Permit>>,
}

/// A turn and, of who writes, one of the turns for that.
type Permit = (OwnedSemaphorePermit, Option<OwnedSemaphorePermit>);

impl Gate {
    /// At most so many requests are worked on at once.
    pub fn new(at_once: usize) -> Gate {
        Gate {
            turns: Arc::new(Semaphore::new(at_once)),
            writing: Arc::new(Semaphore::new(at_once - at_once / 4)),
            waiting: AtomicUsize::new(0),
            most_waiting: at_once.saturating_mul(WAITING),
        }
    }

    async fn permit(&self, writes: bool) -> Result<Permit> {
        let permit = async {
            // First the scarcer: nobody keeps a turn while waiting for another.
            let writing = if writes { Some(self.writing.clone().acquire_owned().await) } else { None };
            let writing = writing.transpose().map_err(Error::internal)?;
            Ok((self.turns.clone().acquire_owned().await.map_err(Error::internal)?, writing))
        };
        let mut permit = std::pin::pin!(permit);
        // Nobody is overtaken: while others wait there is none to be had.
        if let Some(permit) = permit.as_mut().now_or_never() {
            return permit;
        }
        let _waiting = Waiting::begin(self)?;
        timeout(PATIENCE, permit).await.unwrap_or(Err(Error::Overloaded))
    }
}

/// One who waits, counted until it is dropped.
struct Waiting<'g>(&'g Gate);

impl<'g> Waiting<'g> {
    fn begin(gate: &'g Gate) -> Result<Waiting<'g>> {
        let waiting = Waiting(gate);
        if gate.waiting.fetch_add(1, Ordering::Relaxed) < gate.most_waiting {
            Ok(waiting)
        } else {
            Err(Error::Overloaded)
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Turn {
    /// One that is not begun, of who reads or of who may write.
    pub fn at(gate: &Arc<Gate>, writes: bool) -> Turn {
        Turn(Arc::new(Held { gate: gate.clone(), writes, permit: Mutex::default() }))
    }

    /// Waits for it.
    ///
    /// # Errors
    /// [`Error::Overloaded`] when too many wait already, or this takes too long.
    pub async fn begin(&self) -> Result<()> {
        let permit = self.0.gate.permit(self.0.writes).await?;
        *self.permit() = Some(permit);
        Ok(())
    }

    /// Gives it to somebody else, while nothing is worked on.
    pub fn end(&self) {
        self.permit().take();
    }

    fn permit(&self) -> std::sync::MutexGuard<'_, Option<Permit>> {
        self.0.permit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[tokio::test]
    async fn who_writes_leaves_turns_to_who_reads() {
        for (at_once, of_writers) in [(1, 1), (2, 2), (4, 3), (5, 4), (8, 6), (32, 24)] {
            let gate = Arc::new(Gate::new(at_once));
            let turns: Vec<Turn> = (0..=at_once).map(|_| Turn::at(&gate, true)).collect();
            let begun = turns.iter().filter(|turn| turn.begin().now_or_never().is_some()).count();
            assert_eq!(begun, of_writers, "{at_once}");
            let reads = (0..at_once).map(|_| Turn::at(&gate, false)).collect::<Vec<_>>();
            let begun = reads.iter().filter(|turn| turn.begin().now_or_never().is_some()).count();
            assert_eq!(begun, at_once - of_writers, "{at_once}");
        }
    }

    #[tokio::test]
    async fn so_many_have_a_turn_so_many_wait_and_the_rest_is_refused_at_once() {
        let gate = Arc::new(Gate::new(1));
        let (first, second) = (Turn::at(&gate, false), Turn::at(&gate, false));
        first.begin().await.unwrap();
        let waiting: Vec<_> = (0..WAITING)
            .map(|_| {
                let turn = Turn::at(&gate, false);
                tokio::spawn(async move { turn.begin().await })
            })
            .collect();
        while gate.waiting.load(Ordering::Relaxed) < WAITING {
            tokio::task::yield_now().await;
        }
        // At once: nothing is waited for.
        assert!(matches!(second.begin().now_or_never(), Some(Err(Error::Overloaded))));
        // Each of the others has its turn, one after the other.
        first.end();
        for turn in waiting {
            turn.await.unwrap().unwrap();
        }
        second.begin().await.unwrap();
        // Who waits for too long is refused as well, and no longer counted.
        let begun = Instant::now();
        assert!(matches!(first.begin().await, Err(Error::Overloaded)));
        assert!(begun.elapsed() >= PATIENCE);
        drop(second);
        assert_eq!(gate.waiting.load(Ordering::Relaxed), 0);
        first.begin().await.unwrap();
    }
}
