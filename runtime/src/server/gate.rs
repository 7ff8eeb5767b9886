//! How many requests are worked on at once, and who waits for a turn: the rest is refused while that is still cheap.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::error::{Error, Result};
use crate::metrics::{Admission, Refused};

/// Nobody waits longer for a turn.
const PATIENCE: Duration = Duration::from_millis(500);
/// For each request that is worked on, so many wait.
const WAITING: usize = 16;
/// Where more than those had their turn within this time, as many of them wait: it will not take longer. To refuse what
/// is cheap costs as much as to answer it, and who waits asks for nothing.
const LATELY: Duration = Duration::from_millis(250);
/// But not more, each with what was received of it.
const MOST_WAITING: usize = 4_096;

/// The turns of a server. Those who write may wait for each other in the database, each with its turn: a quarter of them
/// is left to those who read. Who waits for another server has one of a third kind, and keeps nobody from anything else.
#[derive(Debug)]
pub struct Gate {
    turns: Arc<Semaphore>,
    writing: Arc<Semaphore>,
    aside: Arc<Semaphore>,
    waiting: AtomicUsize,
    least_waiting: usize,
    pace: Mutex<Pace>,
    metrics: Admission,
}

/// How many had their turn lately.
#[derive(Debug)]
struct Pace {
    since: Instant,
    begun: usize,
    /// In the time before that.
    before: usize,
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
    /// At most so many requests are worked on at once. `metrics` counts the waits and refusals.
    pub fn new(at_once: usize, metrics: Admission) -> Gate {
        Gate {
            turns: Arc::new(Semaphore::new(at_once)),
            writing: Arc::new(Semaphore::new(at_once - at_once / 4)),
            aside: Arc::new(Semaphore::new(at_once.div_ceil(2))),
            waiting: AtomicUsize::new(0),
            least_waiting: at_once.saturating_mul(WAITING),
            pace: Mutex::new(Pace { since: Instant::now(), begun: 0, before: 0 }),
            metrics,
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
        let permit = match permit.as_mut().now_or_never() {
            Some(permit) => {
                self.metrics.waited(Duration::ZERO);
                permit
            }
            None => {
                let _waiting = Waiting::begin(self)?;
                let (_queued, begun) = (self.metrics.queue(), Instant::now());
                let permit = timeout(PATIENCE, permit).await.unwrap_or_else(|_| {
                    self.metrics.refuse(Refused::QueueTimeout);
                    Err(Error::Overloaded)
                });
                self.metrics.waited(begun.elapsed());
                permit
            }
        }?;
        self.pace().count(Instant::now());
        Ok(permit)
    }

    fn may_wait(&self, waiting: usize) -> bool {
        waiting < self.least_waiting || waiting < self.pace().lately(Instant::now()).min(MOST_WAITING)
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pace {
    fn count(&mut self, now: Instant) {
        self.go_on(now);
        self.begun += 1;
    }

    fn lately(&mut self, now: Instant) -> usize {
        self.go_on(now);
        self.begun.max(self.before)
    }

    /// Begins to count anew where the time is over.
    fn go_on(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.since);
        if passed >= LATELY {
            self.before = if passed < 2 * LATELY { self.begun } else { 0 };
            (self.since, self.begun) = (now, 0);
        }
    }
}

/// One who waits, counted until it is dropped.
struct Waiting<'g>(&'g Gate);

impl<'g> Waiting<'g> {
    fn begin(gate: &'g Gate) -> Result<Waiting<'g>> {
        let waiting = Waiting(gate);
        match gate.may_wait(gate.waiting.fetch_add(1, Ordering::Relaxed)) {
            true => Ok(waiting),
            false => {
                gate.metrics.refuse(Refused::QueueFull);
                Err(Error::Overloaded)
            }
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

    /// Gives it to somebody else, for one of those of who waits for another server: half as many, which nobody waits for.
    ///
    /// # Errors
    /// [`Error::Overloaded`] when there is none.
    pub fn step_aside(&self) -> Result<()> {
        let aside = self.0.gate.aside.clone().try_acquire_owned().map_err(|_| {
            self.0.gate.metrics.refuse(Refused::NoPlaceAside);
            Error::Overloaded
        })?;
        *self.permit() = Some((aside, None));
        Ok(())
    }

    /// Gives it to somebody else, while nothing is worked on.
    pub fn end(&self) {
        self.permit().take();
    }

    fn permit(&self) -> MutexGuard<'_, Option<Permit>> {
        self.0.permit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_writes_leaves_turns_to_who_reads() {
        for (at_once, of_writers) in [(1, 1), (2, 2), (4, 3), (5, 4), (8, 6), (32, 24)] {
            let gate = Arc::new(Gate::new(at_once, Admission::default()));
            let turns: Vec<Turn> = (0..=at_once).map(|_| Turn::at(&gate, true)).collect();
            let begun = turns.iter().filter(|turn| turn.begin().now_or_never().is_some()).count();
            assert_eq!(begun, of_writers, "{at_once}");
            let reads = (0..at_once).map(|_| Turn::at(&gate, false)).collect::<Vec<_>>();
            let begun = reads.iter().filter(|turn| turn.begin().now_or_never().is_some()).count();
            assert_eq!(begun, at_once - of_writers, "{at_once}");
        }
    }

    #[test]
    fn as_many_wait_as_had_their_turn_lately() {
        let (gate, begun) = (Gate::new(1, Admission::default()), Instant::now());
        let after = |windows: f64| begun + LATELY.mul_f64(windows);
        let mut pace = Pace { since: begun, begun: 0, before: 0 };
        (0..100).for_each(|_| pace.count(after(0.5)));
        assert_eq!(pace.lately(after(0.9)), 100, "those of this time");
        (0..30).for_each(|_| pace.count(after(1.5)));
        assert_eq!(pace.lately(after(1.9)), 100, "or of the time before");
        assert_eq!(pace.lately(after(2.6)), 30);
        assert_eq!(pace.lately(after(9.0)), 0, "and not what was long ago");
        for (lately, most) in [(0, WAITING), (100, 100), (1_000_000, MOST_WAITING)] {
            *gate.pace() = Pace { since: Instant::now() + Duration::from_secs(60), begun: lately, before: 0 };
            assert!(gate.may_wait(most - 1) && !gate.may_wait(most), "{lately}");
        }
    }

    #[tokio::test]
    async fn who_waits_for_another_server_leaves_the_turn_to_others() {
        let gate = Arc::new(Gate::new(4, Admission::default()));
        let turns: Vec<Turn> = (0..3).map(|_| Turn::at(&gate, true)).collect();
        for turn in &turns[..2] {
            turn.begin().await.unwrap();
            turn.step_aside().unwrap();
        }
        turns[2].begin().await.unwrap();
        assert!(matches!(turns[2].step_aside(), Err(Error::Overloaded)), "half as many");
        let others = (0..4).map(|_| Turn::at(&gate, false)).collect::<Vec<_>>();
        assert_eq!(others.iter().filter(|turn| turn.begin().now_or_never().is_some()).count(), 3);
        turns[0].end();
        turns[2].step_aside().unwrap();
    }

    #[tokio::test]
    async fn so_many_have_a_turn_so_many_wait_and_the_rest_is_refused_at_once() {
        let gate = Arc::new(Gate::new(1, Admission::default()));
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
        assert_eq!(gate.metrics.refused(Refused::QueueFull), 1);
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
        assert_eq!(gate.metrics.refused(Refused::QueueTimeout), 1);
        drop(second);
        assert_eq!(gate.waiting.load(Ordering::Relaxed), 0);
        first.begin().await.unwrap();
    }
}
