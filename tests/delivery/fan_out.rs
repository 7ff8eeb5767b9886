//! Fan-out of events: the right webhooks, exactly once, in the transaction of the change.

use std::collections::HashSet;

use charter_runtime::db::{Dialect, Sql};
use charter_runtime::ops::Audience;
use charter_runtime::ops::Context;
use charter_runtime::principal::Principal;
use charter_runtime::webhook::{fan_out, write_pending_events};
use serde_json::{Value, json};

use super::{Receiver, answer, count, deliver, role, statuses, values, webhook};
use crate::support::{Server, on_both};

on_both!(
    each_subscribed_webhook_gets_each_event_once,
    disabled_webhook_gets_no_deliveries,
    webhook_gets_no_events_from_before_its_creation,
    events_without_an_active_webhook_are_not_pending,
    every_attempt_sends_the_same_body_and_id,
    event_of_a_rolled_back_change_is_not_delivered,
    concurrent_processes_create_one_delivery_per_event,
    event_of_a_large_record_has_only_its_id,
    pending_events_are_found_by_their_index,
    fan_out_to_many_webhooks_uses_several_transactions,
);

async fn each_subscribed_webhook_gets_each_event_once(server: Server) {
    let all = webhook(&server, &["*"]).await;
    let some = webhook(&server, &["role.deleted", "role.created"]).await;
    webhook(&server, &["role.updated", "role.create"]).await;
    role(&server).await;
    role(&server).await;
    let receiver = Receiver::answering(204);
    assert_eq!(deliver(&server, &receiver).await, 4);
    assert_eq!(deliver(&server, &receiver).await, 0);
    let sent = receiver.take();
    let told: Vec<(i64, Value)> =
        sent.iter().map(|s| (s.webhook_id, serde_json::from_str::<Value>(&s.body).expect("JSON"))).collect();
    for name in ["Role 2", "Role 3"] {
        let of: HashSet<i64> =
            told.iter().filter(|(_, body)| body["data"]["role"]["name"] == name).map(|(id, _)| *id).collect();
        assert_eq!(of, HashSet::from([all, some]), "{name}");
    }
    assert!(told.iter().all(|(_, body)| body["event"] == "role.created" && body["timestamp"].is_string()), "{told:?}");
    assert!(sent.iter().all(|s| &*s.event == "role.created" && s.number == 1 && s.uid.starts_with("msg_")));
    assert_eq!(sent.iter().map(|s| &s.uid).collect::<HashSet<_>>().len(), 4);
    assert_eq!(statuses(&server).await, ["delivered"; 4]);
    assert_eq!(count(&server, "webhook_logs WHERE response_status = 204 AND next_attempt_at IS NULL").await, 4);
}

async fn disabled_webhook_gets_no_deliveries(server: Server) {
    webhook(&server, &["*"]).await;
    server.sql("UPDATE webhooks SET is_active = false").await;
    role(&server).await;
    assert_eq!(deliver(&server, &Receiver::answering(200)).await, 0);
    assert_eq!(count(&server, "webhook_deliveries").await, 0);
}

async fn webhook_gets_no_events_from_before_its_creation(server: Server) {
    webhook(&server, &["*"]).await;
    role(&server).await;
    // Within the allowed clock skew.
    server.state.clock.advance(std::time::Duration::from_secs(50));
    webhook(&server, &["*"]).await;
    server.state.clock.advance(std::time::Duration::from_secs(20));
    webhook(&server, &["*"]).await;
    let receiver = Receiver::answering(200);
    deliver(&server, &receiver).await;
    assert_eq!(receiver.take().iter().map(|s| s.webhook_id).collect::<HashSet<_>>(), HashSet::from([1, 2]));
}

async fn events_without_an_active_webhook_are_not_pending(server: Server) {
    let waiting = "events WHERE fanned_out_at IS NULL";
    role(&server).await;
    webhook(&server, &["*"]).await;
    server.sql("UPDATE webhooks SET is_active = false").await;
    role(&server).await;
    assert_eq!(count(&server, waiting).await, 0);
    server.sql("UPDATE webhooks SET is_active = true").await;
    assert_eq!(deliver(&server, &Receiver::answering(200)).await, 0);
    role(&server).await;
    assert_eq!(count(&server, waiting).await, 1);
}

