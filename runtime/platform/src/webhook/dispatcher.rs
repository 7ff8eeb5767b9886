//! Webhook dispatcher: one task per process that fans out events, claims due deliveries and records results, and one
//! task for each attempt.
//!
//! A commit in this process wakes it at once; polling finds the events of other processes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout_at};

use super::cancellation::cancel_remaining;
use super::delivery::{self, AttemptKind, Claim, ClaimLimits, make_attempt};
use super::fan_out::fan_out;
use super::results::{FinishedAttempt, record_results};
use super::retention;
use super::suspension::{enforce_delivery_limit, suspend};
use super::transport::Transport;
use super::{Metrics, Webhooks};
use charter_core::error::Result;
use charter_core::ops::State;
use charter_core::tasks::supervise;

/// Interval at which it looks for commits of other processes, due deliveries and expired leases.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Pause between two rounds, which batches the work that arrives in between.
const BATCH_WINDOW: Duration = Duration::from_millis(10);
/// Pause after a database error.
pub(super) const ERROR_BACKOFF: Duration = Duration::from_millis(500);
/// Time for running attempts to end when the dispatcher stops. After that, another worker repeats them when the lease
/// has expired.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(18);
/// Interval of the comparison of pending deliveries with the limit of a user, besides that after each full batch of events.
const LIMIT_INTERVAL: Duration = Duration::from_secs(2);
/// Maximum number of concurrent attempts at a webhook that is failing: a receiver that never responds holds few slots.
const FAILING_CONCURRENCY: usize = 2;

/// Handle of a running dispatcher.
#[derive(Debug)]
pub struct Dispatcher {
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

impl Dispatcher {
    /// Starts to deliver with at most `slots` concurrent attempts; 0 is for processes that leave delivery to others.
    ///
    /// # Errors
    /// If the state has no [`Webhooks`].
    pub fn start(state: Arc<State>, transport: Arc<dyn Transport>, slots: usize) -> Result<Dispatcher> {
        let webhooks = state.extension::<Webhooks>()?;
        let (per_webhook, metrics) = (webhooks.max_attempts_per_webhook, webhooks.metrics.clone());
        let (stop, stopped) = watch::channel(false);
        let (mut tasks, counted) = (Vec::new(), state.metrics.tasks.clone());
        if slots > 0 {
            let (state, stopped) = (state.clone(), stopped.clone());
            // After a panic, the leases of its claims expire.
            let run = move || {
                let work = DispatchLoop::new(state.clone(), transport.clone(), slots, per_webhook, metrics.clone());
                work.run(stopped.clone())
            };
            tasks.push(tokio::spawn(supervise(counted.clone(), "webhooks", run)));
        }
        // Events are stored even if this process delivers none.
        let run = move || retention::run(state.clone(), stopped.clone());
        tasks.push(tokio::spawn(supervise(counted, "retention", run)));
        Ok(Dispatcher { stop, tasks })
    }

    /// Stops claiming and waits for running attempts, but not for a database that hangs.
    pub async fn stop(self) {
        let _ = self.stop.send(true);
        let until = Instant::now() + DRAIN_TIMEOUT + ERROR_BACKOFF;
        for mut task in self.tasks {
            if timeout_at(until, &mut task).await.is_err() {
                tracing::warn!(
                    "webhook dispatcher: the database did not respond before the shutdown timeout; running attempts will be repeated"
                );
                task.abort();
            }
        }
    }
}

/// State of the dispatcher's task.
struct DispatchLoop {
    state: Arc<State>,
    transport: Arc<dyn Transport>,
    /// Maximum number of concurrent attempts, in total and for one webhook.
    slots: usize,
    per_webhook: usize,
    metrics: Arc<Metrics>,
    /// Attempts that are running or not recorded yet: by webhook, by user, in total, and retries alone.
    running: HashMap<i64, usize>,
    of_users: HashMap<i64, RunningAttempts>,
    total: usize,
    retries: usize,
    /// Channel of attempts that have ended.
    finished_sender: mpsc::UnboundedSender<FinishedAttempt>,
    finished_receiver: mpsc::UnboundedReceiver<FinishedAttempt>,
    /// Results that are not recorded yet.
    unrecorded: Vec<FinishedAttempt>,
    /// Disabled webhooks may have more pending deliveries to cancel.
    cancels_pending: bool,
    /// When pending deliveries are compared with the limit again.
    next_limit_check: Instant,
}

/// Attempts of one user.
#[derive(Debug, Clone, Copy, Default)]
struct RunningAttempts {
    all: usize,
    retries: usize,
}

/// Why the loop woke up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wake {
    /// An event was committed or an attempt has ended.
    Work,
    Tick,
    Stop,
}

