//! Claims: one worker holds a delivery at a time, the leases of the dead are taken over, and those of the living are not.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use charter_runtime::db::Sql;
use charter_runtime::webhook::Engine;
use chrono::{DateTime, Utc};
use serde_json::json;
use tokio::sync::Semaphore;

use super::{Receiver, SLOTS, answer, count, deliver, none, role, statuses, values, webhook};
use crate::support::{Server, on_both};

on_both!(
    no_two_processes_attempt_a_delivery_at_once,
    a_lease_is_taken_over_once_it_is_over_and_its_worker_completes_nothing,
    a_delivery_that_another_took_is_not_completed_by_whoever_held_it,
    what_is_queued_again_during_an_attempt_has_its_whole_schedule,
    an_attempt_that_is_logged_already_is_not_logged_again,
    no_transaction_is_open_while_an_attempt_is_under_way,
    stopping_claims_nothing_more_and_waits_for_attempts_under_way,
    an_event_wakes_the_engine_at_once,
    the_engine_finds_what_another_process_committed,
);

async fn no_two_processes_attempt_a_delivery_at_once(server: Server) {
    webhook(&server, &["*"]).await;
    for _ in 0..30 {
        role(&server).await;
    }
    let others = [server.second_node().await, server.second_node().await, server.second_node().await];
    let receiver = Receiver::slow(Duration::from_millis(20), |_| answer(200));
    for _ in 0..8 {
        let rounds = [&server, &others[0], &others[1], &others[2]].map(|server| deliver(server, &receiver));
        let [one, two, three, four] = rounds;
        tokio::join!(one, two, three, four);
    }
    let sent = receiver.take();
    assert_eq!(sent.iter().map(|s| &s.uid).collect::<HashSet<_>>().len(), 30);
    assert_eq!((sent.len(), count(&server, "webhook_logs").await), (30, 30));
    for other in &others {
        other.state.db.close().await;
    }
}

/// Begins an attempt that ends when the test says so.
async fn held(server: &Server, status: u16) -> (Arc<Semaphore>, tokio::task::JoinHandle<usize>) {
    let gate = Arc::new(Semaphore::new(0));
    let receiver = Held { gate: gate.clone(), status, begun: Semaphore::new(0), at: OnceLock::new() };
    (gate, begin(server, Arc::new(receiver)).await)
}

/// Begins an attempt to this receiver.
async fn begin(server: &Server, receiver: Arc<Held>) -> tokio::task::JoinHandle<usize> {
    let (state, exchange) = (server.state.clone(), receiver.clone());
    let task =
        tokio::spawn(async move { charter_runtime::webhook::round(&state, exchange, 1).await.expect("a round") });
    receiver.begun.acquire().await.expect("it is open").forget();
    task
}

#[derive(Debug)]
struct Held {
    gate: Arc<Semaphore>,
    status: u16,
    begun: Semaphore,
    /// When the first attempt began.
    at: OnceLock<DateTime<Utc>>,
}

impl charter_runtime::webhook::exchange::Exchange for Held {
    fn send<'a>(
        &'a self,
        attempt: &'a charter_runtime::webhook::exchange::Attempt,
    ) -> charter_runtime::ops::BoxFuture<'a, charter_runtime::webhook::exchange::Outcome> {
        Box::pin(async move {
            self.at.get_or_init(|| attempt.at);
            self.begun.add_permits(1);
            self.gate.acquire().await.expect("it is open").forget();
            answer(self.status)
        })
    }
}

async fn a_lease_is_taken_over_once_it_is_over_and_its_worker_completes_nothing(server: Server) {
    webhook(&server, &["*"]).await;
    role(&server).await;
    let (gate, first) = held(&server, 500).await;
    let receiver = Receiver::answering(200);
    server.state.clock.turn(Duration::from_secs(44));
    assert_eq!(deliver(&server, &receiver).await, 0, "the lease holds");
    server.state.clock.turn(Duration::from_secs(2));
    assert_eq!(deliver(&server, &receiver).await, 1, "and is taken within a minute");
    assert_eq!(receiver.take()[0].number, 1);
    assert_eq!(statuses(&server).await, ["delivered"]);
    // The worker that was taken for dead comes back with a failure.
    gate.add_permits(1);
    assert_eq!(first.await.expect("it ends"), 1);
    assert_eq!(statuses(&server).await, ["delivered"]);
    assert_eq!(values::<i32>(&server, "SELECT attempts AS v FROM webhook_deliveries").await, [1]);
    assert_eq!(count(&server, "webhooks WHERE failing_since IS NULL").await, 1);
    // Both attempts were made, and both are told.
    let logged = values::<Option<i32>>(&server, "SELECT response_status AS v FROM webhook_logs ORDER BY id").await;
    assert_eq!(logged, [Some(200), Some(500)]);
    assert_eq!(deliver(&server, &receiver).await, 0);
}

async fn a_delivery_that_another_took_is_not_completed_by_whoever_held_it(server: Server) {
    webhook(&server, &["*"]).await;
    role(&server).await;
    let (first_gate, first) = held(&server, 200).await;
    server.state.clock.turn(Duration::from_secs(46));
    let (second_gate, second) = held(&server, 200).await;
    first_gate.add_permits(1);
    first.await.expect("it ends");
    // It is still the second's, and nobody else's.
    assert_eq!(statuses(&server).await, ["pending"]);
    assert_eq!(deliver(&server, &Receiver::answering(200)).await, 0);
    second_gate.add_permits(1);
    second.await.expect("it ends");
    assert_eq!(statuses(&server).await, ["delivered"]);
}

