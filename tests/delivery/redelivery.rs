//! Deliveries at a user's request: test events, resends and recovery.

use std::time::Duration;

use charter_runtime::db::{Dialect, Sql};
use charter_runtime::error::Error;
use charter_runtime::webhook::redelivery;
use chrono::{DateTime, Utc};
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::{Receiver, answer, count, deliver, none, repeat, role, statuses, values, webhook};
use crate::support::{Server, on_both, poll_times};

on_both!(
    test_event_is_sent_at_once_in_one_attempt,
    resent_delivery_keeps_its_id,
    failed_resend_leaves_the_schedule_unchanged,
    delivery_in_progress_cannot_be_resent,
    delivery_of_a_process_with_a_fast_clock_can_be_resent,
    disconnected_client_leaves_no_lease_behind,
    disconnected_client_leaves_no_idempotency_key_in_progress,
    test_event_is_logged_while_others_write,
    recovery_queues_missed_events_and_keeps_delivery_ids,
    recovery_queues_a_long_backlog_completely_and_once,
    recovery_skips_events_that_are_no_longer_subscribed,
);

async fn uid(server: &Server) -> String {
    values(server, "SELECT uid AS v FROM webhook_deliveries ORDER BY id").await.remove(0)
}

async fn test_event_is_sent_at_once_in_one_attempt(server: Server) {
    let id = webhook(&server, &["role.created"]).await;
    server.sql("UPDATE webhooks SET is_active = false").await;
    let receiver = Receiver::answering(500);
    let outcome = redelivery::test(&server.state, receiver.clone(), id, None).await.expect("it is sent");
    assert_eq!((outcome.status, outcome.is_delivered()), (Some(500), false));
    let sent = receiver.take().remove(0);
    let body: Value = serde_json::from_str(&sent.body).expect("JSON");
    assert_eq!((&*sent.event, &body["event"]), ("webhook.test", &Value::from("webhook.test")));
    assert_eq!(body["data"]["webhook"]["id"], id);
    server.state.clock.advance(Duration::from_secs(24 * 3600));
    server.sql("UPDATE webhooks SET is_active = true").await;
    assert_eq!(deliver(&server, &receiver).await, 0);
    assert_eq!(statuses(&server).await, ["failed"]);
    assert_eq!(count(&server, "webhook_logs WHERE event = 'webhook.test' AND response_status = 500").await, 1);
    redelivery::test(&server.state, Receiver::answering(202), id, None).await.expect("it is sent");
    assert_eq!(statuses(&server).await, ["failed", "delivered"]);
}

async fn resent_delivery_keeps_its_id(server: Server) {
    let id = webhook(&server, &["*"]).await;
    role(&server).await;
    let receiver = Receiver::answering(200);
    deliver(&server, &receiver).await;
    let uid = uid(&server).await;
    let outcome = redelivery::resend(&server.state, receiver.clone(), id, &uid).await.expect("it is sent");
    assert!(outcome.is_delivered());
    let sent = receiver.take();
    assert_eq!(sent.iter().map(|s| s.number).collect::<Vec<_>>(), [1, 2]);
    assert!(sent[0].uid == uid && sent[1].uid == uid && sent[0].body == sent[1].body);
    assert_eq!(count(&server, "webhook_logs").await, 2);
    // A delivery of another webhook is not found.
    let other = webhook(&server, &["*"]).await;
    let refused = redelivery::resend(&server.state, receiver.clone(), other, &uid).await;
    assert!(matches!(refused, Err(Error::NotFound)), "{refused:?}");
}

async fn failed_resend_leaves_the_schedule_unchanged(server: Server) {
    let id = webhook(&server, &["*"]).await;
    role(&server).await;
    deliver(&server, &Receiver::answering(500)).await;
    let before: Vec<DateTime<Utc>> = values(&server, "SELECT due_at AS v FROM webhook_deliveries").await;
    let receiver = Receiver::answering(500);
    redelivery::resend(&server.state, receiver.clone(), id, &uid(&server).await).await.expect("it is sent");
    let after: Vec<DateTime<Utc>> = values(&server, "SELECT due_at AS v FROM webhook_deliveries").await;
    assert_eq!((before, statuses(&server).await), (after, vec!["pending".to_string()]));
    assert_eq!(values::<i32>(&server, "SELECT retries AS v FROM webhook_deliveries").await, [1]);
    server.state.clock.advance(Duration::from_secs(34));
    deliver(&server, &receiver).await;
    assert_eq!(receiver.take().iter().map(|s| s.number).collect::<Vec<_>>(), [2, 3]);
    // A success completes the delivery.
    redelivery::resend(&server.state, Receiver::answering(200), id, &uid(&server).await).await.expect("it is sent");
    server.state.clock.advance(Duration::from_secs(3600));
    assert_eq!((deliver(&server, &receiver).await, statuses(&server).await), (0, vec!["delivered".to_string()]));
    // A later failure does not undo the success.
    redelivery::resend(&server.state, Receiver::answering(500), id, &uid(&server).await).await.expect("it is sent");
    assert_eq!(statuses(&server).await, ["delivered"]);
}

