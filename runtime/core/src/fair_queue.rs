//! Semaphore whose permits are shared among clients: round robin between clients, first in, first out within one.
//!
//! A client holds at most its share of the permits, however many requests it sends. A permit that becomes free goes to
//! the client that has waited longest since its last one.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::client::{Caller, Client, Lane};

/// Limits of the permits that are held at once.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub all: usize,
    /// Of lists and writes. The rest is left to reads of one record, which are then never behind them.
    pub ordinary: usize,
    pub writes: usize,
    /// Of one client, for ordinary requests and for reads of one record separately. The server itself has no such limit.
    pub per_client: usize,
    /// Writes among them, so that a client's reads do not wait for its writes.
    pub writes_per_client: usize,
}

impl Limits {
    /// Limits of a pool of connections: a client leaves a quarter of them to the others.
    pub(crate) fn of_connections(size: u32) -> Limits {
        let all = (size as usize).max(1);
        let ordinary = all - all / 8;
        let per_client = (ordinary - (ordinary / 4).max(1)).max(1);
        Limits { all, ordinary, writes: ordinary, per_client, writes_per_client: per_client }
    }
}

/// The queue. Its clones share the permits.
#[derive(Debug, Clone)]
pub struct FairQueue {
    limits: Limits,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    held: Granted,
    /// The clients that hold a permit or wait for one.
    clients: HashMap<Client, ClientState>,
    /// The clients that wait; the first is the next.
    ring: VecDeque<Client>,
    waiting: usize,
    next_ticket: u64,
}

/// Permits by lane.
#[derive(Debug, Default, Clone, Copy)]
struct Granted {
    records: usize,
    reads: usize,
    writes: usize,
}

#[derive(Debug, Default)]
struct ClientState {
    held: Granted,
    /// By lane, because a write must not wait for a read that is refused, nor the reverse.
    waiting: [VecDeque<Waiter>; 3],
}

#[derive(Debug)]
struct Waiter {
    ticket: u64,
    granted: oneshot::Sender<()>,
}

/// Requests that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueLength {
    pub all: usize,
    /// Of the client of the request.
    pub own: usize,
}

/// A permit, until it is dropped.
#[derive(Debug)]
pub struct Permit {
    queue: FairQueue,
    caller: Caller,
}

/// A request in the queue. Dropped, it leaves the queue, or returns the permit that it was granted meanwhile.
struct Waiting<'q> {
    queue: &'q FairQueue,
    caller: Caller,
    ticket: u64,
}

impl FairQueue {
    pub fn new(limits: Limits) -> FairQueue {
        FairQueue { limits, state: Arc::default() }
    }

    /// Waits for a permit. If none is free, `may_wait` decides by the requests that wait: without it, there is none.
    pub async fn acquire(&self, caller: Caller, may_wait: impl FnOnce(QueueLength) -> bool) -> Option<Permit> {
        let (granted, receiver) = oneshot::channel();
        let waiting = {
            let mut state = self.lock();
            if state.may_start(caller, &self.limits) {
                state.start(caller);
                return Some(self.permit(caller));
            }
            if !may_wait(state.length(caller.client)) {
                return None;
            }
            let ticket = state.enqueue(caller, granted);
            Waiting { queue: self, caller, ticket }
        };
        // The sender stays in the queue until the permit is granted.
        let _ = receiver.await;
        std::mem::forget(waiting);
        Some(self.permit(caller))
    }

    /// A permit, if one is free.
    pub fn try_acquire(&self, caller: Caller) -> Option<Permit> {
        let mut state = self.lock();
        state.may_start(caller, &self.limits).then(|| {
            state.start(caller);
            self.permit(caller)
        })
    }

    /// Number of requests that wait, of a client and of all.
    pub fn length(&self, client: Client) -> QueueLength {
        self.lock().length(client)
    }

    /// True if a permit is free, and the client may not have it because it holds its share.
    pub fn is_share_used(&self, caller: Caller) -> bool {
        let state = self.lock();
        state.has_room(caller.lane, &self.limits) && state.has_share(caller, &self.limits)
    }

    fn permit(&self, caller: Caller) -> Permit {
        Permit { queue: self.clone(), caller }
    }