/// It was cancelled while its last attempt was under way, and asked for again.
async fn what_is_queued_again_during_an_attempt_has_its_whole_schedule(server: Server) {
    let id = webhook(&server, &["*"]).await;
    let begun = server.state.clock.now();
    role(&server).await;
    for _ in 0..6 {
        deliver(&server, &Receiver::answering(500)).await;
        server.state.clock.turn(Duration::from_secs(10 * 3600));
    }
    let (gate, last) = held(&server, 500).await;
    let admin = server.admin();
    for is_active in [false, true] {
        admin.put(&format!("/webhooks/{id}"), json!({ "is_active": is_active })).await.ok();
    }
    admin.post(&format!("/webhooks/{id}/recover"), json!({ "since": begun })).await.ok();
    gate.add_permits(1);
    last.await.expect("it ends");
    assert_eq!(statuses(&server).await, ["pending"]);
    assert_eq!(values::<i32>(&server, "SELECT retries AS v FROM webhook_deliveries").await, [1]);
}

/// As when the word of a commit was lost: the delivery is completed and the attempt logged, and both are to be again.
async fn an_attempt_that_is_logged_already_is_not_logged_again(server: Server) {
    let hook = webhook(&server, &["*"]).await;
    role(&server).await;
    let receiver = Arc::new(Held {
        gate: Arc::new(Semaphore::new(0)),
        status: 200,
        begun: Semaphore::new(0),
        at: OnceLock::new(),
    });
    let round = begin(&server, receiver.clone()).await;
    let at = *receiver.at.get().expect("it has begun");
    let mut log = Sql::new(
        server.state.db.dialect(),
        "INSERT INTO webhook_logs (webhook_id, event, delivery_id, attempt, response_status, duration_ms, created_at, url, sent_at) \
         SELECT webhook_id, 'role.created', uid, 1, 200, 1, ",
    );
    log.bind(at).push(", 'https://receiver.example/', ").bind(at).push(" FROM webhook_deliveries");
    let transaction = server.state.db.begin().await.expect("a transaction begins");
    log.run(&transaction).await.expect("it is logged");
    transaction.commit().await.expect("it commits");
    server.sql("UPDATE webhook_deliveries SET status = 'delivered', attempts = 1, lease_owner = NULL").await;
    receiver.gate.add_permits(1);
    assert_eq!(round.await.expect("it ends"), 1);
    assert_eq!(statuses(&server).await, ["delivered"]);
    assert_eq!(count(&server, &format!("webhook_logs WHERE webhook_id = {hook}")).await, 1);
}

async fn no_transaction_is_open_while_an_attempt_is_under_way(server: Server) {
    webhook(&server, &["*"]).await;
    role(&server).await;
    let (gate, round) = held(&server, 200).await;
    // On SQLite another writer would wait in vain; PostgreSQL tells.
    role(&server).await;
    if server.database == crate::support::Database::Postgres {
        let open = "pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'";
        // What the request does beside its answer may be between two statements of its own.
        none(&server, open).await;
    }
    gate.add_permits(1);
    round.await.expect("it ends");
}

async fn stopping_claims_nothing_more_and_waits_for_attempts_under_way(server: Server) {
    webhook(&server, &["*"]).await;
    role(&server).await;
    let receiver = Receiver::slow(Duration::from_millis(300), |_| answer(200));
    let engine = Engine::start(server.state.clone(), receiver.clone(), SLOTS);
    eventually(|| receiver.count() == 1).await;
    let stopping = tokio::spawn(engine.stop());
    tokio::time::sleep(Duration::from_millis(20)).await;
    role(&server).await;
    stopping.await.expect("it stops");
    assert_eq!(receiver.count(), 1, "what came later waits for the next start");
    assert_eq!(statuses(&server).await, ["delivered"]);
    let engine = Engine::start(server.state.clone(), receiver.clone(), SLOTS);
    eventually(|| receiver.count() == 2).await;
    engine.stop().await;
    assert_eq!(statuses(&server).await, ["delivered"; 2]);
}

async fn an_event_wakes_the_engine_at_once(server: Server) {
    webhook(&server, &["*"]).await;
    let receiver = Receiver::answering(200);
    let engine = Engine::start(server.state.clone(), receiver.clone(), SLOTS);
    let mut delays = Vec::new();
    for number in 1..=9 {
        role(&server).await;
        let begun = Instant::now();
        eventually(|| receiver.count() == number).await;
        delays.push(begun.elapsed());
    }
    engine.stop().await;
    delays.sort();
    // A poll would take 125 ms in the middle.
    assert!(delays[4] < Duration::from_millis(100), "{delays:?}");
}

async fn the_engine_finds_what_another_process_committed(server: Server) {
    webhook(&server, &["*"]).await;
    let receiver = Receiver::answering(200);
    let engine = Engine::start(server.state.clone(), receiver.clone(), SLOTS);
    let other = server.second_node().await;
    let begun = Instant::now();
    role(&other).await;
    eventually(|| receiver.count() == 1).await;
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    engine.stop().await;
    other.state.db.close().await;
}

pub async fn eventually(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it does not come to pass");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
