//! Isolation of webhooks: limited slots for each, fewer for a failing one, and half of the slots for first attempts.

use std::time::Duration;

use charter_runtime::db::Dialect;
use charter_runtime::webhook::Dispatcher;
use serde_json::json;

use super::claims::eventually;
use super::{Receiver, SLOTS, answer, count, deliver, none, repeat, role, values, webhook};
use crate::support::{Server, on_both};

on_both!(
    concurrency_of_one_webhook_is_limited,
    failing_webhook_gets_two_slots,
    half_of_the_slots_are_reserved_for_first_attempts,
    hanging_webhooks_of_one_user_do_not_delay_another_user,
    backlog_of_one_webhook_does_not_delay_others,
    idle_webhook_is_served_before_older_backlogs,
    new_events_are_fanned_out_during_a_backlog,
    dispatcher_stops_while_events_are_pending,
    failed_write_for_one_webhook_does_not_block_others,
);

async fn concurrency_of_one_webhook_is_limited(server: Server) {
    webhook(&server, &["*"]).await;
    for _ in 0..20 {
        role(&server).await;
    }
    let receiver = Receiver::slow(Duration::from_millis(20), |_| answer(200));
    assert_eq!(deliver(&server, &receiver).await, 16);
    assert_eq!(receiver.most_at_once(), 16);
    assert_eq!(deliver(&server, &receiver).await, 4);
}

async fn failing_webhook_gets_two_slots(server: Server) {
    let (dead, alive) = (webhook(&server, &["*"]).await, webhook(&server, &["*"]).await);
    for _ in 0..6 {
        role(&server).await;
    }
    let receiver = Receiver::new(move |attempt| answer(if attempt.webhook_id == dead { 500 } else { 200 }));
    assert_eq!(deliver(&server, &receiver).await, 12);
    receiver.take();
    // A single failure does not throttle; a minute of failures does.
    role(&server).await;
    assert_eq!(deliver(&server, &receiver).await, 2);
    server.state.clock.advance(Duration::from_secs(3600));
    for _ in 0..6 {
        role(&server).await;
    }
    receiver.take();
    deliver(&server, &receiver).await;
    let told = receiver.take();
    let of =
        |webhook: i64, first: bool| told.iter().filter(|s| s.webhook_id == webhook && (s.number == 1) == first).count();
    assert_eq!((of(alive, true), of(dead, true), of(dead, false)), (6, 2, 0));
}

async fn half_of_the_slots_are_reserved_for_first_attempts(server: Server) {
    for _ in 0..4 {
        webhook(&server, &["*"]).await;
    }
    for _ in 0..3 {
        role(&server).await;
    }
    let receiver = Receiver::answering(500);
    assert_eq!(deliver(&server, &receiver).await, 12);
    server.state.clock.advance(Duration::from_secs(34));
    receiver.take();
    let made = charter_runtime::webhook::run_once(&server.state, receiver.clone(), 20).await.expect("a round");
    assert_eq!(made, 5);
    assert!(receiver.take().iter().all(|s| s.number == 2));
    role(&server).await;
    let made = charter_runtime::webhook::run_once(&server.state, receiver.clone(), 20).await.expect("a round");
    let sent = receiver.take();
    let firsts = sent.iter().filter(|s| s.number == 1).count();
    assert_eq!((made, firsts), (9, 4), "the first attempts go first");
}

/// The receivers of two users hang; one of them has a hundred webhooks.
async fn hanging_webhooks_of_one_user_do_not_delay_another_user(server: Server) {
    let mut users = Vec::new();
    for _ in 0..2 {
        let (user, _) = server.user(&[], &["*"]).await;
        users.push(user["id"].as_i64().expect("an id"));
    }
    let mut webhooks = Vec::new();
    for _ in 0..101 {
        webhooks.push(webhook(&server, &["role.created"]).await);
    }
    let other = webhook(&server, &["role.deleted"]).await;
    for (webhook, user) in [(webhooks[100], users[0]), (other, users[1])] {
        server.sql(&format!("UPDATE webhooks SET user_id = {user} WHERE id = {webhook}")).await;
    }
    let receiver = Receiver::slow(Duration::from_secs(15), |_| answer(200));
    let dispatcher =
        Dispatcher::start(server.state.state.clone(), receiver.clone(), SLOTS).expect("the dispatcher starts");
    let create = async |name: &str| server.admin().post("/roles", json!({ "name": name })).await.created("role");
    let id = create("Gone").await["id"].clone();
    create("Another").await;
    eventually(|| receiver.count() >= SLOTS / 2).await;
    let start = std::time::Instant::now();
    server.admin().delete(&format!("/roles/{id}")).await.deleted();
    eventually(|| receiver.seen.lock().expect("no test panicked").iter().any(|sent| sent.webhook_id == other)).await;
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    assert!(receiver.count() < SLOTS, "some slots stay free");
    drop(dispatcher);
}