    fn release(&self, caller: Caller) {
        let mut state = self.lock();
        state.end(caller);
        while state.grant_next(&self.limits) {}
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// True if the limits allow another permit. Those who wait are not overtaken: none of them may start.
    fn may_start(&self, caller: Caller, limits: &Limits) -> bool {
        self.has_room(caller.lane, limits) && !self.has_share(caller, limits)
    }

    /// True if the limits of all clients together allow another permit.
    fn has_room(&self, lane: Lane, limits: &Limits) -> bool {
        self.held.records + self.held.ordinary() < limits.all
            && (lane == Lane::Record || self.held.ordinary() < limits.ordinary)
            && (lane != Lane::Write || self.held.writes < limits.writes)
    }

    /// True if the client holds as many permits as it may.
    fn has_share(&self, caller: Caller, limits: &Limits) -> bool {
        let held = self.clients.get(&caller.client).map(|client| client.held).unwrap_or_default();
        let is_used = match caller.lane {
            Lane::Record => held.records >= limits.per_client,
            Lane::Read => held.ordinary() >= limits.per_client,
            Lane::Write => held.ordinary() >= limits.per_client || held.writes >= limits.writes_per_client,
        };
        is_used && caller.client != Client::Server
    }

    fn start(&mut self, caller: Caller) {
        *self.held.of(caller.lane) += 1;
        *self.clients.entry(caller.client).or_default().held.of(caller.lane) += 1;
    }

    fn end(&mut self, caller: Caller) {
        *self.held.of(caller.lane) -= 1;
        if let Some(client) = self.clients.get_mut(&caller.client) {
            *client.held.of(caller.lane) -= 1;
        }
        self.forget_idle(caller.client);
    }

    fn enqueue(&mut self, caller: Caller, granted: oneshot::Sender<()>) -> u64 {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.waiting += 1;
        let client = self.clients.entry(caller.client).or_default();
        if client.waiting() == 0 {
            self.ring.push_back(caller.client);
        }
        client.waiting[caller.lane as usize].push_back(Waiter { ticket, granted });
        ticket
    }

    /// Removes a request from the queue; `false` if it was granted a permit already.
    fn cancel(&mut self, caller: Caller, ticket: u64) -> bool {
        let Some(client) = self.clients.get_mut(&caller.client) else { return false };
        let waiting = &mut client.waiting[caller.lane as usize];
        let Some(position) = waiting.iter().position(|waiter| waiter.ticket == ticket) else { return false };
        waiting.remove(position);
        self.waiting -= 1;
        if client.waiting() == 0 {
            self.ring.retain(|waiting| *waiting != caller.client);
        }
        self.forget_idle(caller.client);
        true
    }

    /// Grants a permit to the first client in the ring that may start, for the oldest of its requests that may.
    fn grant_next(&mut self, limits: &Limits) -> bool {
        let next = self.ring.iter().enumerate().find_map(|(position, client)| {
            let state = self.clients.get(client)?;
            let heads = LANES.into_iter().filter_map(|lane| Some((state.waiting[lane as usize].front()?.ticket, lane)));
            let ready = heads.filter(|(_, lane)| self.may_start(Caller { client: *client, lane: *lane }, limits));
            ready.min_by_key(|(ticket, _)| *ticket).map(|(_, lane)| (position, Caller { client: *client, lane }))
        });
        let Some((position, caller)) = next else { return false };
        self.ring.remove(position);
        let Some(client) = self.clients.get_mut(&caller.client) else { return false };
        let Some(waiter) = client.waiting[caller.lane as usize].pop_front() else { return false };
        self.waiting -= 1;
        if client.waiting() > 0 {
            self.ring.push_back(caller.client);
        }
        self.start(caller);
        // If the request gave up meanwhile, its guard returns the permit.
        let _ = waiter.granted.send(());
        true
    }

    fn length(&self, client: Client) -> QueueLength {
        let own = self.clients.get(&client).map_or(0, ClientState::waiting);
        QueueLength { all: self.waiting, own }
    }

    fn forget_idle(&mut self, client: Client) {
        if self.clients.get(&client).is_some_and(|state| state.waiting() == 0 && state.held.is_empty()) {
            self.clients.remove(&client);
        }
    }
}

const LANES: [Lane; 3] = [Lane::Record, Lane::Read, Lane::Write];

impl Granted {
    fn of(&mut self, lane: Lane) -> &mut usize {
        match lane {
            Lane::Record => &mut self.records,
            Lane::Read => &mut self.reads,
            Lane::Write => &mut self.writes,
        }
    }

    fn ordinary(&self) -> usize {
        self.reads + self.writes
    }

