//! The engine of a process: one task that fans events out, claims what is due, and writes what attempts came to; and a
//! task for each attempt.
//!
//! An event that was committed in this process wakes it at once; it looks by itself often enough for those of others.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout_at};

use super::cancellation::cancel_rest;
use super::completion::{Finished, complete};
use super::delivery::{self, Claim, Room, Turn};
use super::exchange::{Exchange, Outcome};
use super::retention;
use crate::context::State;
use crate::error::Result;
use crate::lasting::kept;

/// How often the engine looks for what other processes committed, what has become due, and what the dead left behind.
const POLL: Duration = Duration::from_millis(250);
/// Between two rounds: what comes meanwhile is one round's work, and not a transaction each.
const GATHER: Duration = Duration::from_millis(10);
/// How long it waits after the database failed.
pub(super) const BREATH: Duration = Duration::from_millis(500);
/// Attempts under way when the engine stops have so long to end. What has not ended then is attempted again by whoever
/// takes the lease.
const DRAIN: Duration = Duration::from_secs(18);
/// Attempts at one webhook at a time while it is failing: one that answers nothing holds few slots.
const FAILING: usize = 2;

/// A running engine.
#[derive(Debug)]
pub struct Engine {
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

impl Engine {
    /// Begins to deliver, with at most so many attempts at a time; none is for processes that leave it to others.
    pub fn start(state: Arc<State>, exchange: Arc<dyn Exchange>, slots: usize) -> Engine {
        let (stop, stopped) = watch::channel(false);
        let (mut tasks, counted) = (Vec::new(), state.metrics.tasks.clone());
        if slots > 0 {
            let (state, stopped) = (state.clone(), stopped.clone());
            // Of what one that panicked had begun the leases end.
            let run = move || Dispatcher::new(state.clone(), exchange.clone(), slots).run(stopped.clone());
            tasks.push(tokio::spawn(kept(counted.clone(), "webhooks", run)));
        }
        // Events are written whoever delivers them.
        let run = move || retention::run(state.clone(), stopped.clone());
        tasks.push(tokio::spawn(kept(counted, "retention", run)));
        Engine { stop, tasks }
    }

    /// Claims nothing more, and waits for the attempts under way; not for a database that hangs.
    pub async fn stop(self) {
        let _ = self.stop.send(true);
        let until = Instant::now() + DRAIN + BREATH;
        for mut task in self.tasks {
            if timeout_at(until, &mut task).await.is_err() {
                tracing::warn!("webhooks: the database did not answer in time; what was begun will be made again");
                task.abort();
            }
        }
    }
}

/// What the one task knows.
struct Dispatcher {
    state: Arc<State>,
    exchange: Arc<dyn Exchange>,
    /// The most attempts at a time; and at one webhook.
    slots: usize,
    each: usize,
    /// Attempts that are running or whose end is not written yet: by webhook, in all, and retries alone.
    running: HashMap<i64, usize>,
    total: usize,
    retries: usize,
    /// Attempts that have ended come through here.
    ended: mpsc::UnboundedSender<Finished>,
    endings: mpsc::UnboundedReceiver<Finished>,
    /// Ends that are not written yet.
    unwritten: Vec<Finished>,
    /// Whether more may be left to cancel of webhooks that were disabled.
    cancels: bool,
}

/// Why the task goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Woken {
    /// Something was written, or an attempt has ended.
    Work,
    Tick,
    Stop,
}

impl Dispatcher {
    fn new(state: Arc<State>, exchange: Arc<dyn Exchange>, slots: usize) -> Dispatcher {
        let each = state.config.webhook_endpoint_concurrency as usize;
        let (ended, endings) = mpsc::unbounded_channel();
        Dispatcher {
            state,
            exchange,
            slots,
            each,
            running: HashMap::new(),
            total: 0,
            retries: 0,
            ended,
            endings,
            unwritten: Vec::new(),
            cancels: false,
        }
    }