/// Other transactions may write for longer than a request waits for the write lock.
async fn test_event_is_logged_while_others_write(server: Server) {
    let id = webhook(&server, &["*"]).await;
    let receiver = Receiver::slow(Duration::from_millis(300), |_| answer(200));
    let (state, sending) = (server.state.clone(), receiver.clone());
    let sent = tokio::spawn(async move { redelivery::test(&state, sending, id, None).await });
    super::claims::eventually(|| receiver.count() == 1).await;
    let other = server.state.db.begin().await.expect("a transaction begins");
    if server.state.db.dialect() == Dialect::Postgres {
        Sql::new(Dialect::Postgres, "LOCK TABLE webhook_logs").run(&other).await.expect("the table is locked");
    }
    tokio::time::sleep(Duration::from_secs(7)).await;
    other.commit().await.expect("it commits");
    assert_eq!(sent.await.expect("it ends").expect("it is written").status, Some(200));
    assert_eq!(count(&server, "webhook_logs").await, 1);
}

async fn delivery_in_progress_cannot_be_resent(server: Server) {
    let id = webhook(&server, &["*"]).await;
    role(&server).await;
    let receiver = Receiver::slow(Duration::from_millis(200), |_| super::answer(200));
    let (state, transport) = (server.state.clone(), receiver.clone());
    let round = tokio::spawn(async move { charter_runtime::webhook::run_once(&state, transport, 4).await });
    super::claims::eventually(|| receiver.count() == 1).await;
    let refused = redelivery::resend(&server.state, receiver.clone(), id, &uid(&server).await).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    round.await.expect("it ends").expect("the database answers");
    assert_eq!(receiver.count(), 1);
}

async fn delivery_of_a_process_with_a_fast_clock_can_be_resent(server: Server) {
    let id = webhook(&server, &["*"]).await;
    role(&server).await;
    deliver(&server, &Receiver::answering(200)).await;
    let ahead = server.state.clock.now() + chrono::TimeDelta::seconds(20);
    let mut sql = Sql::new(server.state.db.dialect(), "UPDATE webhook_deliveries SET created_at = ");
    sql.bind(ahead);
    let transaction = server.state.db.begin().await.expect("a transaction begins");
    sql.run(&transaction).await.expect("the delivery is changed");
    transaction.commit().await.expect("it commits");
    let outcome = redelivery::resend(&server.state, Receiver::answering(200), id, &uid(&server).await).await;
    assert!(outcome.expect("it is sent").is_delivered());
}

async fn disconnected_client_leaves_no_lease_behind(server: Server) {
    let id = webhook(&server, &["*"]).await;
    role(&server).await;
    deliver(&server, &Receiver::answering(500)).await;
    let (uid, receiver) = (uid(&server).await, Receiver::answering(500));
    // The number of polls varies.
    for turn in 0..60 {
        let left = poll_times(redelivery::resend(&server.state, receiver.clone(), id, &uid), turn % 6).await;
        assert!(matches!(left, None | Some(Ok(_) | Err(Error::Conflict(_)))), "{left:?}");
        none(&server, "webhook_deliveries WHERE lease_until IS NOT NULL").await;
    }
    assert!(receiver.count() > 10, "most were carried out");
    for turn in 0..40 {
        let left = poll_times(redelivery::test(&server.state, receiver.clone(), id, None), turn % 8).await;
        assert!(matches!(left, None | Some(Ok(_))), "{left:?}");
        none(&server, "webhook_deliveries WHERE status = 'failed' AND attempts = 0").await;
    }
}