async fn every_attempt_sends_the_same_body_and_id(server: Server) {
    webhook(&server, &["*"]).await;
    let name = role(&server).await;
    let receiver = Receiver::new(|attempt| answer(if attempt.number < 3 { 500 } else { 200 }));
    for _ in 0..3 {
        deliver(&server, &receiver).await;
        // The record changes; the stored body of the event does not.
        server.sql(&format!("UPDATE roles SET description = 'changed' WHERE name = '{name}'")).await;
        server.state.clock.advance(std::time::Duration::from_secs(600));
    }
    let sent = receiver.take();
    assert_eq!(sent.iter().map(|s| s.number).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(sent.iter().all(|s| s.body == sent[0].body && s.uid == sent[0].uid));
    assert!(sent[0].at < sent[1].at && sent[1].at < sent[2].at);
    assert_eq!(values::<i32>(&server, "SELECT attempt AS v FROM webhook_logs ORDER BY id").await, [1, 2, 3]);
}

async fn event_of_a_rolled_back_change_is_not_delivered(server: Server) {
    webhook(&server, &["*"]).await;
    let before = count(&server, "events").await;
    // Written but not committed.
    let transaction = server.state.db.begin().await.expect("a transaction begins");
    let operator = Principal::operator();
    let context = Context::new(&server.state, &operator, &transaction);
    let entry = server.state.catalog.get("role").expect("it is linked");
    charter_runtime::ops::outbox::emit(&context, entry, "created", b"{\"id\":1}", Audience::All)
        .await
        .expect("it is written");
    drop(transaction);
    let receiver = Receiver::answering(200);
    role(&server).await;
    server.admin().post("/roles", json!({ "name": "Role 2" })).await.invalid("name");
    assert_eq!(deliver(&server, &receiver).await, 1);
    assert_eq!(count(&server, "events").await, before + 1);
}

async fn concurrent_processes_create_one_delivery_per_event(server: Server) {
    for _ in 0..3 {
        webhook(&server, &["*"]).await;
    }
    for _ in 0..20 {
        role(&server).await;
    }
    let others = [server.second_node().await, server.second_node().await];
    let receiver = Receiver::answering(200);
    let rounds = [&server, &others[0], &others[1]].map(|server| deliver(server, &receiver));
    let [one, two, three] = rounds;
    let made = tokio::join!(one, two, three);
    // Deliveries of one process may be claimed by another, or not yet.
    let rest = deliver(&server, &receiver).await;
    assert_eq!(made.0 + made.1 + made.2 + rest, 60);
    let sent = receiver.take();
    let distinct: HashSet<(i64, &str)> = sent.iter().map(|s| (s.webhook_id, &*s.body)).collect();
    assert_eq!((sent.len(), distinct.len()), (60, 60));
    assert_eq!(statuses(&server).await, ["delivered"; 60]);
    for other in &others {
        other.state.db.close().await;
    }
}

async fn event_of_a_large_record_has_only_its_id(server: Server) {
    webhook(&server, &["role.created"]).await;
    let role = json!({ "name": "Long", "description": "x".repeat(300 * 1024) });
    let role = server.admin().post("/roles", role).await.created("role");
    let receiver = Receiver::answering(200);
    deliver(&server, &receiver).await;
    let body: Value = serde_json::from_str(&receiver.take()[0].body).expect("JSON");
    assert_eq!(body["data"], json!({ "role": { "id": role["id"] } }));
    assert_eq!((&body["event"], &body["truncated"]), (&json!("role.created"), &json!(true)));
}

/// Even without table statistics, with which PostgreSQL chose the primary key.
async fn pending_events_are_found_by_their_index(server: Server) {
    let numbers = match server.state.db.dialect() {
        Dialect::Sqlite => "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)",
        Dialect::Postgres => "WITH n(i) AS (SELECT generate_series(1, 20000))",
    };
    let now = "'2026-01-01T00:00:00.000Z'";
    let at = if server.state.db.dialect() == Dialect::Postgres { format!("{now}::timestamptz") } else { now.into() };
    let columns = "name, body, created_at, fanned_out_at";
    server.sql(&format!("INSERT INTO events ({columns}) {numbers} SELECT 'x', '{{}}', {at}, {at} FROM n")).await;
    let (explain, column) = match server.state.db.dialect() {
        Dialect::Sqlite => ("EXPLAIN QUERY PLAN ", "detail"),
        Dialect::Postgres => ("EXPLAIN ", "QUERY PLAN"),
    };
    let mut sql = Sql::new(server.state.db.dialect(), explain);
    write_pending_events(&mut sql, 500);
    let rows = sql.all(server.state.db.reader()).await.expect("a plan");
    let plan: Vec<String> = rows.iter().map(|row| row.try_get("", column).expect("a line")).collect();
    assert!(plan.iter().any(|line| line.contains("events_waiting_idx")), "{plan:#?}");
}

async fn fan_out_to_many_webhooks_uses_several_transactions(server: Server) {
    // Events from the setup may be over a minute old and are not delivered.
    server.sql("DELETE FROM events").await;
    webhook(&server, &["*"]).await;
    role(&server).await;
    let columns = "user_id, url, abilities, events, secret, created_at, updated_at";
    for _ in 0..7 {
        server.sql(&format!("INSERT INTO webhooks ({columns}) SELECT {columns} FROM webhooks")).await;
        server.sql("INSERT INTO events (name, body, created_at) SELECT name, body, created_at FROM events").await;
    }
    let events = count(&server, "events WHERE fanned_out_at IS NULL").await;
    let now = server.state.clock.now();
    let first = fan_out(&server.state, now).await.expect("it is fanned out");
    assert_eq!((first.events, first.may_have_more), (78, true), "at most 10,000 deliveries for 128 webhooks");
    let mut told = first.events;
    while let step = fan_out(&server.state, now).await.expect("it is fanned out")
        && step.events > 0
    {
        told += step.events;
    }
    assert_eq!(told as i64, events);
    assert_eq!(count(&server, "webhook_deliveries").await, 128 * events);
}