async fn backlog_of_one_webhook_does_not_delay_others(server: Server) {
    let (busy, other) = (webhook(&server, &["*"]).await, webhook(&server, &["role.deleted"]).await);
    for _ in 0..40 {
        role(&server).await;
    }
    server.admin().delete("/roles/3").await.deleted();
    let receiver = Receiver::answering(200);
    deliver(&server, &receiver).await;
    let told = receiver.take();
    assert_eq!(told.iter().filter(|s| s.webhook_id == busy).count(), 16);
    assert_eq!(told.iter().filter(|s| s.webhook_id == other).count(), 1);
    assert_eq!(
        values::<i64>(&server, "SELECT COUNT(*) AS v FROM webhook_deliveries WHERE status = 'pending'").await,
        [25]
    );
}

async fn idle_webhook_is_served_before_older_backlogs(server: Server) {
    for _ in 0..SLOTS / 32 {
        webhook(&server, &["role.created"]).await;
    }
    let other = webhook(&server, &["role.deleted"]).await;
    for _ in 0..20 {
        role(&server).await;
    }
    server.admin().delete("/roles/3").await.deleted();
    let receiver = Receiver::answering(200);
    assert_eq!(deliver(&server, &receiver).await, SLOTS / 2, "the rest is for other users");
    assert!(receiver.take().iter().any(|sent| sent.webhook_id == other), "its event is the last of all");
}

async fn new_events_are_fanned_out_during_a_backlog(server: Server) {
    let (busy, other) = (webhook(&server, &["role.created"]).await, webhook(&server, &["role.deleted"]).await);
    role(&server).await;
    deliver(&server, &Receiver::answering(200)).await;
    repeat(&server, 4000).await;
    let columns = "uid, webhook_id, event_id, manual, due_at, created_at";
    let sql = format!(
        "INSERT INTO webhook_deliveries ({columns}) SELECT 'msg_' || e.id, {busy}, e.id, false, e.created_at, e.created_at \
         FROM events e WHERE e.name = 'role.created' AND e.id > (SELECT MAX(event_id) FROM webhook_deliveries)"
    );
    server.sql(&sql).await;
    let receiver = Receiver::slow(Duration::from_millis(5), |_| answer(200));
    let dispatcher =
        Dispatcher::start(server.state.state.clone(), receiver.clone(), SLOTS).expect("the dispatcher starts");
    eventually(|| receiver.count() > 50).await;
    server.admin().delete("/roles/3").await.deleted();
    eventually(|| receiver.seen.lock().expect("no test panicked").iter().any(|sent| sent.webhook_id == other)).await;
    let left = count(&server, "webhook_deliveries WHERE status = 'pending'").await;
    dispatcher.stop().await;
    assert!(left > 0, "the backlog went first");
}

async fn dispatcher_stops_while_events_are_pending(server: Server) {
    webhook(&server, &["role.created"]).await;
    role(&server).await;
    repeat(&server, 30_000).await;
    let receiver = Receiver::answering(200);
    let dispatcher =
        Dispatcher::start(server.state.state.clone(), receiver.clone(), SLOTS).expect("the dispatcher starts");
    eventually(|| receiver.count() > 0).await;
    dispatcher.stop().await;
    let made = receiver.count();
    assert!(count(&server, "events WHERE fanned_out_at IS NULL").await > 0, "it went on to the last event");
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(receiver.count(), made, "nothing is begun any more");
}

async fn failed_write_for_one_webhook_does_not_block_others(server: Server) {
    let (broken, other) = (webhook(&server, &["*"]).await, webhook(&server, &["*"]).await);
    let refuse = match server.state.db.dialect() {
        Dialect::Postgres => format!("ALTER TABLE webhook_logs ADD CHECK (webhook_id <> {broken}) NOT VALID"),
        Dialect::Sqlite => format!(
            "CREATE TRIGGER broken BEFORE INSERT ON webhook_logs WHEN NEW.webhook_id = {broken} \
             BEGIN SELECT RAISE(ABORT, 'broken'); END"
        ),
    };
    server.sql(&refuse).await;
    let dispatcher =
        Dispatcher::start(server.state.state.clone(), Receiver::answering(200), SLOTS).expect("the dispatcher starts");
    for number in 1..=3 {
        role(&server).await;
        let fewer = format!("webhooks WHERE (SELECT COUNT(*) FROM webhook_logs WHERE webhook_id = {other}) < {number}");
        none(&server, &fewer).await;
    }
    dispatcher.stop().await;
}