    fn is_empty(&self) -> bool {
        self.records + self.ordinary() == 0
    }
}

impl ClientState {
    fn waiting(&self) -> usize {
        self.waiting.iter().map(VecDeque::len).sum()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.queue.release(self.caller);
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let is_cancelled = self.queue.lock().cancel(self.caller, self.ticket);
        if !is_cancelled {
            self.queue.release(self.caller);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use futures_util::future::BoxFuture;

    use super::*;

    const LIMITS: Limits = Limits { all: 4, ordinary: 3, writes: 2, per_client: 2, writes_per_client: 1 };
    const ONE: Limits = Limits { all: 1, ordinary: 1, writes: 1, per_client: 1, writes_per_client: 1 };

    fn user(id: i64, lane: Lane) -> Caller {
        Caller { client: Client::User(id), lane }
    }

    fn waiter(queue: &FairQueue, caller: Caller) -> BoxFuture<'static, Permit> {
        let queue = queue.clone();
        let mut waiting = async move { queue.acquire(caller, |_| true).await.unwrap() }.boxed();
        assert!((&mut waiting).now_or_never().is_none(), "it waits");
        waiting
    }

    #[test]
    fn client_leaves_permits_to_others_and_reads_of_a_record_have_a_reserve() {
        let queue = FairQueue::new(LIMITS);
        let take = |id, lane| queue.try_acquire(user(id, lane));
        let write = take(1, Lane::Write);
        assert!(write.is_some() && take(1, Lane::Write).is_none());
        let held = [write, take(1, Lane::Read)];
        assert!(held.iter().all(Option::is_some));
        assert!(take(1, Lane::Read).is_none() && queue.is_share_used(user(1, Lane::Read)));
        let other = take(2, Lane::Read);
        assert!(other.is_some());
        assert!(take(3, Lane::Read).is_none(), "the rest is for reads of a record");
        assert!(!queue.is_share_used(user(1, Lane::Read)), "there is none for others either");
        let record = take(1, Lane::Record);
        assert!(record.is_some(), "also of the client whose share is used");
        assert!(take(2, Lane::Record).is_none(), "all permits are held");
        drop((held, other, record));
        let held: Vec<_> = (1..5).filter_map(|id| take(id, Lane::Write)).collect();
        assert_eq!(held.len(), LIMITS.writes);
        drop(held);
        assert!(queue.lock().clients.is_empty(), "idle clients take no memory");
        let server: Vec<_> = (0..9).filter_map(|_| queue.try_acquire(Caller::SERVER)).collect();
        assert_eq!(server.len(), LIMITS.ordinary, "the server has no share");
    }

    #[test]
    fn permits_go_round_the_clients_and_in_order_within_one() {
        let queue = FairQueue::new(ONE);
        let mut held = queue.try_acquire(user(9, Lane::Read)).unwrap();
        let order = [(1, 'a'), (1, 'b'), (1, 'c'), (2, 'd'), (2, 'e'), (3, 'f')];
        let mut waiting: Vec<_> =
            order.iter().map(|(id, name)| (*name, waiter(&queue, user(*id, Lane::Write)))).collect();
        let mut granted = String::new();
        while !waiting.is_empty() {
            drop(held);
            let position = (0..waiting.len()).find_map(|at| Some((at, (&mut waiting[at].1).now_or_never()?)));
            let (position, permit) = position.expect("one of them is granted the permit");
            held = permit;
            granted.push(waiting.remove(position).0);
        }
        assert_eq!(granted, "adfbec");
    }

    #[test]
    fn abandoned_request_leaves_the_queue_and_returns_a_permit_that_it_was_granted() {
        let queue = FairQueue::new(ONE);
        let held = queue.try_acquire(user(1, Lane::Read)).unwrap();
        let (first, second, third) = (
            waiter(&queue, user(2, Lane::Read)),
            waiter(&queue, user(3, Lane::Read)),
            waiter(&queue, user(4, Lane::Read)),
        );
        assert_eq!(queue.length(Client::User(2)), QueueLength { all: 3, own: 1 });
        drop(first);
        assert_eq!(queue.length(Client::User(2)), QueueLength { all: 2, own: 0 });
        let refused = queue.acquire(user(2, Lane::Read), |length| length.all < 2).now_or_never();
        assert!(matches!(refused, Some(None)));
        drop(held);
        // Granted, but not polled since.
        drop(second);
        assert!(third.now_or_never().is_some());
        assert!(queue.lock().clients.is_empty() && queue.lock().ring.is_empty());
    }

    #[test]
    fn connections_are_shared_by_the_size_of_the_pool() {
        let limits = |size| {
            let limits = Limits::of_connections(size);
            (limits.all, limits.ordinary, limits.per_client)
        };
        assert_eq!([1, 2, 4, 8, 32].map(limits), [(1, 1, 1), (2, 2, 1), (4, 4, 3), (8, 7, 6), (32, 28, 21)]);
    }
}
