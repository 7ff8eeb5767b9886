//! Claims: one worker at a time leases a delivery, and only an expired lease is claimed again.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use charter_runtime::db::Sql;
use charter_runtime::webhook::Dispatcher;
use chrono::{DateTime, Utc};
use serde_json::json;
use tokio::sync::Semaphore;

use super::{Receiver, SLOTS, answer, count, deliver, none, role, statuses, values, webhook};
use crate::support::{Server, on_both};

on_both!(
    delivery_is_attempted_by_one_process_at_a_time,
    expired_lease_is_claimed_again_and_the_late_result_is_ignored,
    result_of_a_lost_lease_does_not_complete_the_delivery,
    delivery_requeued_during_an_attempt_gets_all_retries,
    attempt_is_logged_once_even_if_its_commit_is_repeated,
    no_transaction_is_open_during_an_attempt,
    shutdown_stops_claiming_and_waits_for_running_attempts,
    event_wakes_the_dispatcher_at_once,
    dispatcher_finds_events_of_other_processes,
);

async fn delivery_is_attempted_by_one_process_at_a_time(server: Server) {
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

/// Starts an attempt that ends when the test opens the gate.
async fn begin_gated(server: &Server, status: u16) -> (Arc<Semaphore>, tokio::task::JoinHandle<usize>) {
    let gate = Arc::new(Semaphore::new(0));
    let receiver = GatedTransport { gate: gate.clone(), status, begun: Semaphore::new(0), at: OnceLock::new() };
    (gate, begin(server, Arc::new(receiver)).await)
}

/// Starts an attempt at this receiver.
async fn begin(server: &Server, receiver: Arc<GatedTransport>) -> tokio::task::JoinHandle<usize> {
    let (state, transport) = (server.state.clone(), receiver.clone());
    let task =
        tokio::spawn(async move { charter_runtime::webhook::run_once(&state, transport, 1).await.expect("a round") });
    receiver.begun.acquire().await.expect("it is open").forget();
    task
}

#[derive(Debug)]
struct GatedTransport {
    gate: Arc<Semaphore>,
    status: u16,
    begun: Semaphore,
    /// Start of the first attempt.
    at: OnceLock<DateTime<Utc>>,
}

impl charter_runtime::webhook::transport::Transport for GatedTransport {
    fn send<'a>(
        &'a self,
        attempt: &'a charter_runtime::webhook::transport::Attempt,
    ) -> charter_runtime::ops::BoxFuture<'a, charter_runtime::webhook::transport::Outcome> {
        Box::pin(async move {
            self.at.get_or_init(|| attempt.at);
            self.begun.add_permits(1);
            self.gate.acquire().await.expect("it is open").forget();
            answer(self.status)
        })
    }
}

async fn expired_lease_is_claimed_again_and_the_late_result_is_ignored(server: Server) {
    webhook(&server, &["*"]).await;
    role(&server).await;
    let (gate, first) = begin_gated(&server, 500).await;
    let receiver = Receiver::answering(200);
    server.state.clock.advance(Duration::from_secs(44));
    assert_eq!(deliver(&server, &receiver).await, 0, "the lease holds");
    server.state.clock.advance(Duration::from_secs(2));
    assert_eq!(deliver(&server, &receiver).await, 1, "and is taken within a minute");
    assert_eq!(receiver.take()[0].number, 1);
    assert_eq!(statuses(&server).await, ["delivered"]);
    // The worker whose lease expired reports a failure.
    gate.add_permits(1);
    assert_eq!(first.await.expect("it ends"), 1);
    assert_eq!(statuses(&server).await, ["delivered"]);
    assert_eq!(values::<i32>(&server, "SELECT attempts AS v FROM webhook_deliveries").await, [1]);
    assert_eq!(count(&server, "webhooks WHERE failing_since IS NULL").await, 1);
    // Both attempts are logged.
    let logged = values::<Option<i32>>(&server, "SELECT response_status AS v FROM webhook_logs ORDER BY id").await;
    assert_eq!(logged, [Some(200), Some(500)]);
    assert_eq!(deliver(&server, &receiver).await, 0);
}