impl DispatchLoop {
    fn new(
        state: Arc<State>,
        transport: Arc<dyn Transport>,
        slots: usize,
        per_webhook: usize,
        metrics: Arc<Metrics>,
    ) -> DispatchLoop {
        let (finished_sender, finished_receiver) = mpsc::unbounded_channel();
        DispatchLoop {
            state,
            transport,
            slots,
            per_webhook,
            metrics,
            running: HashMap::new(),
            of_users: HashMap::new(),
            total: 0,
            retries: 0,
            finished_sender,
            finished_receiver,
            unrecorded: Vec::new(),
            cancels_pending: false,
            next_limit_check: Instant::now(),
        }
    }

    async fn run(mut self, mut stopped: watch::Receiver<bool>) {
        let mut ticks = interval(POLL_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // More events are known to be pending.
        let mut more = false;
        loop {
            let wake = tokio::select! {
                // Ordered such that no branch starves those below it: ticks are the rarest.
                biased;
                _ = stopped.wait_for(|stop| *stop) => Wake::Stop,
                _ = ticks.tick() => Wake::Tick,
                () = std::future::ready(()), if more => Wake::Work,
                Some(finished) = self.finished_receiver.recv() => {
                    self.unrecorded.push(finished);
                    Wake::Work
                }
                () = self.state.db.wait_for_commit() => Wake::Work,
            };
            if wake == Wake::Stop {
                return self.drain().await;
            }
            let pause = match self.run_round(wake).await {
                Ok(waiting) => {
                    more = waiting;
                    BATCH_WINDOW
                }
                Err(error) => {
                    tracing::error!(%error, "webhook dispatcher: database error; retrying");
                    ERROR_BACKOFF
                }
            };
            sleep(pause).await;
        }
    }

    /// Records results, fans out a batch of events, and starts attempts within the limits. Returns true if more events
    /// are pending. Each round does some of each, so that no backlog starves the others.
    async fn run_round(&mut self, wake: Wake) -> Result<bool> {
        // An error while recording or fanning out does not stop due deliveries.
        let ends = self.record_finished().await;
        let freed = ends.as_ref().is_ok_and(|freed| *freed);
        let now = self.state.clock.now();
        let suspended = if wake == Wake::Tick { suspend(&self.state.db, now).await } else { Ok(()) };
        let fanned_out = fan_out(&self.state, now).await;
        let is_full = fanned_out.as_ref().is_ok_and(|fanned_out| fanned_out.may_have_more);
        let mut limited = Ok(());
        if is_full || (wake == Wake::Tick && Instant::now() >= self.next_limit_check) {
            self.next_limit_check = Instant::now() + LIMIT_INTERVAL;
            limited = enforce_delivery_limit(&self.state, now).await;
        }
        let cancelled = match wake == Wake::Tick || self.cancels_pending {
            true => cancel_remaining(&self.state.db, now).await,
            false => Ok(false),
        };
        self.cancels_pending = cancelled.as_ref().is_ok_and(|more| *more);
        let events = fanned_out.as_ref().map_or(0, |fanned_out| fanned_out.events);
        // New deliveries, deliveries that waited for a slot, deliveries that have become due.
        if events > 0 || freed || wake == Wake::Tick {
            self.start_attempts(AttemptKind::First).await?;
        }
        if freed || wake == Wake::Tick {
            self.start_attempts(AttemptKind::Retry).await?;
        }
        ends?;
        suspended?;
        limited?;
        cancelled?;
        Ok(fanned_out?.may_have_more || self.cancels_pending)
    }

    /// Claims deliveries within the limits and starts their attempts.
    async fn start_attempts(&mut self, kind: AttemptKind) -> Result<usize> {
        let running_of_users = self.of_users.iter().map(|(user, running)| (*user, running.of(kind))).collect();
        let limits = ClaimLimits {
            slots: self.free_slots(kind),
            running_of_users,
            per_webhook: self.per_webhook,
            per_failing_webhook: FAILING_CONCURRENCY.min(self.per_webhook),
            running: &self.running,
        };
        let claims = delivery::claim(&self.state, kind, &limits, self.state.clock.now()).await?;
        let started = claims.len();
        for claim in claims {
            self.spawn_attempt(claim, kind);
        }
        Ok(started)
    }

    fn free_slots(&self, kind: AttemptKind) -> usize {
        let free = self.slots.saturating_sub(self.total);
        match kind {
            AttemptKind::First => free,
            // Half of the slots are reserved for first attempts.
            AttemptKind::Retry => free.min(self.slots.div_ceil(2).saturating_sub(self.retries)),
        }
    }

    fn spawn_attempt(&mut self, claim: Claim, kind: AttemptKind) {
        *self.running.entry(claim.webhook_id).or_default() += 1;
        let of_user = self.of_users.entry(claim.user_id).or_default();
        of_user.all += 1;
        of_user.retries += usize::from(kind == AttemptKind::Retry);
        self.total += 1;
        self.retries += usize::from(kind == AttemptKind::Retry);
        let (state, metrics) = (self.state.clone(), self.metrics.clone());
        let (transport, sender) = (self.transport.clone(), self.finished_sender.clone());
        tokio::spawn(async move {
            let finished = make_attempt(&metrics, &state.clock, transport, claim).await;
            let _ = sender.send(finished);
        });
    }

    /// Collects the results that have arrived, which are then recorded in one transaction.
    fn collect(&mut self) {
        while let Ok(finished) = self.finished_receiver.try_recv() {
            self.unrecorded.push(finished);
        }
    }

    /// Records results. Returns true if deliveries may have waited for the freed slots. A failure for one webhook does
    /// not keep the results of others from being recorded.
    async fn record_finished(&mut self) -> Result<bool> {
        self.collect();
        let ended = std::mem::take(&mut self.unrecorded);
        let Err(error) = record_results(&self.state.db, &ended).await else { return Ok(self.release_slots(ended)) };
        let mut by_webhook: BTreeMap<i64, Vec<FinishedAttempt>> = BTreeMap::new();
        for finished in ended {
            by_webhook.entry(finished.claim.webhook_id).or_default().push(finished);
        }
        let (is_single, mut failures) = (by_webhook.len() == 1, 0);
        for ended in by_webhook.into_values() {
            // Two failures mean that the database is at fault.
            if !is_single && failures < 2 && record_results(&self.state.db, &ended).await.is_ok() {
                self.release_slots(ended);
            } else {
                failures += 1;
                self.unrecorded.extend(ended);
            }
        }
        Err(error)
    }

    /// Frees the slots of recorded attempts. Returns true if deliveries may have waited for them.
    fn release_slots(&mut self, written: Vec<FinishedAttempt>) -> bool {
        let mut freed = !written.is_empty() && self.total >= self.slots;
        for FinishedAttempt { claim, .. } in written {
            let free = AttemptKind::ALL.map(|kind| (kind, self.free_slots(kind)));
            if let Some(of_user) = self.of_users.get_mut(&claim.user_id) {
                freed |= free.into_iter().any(|(kind, free)| of_user.of(kind) >= free);
                of_user.all -= 1;
                of_user.retries -= usize::from(claim.retries > 0);
                if of_user.all == 0 {
                    self.of_users.remove(&claim.user_id);
                }
            }
            self.total -= 1;
            self.retries -= usize::from(claim.retries > 0);
            if let Some(count) = self.running.get_mut(&claim.webhook_id) {
                freed |= *count
                    >= if claim.is_throttled() { FAILING_CONCURRENCY.min(self.per_webhook) } else { self.per_webhook };
                *count -= 1;
                if *count == 0 {
                    self.running.remove(&claim.webhook_id);
                }
            }
        }
        freed
    }

    /// Waits for running attempts and records their results.
    async fn drain(mut self) {
        let until = Instant::now() + DRAIN_TIMEOUT;
        while self.total > 0 {
            if self.unrecorded.is_empty() {
                match timeout_at(until, self.finished_receiver.recv()).await {
                    Ok(Some(finished)) => self.unrecorded.push(finished),
                    _ => break,
                }
            }
            if let Err(error) = self.record_finished().await {
                tracing::error!(%error, "webhook dispatcher: database error during shutdown; retrying");
                if Instant::now() + ERROR_BACKOFF > until {
                    break;
                }
                sleep(ERROR_BACKOFF).await;
            }
        }
        if self.total > 0 {
            tracing::warn!(
                left = self.total,
                "webhook dispatcher: attempts did not finish before the shutdown timeout; they will be repeated"
            );
        }
    }
}

impl RunningAttempts {
    /// Those that use the slots of a kind.
    fn of(&self, kind: AttemptKind) -> usize {
        match kind {
            AttemptKind::First => self.all,
            AttemptKind::Retry => self.retries,
        }
    }
}

/// Delivers pending events and due deliveries once, without a background task, and returns the number of attempts. For
/// tests that advance the clock.
///
/// # Errors
/// If the database fails.
pub async fn run_once(state: &Arc<State>, transport: Arc<dyn Transport>, slots: usize) -> Result<usize> {
    let mut dispatcher = {
        let webhooks = state.extension::<Webhooks>()?;
        let (per_webhook, metrics) = (webhooks.max_attempts_per_webhook, webhooks.metrics.clone());
        DispatchLoop::new(state.clone(), transport, slots, per_webhook, metrics)
    };
    suspend(&state.db, state.clock.now()).await?;
    while cancel_remaining(&state.db, state.clock.now()).await? {}
    while fan_out(state, state.clock.now()).await?.may_have_more {}
    enforce_delivery_limit(state, state.clock.now()).await?;
    let attempts =
        dispatcher.start_attempts(AttemptKind::First).await? + dispatcher.start_attempts(AttemptKind::Retry).await?;
    while dispatcher.total > 0 {
        let ended = dispatcher.finished_receiver.recv().await;
        dispatcher.unrecorded.extend(ended);
        dispatcher.record_finished().await?;
    }
    Ok(attempts)
}