    async fn run(mut self, mut stopped: watch::Receiver<bool>) {
        let mut ticks = interval(POLL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // Whether events are known to wait.
        let mut more = false;
        loop {
            let woken = tokio::select! {
                // In an order in which none keeps those below it waiting: the clock does not always tick.
                biased;
                _ = stopped.wait_for(|stop| *stop) => Woken::Stop,
                _ = ticks.tick() => Woken::Tick,
                () = std::future::ready(()), if more => Woken::Work,
                Some(finished) = self.endings.recv() => {
                    self.unwritten.push(finished);
                    Woken::Work
                }
                () = self.state.db.wait_for_commit() => Woken::Work,
            };
            if woken == Woken::Stop {
                return self.drain().await;
            }
            let pause = match self.go_on(woken).await {
                Ok(waiting) => {
                    more = waiting;
                    GATHER
                }
                Err(error) => {
                    tracing::error!(%error, "webhooks: the database failed; trying again");
                    BREATH
                }
            };
            sleep(pause).await;
        }
    }

    /// Writes what has ended, makes the deliveries of some events, and begins what there is room for. Answers whether more
    /// events wait. Each round does some of each, so that a backlog of one kind keeps none of the others waiting.
    async fn go_on(&mut self, woken: Woken) -> Result<bool> {
        // What is due already waits neither for what cannot be written nor for what cannot be fanned out.
        let ends = self.write_ends().await;
        let freed = ends.as_ref().is_ok_and(|freed| *freed);
        let now = self.state.clock.now();
        let fanned_out = delivery::fan_out(&self.state, now).await;
        let cancelled = match woken == Woken::Tick || self.cancels {
            true => cancel_rest(&self.state.db, now).await,
            false => Ok(false),
        };
        self.cancels = cancelled.as_ref().is_ok_and(|more| *more);
        let events = fanned_out.as_ref().map_or(0, |fanned_out| fanned_out.events);
        // What has just been made, what waited for a free slot, what has become due.
        if events > 0 || freed || woken == Woken::Tick {
            self.begin(Turn::First).await?;
        }
        if freed || woken == Woken::Tick {
            self.begin(Turn::Retry).await?;
        }
        ends?;
        cancelled?;
        Ok(fanned_out?.is_full || self.cancels)
    }

    /// Claims as much as there is room for and begins its attempts.
    async fn begin(&mut self, turn: Turn) -> Result<usize> {
        let free = self.slots.saturating_sub(self.total);
        let slots = match turn {
            Turn::First => free,
            // Half of the slots are for first attempts alone.
            Turn::Retry => free.min(self.slots.div_ceil(2).saturating_sub(self.retries)),
        };
        let room = Room { slots, each: self.each, failing: FAILING.min(self.each), running: &self.running };
        let claims = delivery::claim(&self.state.db, turn, &room, self.state.clock.now()).await?;
        let begun = claims.len();
        for claim in claims {
            self.attempt(claim, turn);
        }
        Ok(begun)
    }

    fn attempt(&mut self, claim: Claim, turn: Turn) {
        *self.running.entry(claim.webhook_id).or_default() += 1;
        self.total += 1;
        self.retries += usize::from(turn == Turn::Retry);
        let (state, exchange, ended) = (self.state.clone(), self.exchange.clone(), self.ended.clone());
        tokio::spawn(async move {
            let finished = attempt(&state, exchange, claim).await;
            let _ = ended.send(finished);
        });
    }

    /// Takes what has ended meanwhile, so that it is written together.
    fn collect(&mut self) {
        while let Ok(finished) = self.endings.try_recv() {
            self.unwritten.push(finished);
        }
    }

    /// Writes what has ended, and answers whether others may have waited for the slots. What cannot be written of one webhook
    /// keeps nothing of another.
    async fn write_ends(&mut self) -> Result<bool> {
        self.collect();
        let ended = std::mem::take(&mut self.unwritten);
        let Err(error) = complete(&self.state.db, &ended).await else { return Ok(self.settle(ended)) };
        let mut of_each: BTreeMap<i64, Vec<Finished>> = BTreeMap::new();
        for finished in ended {
            of_each.entry(finished.claim.webhook_id).or_default().push(finished);
        }
        let (alone, mut failures) = (of_each.len() == 1, 0);
        for ended in of_each.into_values() {
            // Where two fail it is the database.
            if !alone && failures < 2 && complete(&self.state.db, &ended).await.is_ok() {
                self.settle(ended);
            } else {
                failures += 1;
                self.unwritten.extend(ended);
            }
        }
        Err(error)
    }

    /// Gives back the slots of what was written, and answers whether others may have waited for them.
    fn settle(&mut self, written: Vec<Finished>) -> bool {
        let mut freed = !written.is_empty() && self.total >= self.slots;
        for Finished { claim, .. } in written {
            self.total -= 1;
            self.retries -= usize::from(claim.retries > 0);
            if let Some(count) = self.running.get_mut(&claim.webhook_id) {
                freed |= *count >= if claim.is_slow() { FAILING.min(self.each) } else { self.each };
                *count -= 1;
                if *count == 0 {
                    self.running.remove(&claim.webhook_id);
                }
            }
        }
        freed
    }

    /// Waits for what is under way, and writes it.
    async fn drain(mut self) {
        let until = Instant::now() + DRAIN;
        while self.total > 0 {
            if self.unwritten.is_empty() {
                match timeout_at(until, self.endings.recv()).await {
                    Ok(Some(finished)) => self.unwritten.push(finished),
                    _ => break,
                }
            }
            if let Err(error) = self.write_ends().await {
                tracing::error!(%error, "webhooks: the database failed while stopping");
                if Instant::now() + BREATH > until {
                    break;
                }
                sleep(BREATH).await;
            }
        }
        if self.total > 0 {
            tracing::warn!(left = self.total, "webhooks: attempts did not end in time; they will be made again");
        }
    }
}

/// Delivers what is new and what is due, once and without a task, and answers how many attempts were made. For tests
/// that turn the clock.
///
/// # Errors
/// When the database fails.
pub async fn round(state: &Arc<State>, exchange: Arc<dyn Exchange>, slots: usize) -> Result<usize> {
    let mut dispatcher = Dispatcher::new(state.clone(), exchange, slots);
    while cancel_rest(&state.db, state.clock.now()).await? {}
    while delivery::fan_out(state, state.clock.now()).await?.is_full {}
    let made = dispatcher.begin(Turn::First).await? + dispatcher.begin(Turn::Retry).await?;
    while dispatcher.total > 0 {
        let ended = dispatcher.endings.recv().await;
        dispatcher.unwritten.extend(ended);
        dispatcher.write_ends().await?;
    }
    Ok(made)
}

/// Makes one attempt and tells what came of it. A panic is an attempt that failed.
pub(super) async fn attempt(state: &Arc<State>, exchange: Arc<dyn Exchange>, claim: Claim) -> Finished {
    state.webhooks.begin(&claim);
    let attempt = claim.attempt.clone();
    let sent = tokio::spawn(async move { exchange.send(&attempt).await }).await;
    let outcome =
        sent.unwrap_or_else(|_| Outcome { error: Some("a fault of the sender".into()), ..Outcome::default() });
    state.webhooks.count(&outcome);
    Finished { claim, outcome, at: state.clock.now() }
}