async fn result_of_a_lost_lease_does_not_complete_the_delivery(server: Server) {
    webhook(&server, &["*"]).await;
    role(&server).await;
    let (first_gate, first) = begin_gated(&server, 200).await;
    server.state.clock.advance(Duration::from_secs(46));
    let (second_gate, second) = begin_gated(&server, 200).await;
    first_gate.add_permits(1);
    first.await.expect("it ends");
    // The second worker still has the lease.
    assert_eq!(statuses(&server).await, ["pending"]);
    assert_eq!(deliver(&server, &Receiver::answering(200)).await, 0);
    second_gate.add_permits(1);
    second.await.expect("it ends");
    assert_eq!(statuses(&server).await, ["delivered"]);
}

/// The delivery is cancelled during its last attempt and then recovered.
async fn delivery_requeued_during_an_attempt_gets_all_retries(server: Server) {
    let id = webhook(&server, &["*"]).await;
    let begun = server.state.clock.now();
    role(&server).await;
    for _ in 0..6 {
        deliver(&server, &Receiver::answering(500)).await;
        server.state.clock.advance(Duration::from_secs(10 * 3600));
    }
    let (gate, last) = begin_gated(&server, 500).await;
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

/// As after a lost commit acknowledgement: the delivery is completed and the attempt logged, and both are written
/// again.
async fn attempt_is_logged_once_even_if_its_commit_is_repeated(server: Server) {
    let hook = webhook(&server, &["*"]).await;
    role(&server).await;
    let receiver = Arc::new(GatedTransport {
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

async fn no_transaction_is_open_during_an_attempt(server: Server) {
    webhook(&server, &["*"]).await;
    role(&server).await;
    let (gate, round) = begin_gated(&server, 200).await;
    // On SQLite this write would time out; PostgreSQL reports open transactions.
    role(&server).await;
    if server.database == crate::support::Database::Postgres {
        let open = "pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'";
        // The request may still be writing in the background.
        none(&server, open).await;
    }
    gate.add_permits(1);
    round.await.expect("it ends");
}

async fn shutdown_stops_claiming_and_waits_for_running_attempts(server: Server) {
    webhook(&server, &["*"]).await;
    role(&server).await;
    let receiver = Receiver::slow(Duration::from_millis(300), |_| answer(200));
    let dispatcher =
        Dispatcher::start(server.state.state.clone(), receiver.clone(), SLOTS).expect("the dispatcher starts");
    eventually(|| receiver.count() == 1).await;
    let stopping = tokio::spawn(dispatcher.stop());
    tokio::time::sleep(Duration::from_millis(20)).await;
    role(&server).await;
    stopping.await.expect("it stops");
    assert_eq!(receiver.count(), 1, "what came later waits for the next start");
    assert_eq!(statuses(&server).await, ["delivered"]);
    let dispatcher =
        Dispatcher::start(server.state.state.clone(), receiver.clone(), SLOTS).expect("the dispatcher starts");
    eventually(|| receiver.count() == 2).await;
    dispatcher.stop().await;
    assert_eq!(statuses(&server).await, ["delivered"; 2]);
}

async fn event_wakes_the_dispatcher_at_once(server: Server) {
    webhook(&server, &["*"]).await;
    let receiver = Receiver::answering(200);
    let dispatcher =
        Dispatcher::start(server.state.state.clone(), receiver.clone(), SLOTS).expect("the dispatcher starts");
    let mut delays = Vec::new();
    for number in 1..=9 {
        role(&server).await;
        let begun = Instant::now();
        eventually(|| receiver.count() == number).await;
        delays.push(begun.elapsed());
    }
    dispatcher.stop().await;
    delays.sort();
    // Polling alone would take 125 ms on average.
    assert!(delays[4] < Duration::from_millis(100), "{delays:?}");
}

async fn dispatcher_finds_events_of_other_processes(server: Server) {
    webhook(&server, &["*"]).await;
    let receiver = Receiver::answering(200);
    let dispatcher =
        Dispatcher::start(server.state.state.clone(), receiver.clone(), SLOTS).expect("the dispatcher starts");
    let other = server.second_node().await;
    let begun = Instant::now();
    role(&other).await;
    eventually(|| receiver.count() == 1).await;
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    dispatcher.stop().await;
    other.state.db.close().await;
}

pub async fn eventually(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it does not come to pass");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