/// Disconnects at network timing: each client stays a little longer than the one before.
async fn disconnected_client_leaves_no_idempotency_key_in_progress(server: Server) {
    let id = webhook(&server, &["*"]).await;
    // The port is closed: the attempt ends at once.
    server.sql("UPDATE webhooks SET url = 'http://127.0.0.1:9/'").await;
    let token = server.token(&["*"]).await;
    for number in 0..60 {
        let mut stream = TcpStream::connect(server.address).await.expect("the server listens");
        let head = format!(
            "POST /api/v1/webhooks/{id}/test HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer {token}\r\n\
             Idempotency-Key: {number}\r\nContent-Length: 0\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.expect("the server reads");
        tokio::time::sleep(Duration::from_micros(200 * number)).await;
    }
    none(&server, "idempotency_keys WHERE status = 0").await;
    assert!(count(&server, "idempotency_keys").await > 0, "some were begun");
}

/// Recovers a webhook and returns the number of queued deliveries.
async fn recover(server: &Server, id: i64, since: DateTime<Utc>) -> u64 {
    redelivery::recover(&server.state, id, since).await.expect("they are queued")
}

/// More events than one transaction handles.
async fn recovery_queues_a_long_backlog_completely_and_once(server: Server) {
    let id = webhook(&server, &["role.created"]).await;
    let begun = server.state.clock.now();
    role(&server).await;
    deliver(&server, &Receiver::answering(200)).await;
    repeat(&server, 20_050).await;
    assert_eq!(recover(&server, id, begun).await, 20_050);
    assert_eq!(count(&server, "webhook_deliveries WHERE status = 'pending' AND manual").await, 20_050);
    assert_eq!(recover(&server, id, begun).await, 0);
    server.sql("UPDATE webhooks SET is_active = false").await;
    let refused = redelivery::recover(&server.state, id, begun).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
}

async fn recovery_queues_missed_events_and_keeps_delivery_ids(server: Server) {
    let id = webhook(&server, &["role.created"]).await;
    let begun = server.state.clock.now();
    let gone = Receiver::answering(410);
    // A failed, a cancelled, a delivered and a missed event, and one without a subscriber.
    role(&server).await;
    deliver(&server, &gone).await;
    role(&server).await;
    deliver(&server, &Receiver::answering(500)).await;
    role(&server).await;
    deliver(&server, &Receiver::answering(200)).await;
    let transaction = server.state.db.begin().await.expect("a transaction begins");
    let (dialect, now) = (server.state.db.dialect(), server.state.clock.now());
    charter_runtime::webhook::cancel(dialect, &transaction, id, now).await.expect("it is cancelled");
    transaction.commit().await.expect("it commits");
    server.sql("UPDATE webhooks SET is_active = false").await;
    role(&server).await;
    server.admin().delete("/roles/3").await.deleted();
    assert_eq!(deliver(&server, &gone).await, 0);
    assert_eq!(statuses(&server).await, ["failed", "cancelled", "delivered"]);
    let uids: Vec<String> = values(&server, "SELECT uid AS v FROM webhook_deliveries ORDER BY id").await;
    server.sql("UPDATE webhooks SET is_active = true").await;
    assert_eq!(recover(&server, id, server.state.clock.now() + chrono::TimeDelta::hours(1)).await, 0);
    assert_eq!(recover(&server, id, begun).await, 3);
    assert_eq!(recover(&server, id, begun).await, 0);
    // The deliveries get all retries and start no failure streak.
    let failing = Receiver::answering(500);
    deliver(&server, &failing).await;
    server.state.clock.advance(Duration::from_secs(34));
    assert_eq!(deliver(&server, &failing).await, 3);
    assert_eq!(count(&server, "webhooks WHERE failing_since IS NULL").await, 1);
    server.state.clock.advance(Duration::from_secs(3600));
    let receiver = Receiver::answering(200);
    assert_eq!(deliver(&server, &receiver).await, 3);
    let sent = receiver.take();
    assert!(uids[..2].iter().all(|uid| sent.iter().any(|s| s.uid == *uid)), "the same ids as before");
    assert!(sent.iter().any(|s| s.body.contains("Role 3")), "and what happened while it was disabled");
    assert_eq!(statuses(&server).await, ["delivered"; 4]);
}

async fn recovery_skips_events_that_are_no_longer_subscribed(server: Server) {
    let id = webhook(&server, &["role.created"]).await;
    let begun = server.state.clock.now();
    role(&server).await;
    deliver(&server, &Receiver::answering(410)).await;
    assert_eq!(statuses(&server).await, ["failed"]);
    server.sql("UPDATE webhooks SET is_active = true, events = '[\"member.created\"]'").await;
    assert_eq!(recover(&server, id, begun).await, 0);
    server.sql("UPDATE webhooks SET events = '[\"*\"]'").await;
    assert_eq!(recover(&server, id, begun).await, 1);
}
