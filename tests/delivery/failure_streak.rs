//! Failure streak: a webhook is disabled after 72 hours of failures without a success or a gap of more than 24 hours.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use charter_runtime::webhook::redelivery;
use charter_runtime::webhook::transport::Outcome;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;

use super::{Receiver, answer, count, deliver, repeat, role, statuses, values, webhook};
use crate::support::{Server, on_both};

on_both!(
    webhook_is_disabled_by_the_72_hour_rule,
    disabling_cancels_pending_deliveries_in_the_same_transaction,
    long_backlog_of_a_disabled_webhook_is_cancelled_in_batches,
    attempt_running_at_disabling_counts_if_it_succeeds,
    webhook_without_recent_failures_is_not_disabled,
);

/// Step of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// An event whose only attempt fails.
    Fails,
    Arrives,
    /// A manual test event that fails or is delivered.
    TestFails,
    TestArrives,
    /// A user enables the webhook.
    Enable,
}

/// Case: name, steps by minute, the minute at which the webhook is disabled, and the minute in `failing_since` at the
/// end.
type Case = (&'static str, &'static [(i64, Step)], Option<i64>, Option<i64>);

const DAY: i64 = 24 * 60;
/// Less than a day, because the clock advances during the test.
const D: i64 = DAY - 5;

use Step::{Arrives, Enable, Fails, TestArrives, TestFails};

const CASES: &[Case] = &[
    ("71 h 59 min", &[(0, Fails), (D, Fails), (2 * D, Fails), (3 * D, Fails), (3 * DAY - 1, Fails)], None, Some(0)),
    (
        "72 h 1 min",
        &[(0, Fails), (D, Fails), (2 * D, Fails), (3 * D, Fails), (3 * DAY + 1, Fails)],
        Some(3 * DAY + 1),
        Some(0),
    ),
    (
        "a gap of more than 24 h",
        &[(0, Fails), (D, Fails), (D + DAY + 1, Fails), (2 * D + DAY, Fails), (3 * DAY + 1, Fails)],
        None,
        Some(D + DAY + 1),
    ),
    (
        "a success between",
        &[(0, Fails), (D, Fails), (D + 1, Arrives), (2 * D, Fails), (3 * D, Fails), (3 * DAY + 1, Fails)],
        None,
        Some(2 * D),
    ),
    (
        "a success at the end",
        &[(0, Fails), (D, Fails), (2 * D, Fails), (3 * D, Fails), (3 * DAY + 1, Arrives)],
        None,
        None,
    ),
    (
        "enabled again, and it fails once more",
        &[
            (0, Fails),
            (D, Fails),
            (2 * D, Fails),
            (3 * D, Fails),
            (3 * DAY + 1, Fails),
            (3 * DAY + 2, Enable),
            (3 * DAY + 3, Fails),
        ],
        Some(3 * DAY + 1),
        Some(3 * DAY + 3),
    ),
    ("a test that fails begins nothing", &[(0, TestFails), (D, TestFails), (2 * D, Fails)], None, Some(2 * D)),
    (
        "a test that fails prolongs nothing",
        &[(0, Fails), (D, TestFails), (2 * D, TestFails), (3 * D, TestFails), (3 * DAY + 1, Fails)],
        None,
        Some(3 * DAY + 1),
    ),
    (
        "a test that fails disables nothing",
        &[(0, Fails), (D, Fails), (2 * D, Fails), (3 * D, Fails), (3 * DAY + 1, TestFails)],
        None,
        Some(0),
    ),
    (
        "a test that arrives ends it",
        &[(0, Fails), (D, Fails), (2 * D, Fails), (2 * D + 1, TestArrives), (3 * D, Fails), (3 * DAY + 1, Fails)],
        None,
        Some(3 * D),
    ),
];

async fn webhook_is_disabled_by_the_72_hour_rule(server: Server) {
    let status = Arc::new(Mutex::new(410));
    let answers = status.clone();
    let receiver = Receiver::new(move |_| answer(*answers.lock().expect("no test panicked")));
    for (name, steps, disabled, failing_since) in CASES {
        server.sql("DELETE FROM webhooks").await;
        let id = webhook(&server, &["*"]).await;
        let begun = server.state.clock.now();
        let (mut minute, mut disabled_at) = (0, None);
        for (at, step) in *steps {
            server.state.clock.advance(Duration::from_secs(60 * (at - minute).unsigned_abs()));
            minute = *at;
            *status.lock().expect("no test panicked") = if matches!(step, Arrives | TestArrives) { 200 } else { 410 };
            match step {
                Fails | Arrives => {
                    role(&server).await;
                    assert_eq!(deliver(&server, &receiver).await, 1, "{name}: at {at}");
                }
                TestFails | TestArrives => {
                    let outcome =
                        redelivery::test(&server.state, receiver.clone(), id, None).await.expect("it is sent");
                    assert_eq!(outcome.is_delivered(), *step == TestArrives, "{name}: at {at}");
                }
                Enable => enable(&server).await,
            }
            let is_active = count(&server, "webhooks WHERE is_active").await == 1;
            if !is_active && disabled_at.is_none() {
                disabled_at = Some(minute);
            }
        }
        assert_eq!(disabled_at, *disabled, "{name}: disabled at");
        let since: Option<DateTime<Utc>> = values(&server, "SELECT failing_since AS v FROM webhooks").await[0];
        // Rounded to minutes, because the test takes time.
        let since = since.map(|since| (since - begun + TimeDelta::seconds(10)).num_minutes());
        assert_eq!(since, *failing_since, "{name}: failing since");
    }
}

/// The effect of `PUT` with `is_active: true` on the row.
async fn enable(server: &Server) {
    let cleared = "failing_since = NULL, last_failure_at = NULL, disabled_at = NULL";
    server.sql(&format!("UPDATE webhooks SET is_active = true, {cleared}")).await;
}

async fn disabling_cancels_pending_deliveries_in_the_same_transaction(server: Server) {
    let (dead, other) = (webhook(&server, &["*"]).await, webhook(&server, &["*"]).await);
    let receiver = Receiver::new(move |attempt| answer(if attempt.webhook_id == dead { 500 } else { 200 }));
    for _ in 0..3 {
        role(&server).await;
        deliver(&server, &receiver).await;
    }
    let long_ago = server.state.clock.now() - TimeDelta::hours(73);
    let fresh = server.state.clock.now() - TimeDelta::hours(1);
    let mut sql = charter_runtime::db::Sql::new(server.state.db.dialect(), "UPDATE webhooks SET failing_since = ");
    sql.bind(long_ago).push(", last_failure_at = ").bind(fresh).push(" WHERE id = ").bind(dead);
    let transaction = server.state.db.begin().await.expect("a transaction begins");
    sql.run(&transaction).await.expect("the statement runs");
    transaction.commit().await.expect("it commits");
    role(&server).await;
    deliver(&server, &receiver).await;
    let active: Vec<i64> = values(&server, "SELECT id AS v FROM webhooks WHERE is_active").await;
    assert_eq!(active, [other]);
    assert_eq!(count(&server, &format!("webhooks WHERE id = {dead} AND disabled_at IS NOT NULL")).await, 1);
    let of = |id: i64| format!("SELECT status AS v FROM webhook_deliveries WHERE webhook_id = {id}");
    assert_eq!(values::<String>(&server, &of(dead)).await, ["cancelled"; 4]);
    assert_eq!(values::<String>(&server, &of(other)).await, ["delivered"; 4]);
    // The log of the last attempt announces no further attempt.
    let last = format!("SELECT next_attempt_at AS v FROM webhook_logs WHERE webhook_id = {dead} ORDER BY id DESC");
    assert_eq!(values::<Option<DateTime<Utc>>>(&server, &last).await[0], None);
    server.state.clock.advance(Duration::from_secs(24 * 3600));
    role(&server).await;
    receiver.take();
    deliver(&server, &receiver).await;
    let attempts: Vec<i64> = receiver.take().iter().map(|attempt| attempt.webhook_id).collect();
    assert_eq!(attempts, [other]);
}

async fn attempt_running_at_disabling_counts_if_it_succeeds(server: Server) {
    for (status, expected) in [(200, "delivered"), (500, "cancelled")] {
        server.sql("DELETE FROM webhooks").await;
        let id = webhook(&server, &["*"]).await;
        role(&server).await;
        let receiver = Receiver::slow(Duration::from_millis(200), move |_| answer(status));
        let (state, transport) = (server.state.clone(), receiver.clone());
        let round = tokio::spawn(async move { charter_runtime::webhook::run_once(&state, transport, 4).await });
        super::claims::eventually(|| receiver.count() == 1).await;
        let transaction = server.state.db.begin().await.expect("a transaction begins");
        let (dialect, now) = (server.state.db.dialect(), server.state.clock.now());
        charter_runtime::webhook::cancel(dialect, &transaction, id, now).await.expect("they are cancelled");
        transaction.commit().await.expect("it commits");
        round.await.expect("it ends").expect("the database answers");
        assert_eq!(statuses(&server).await, [expected]);
    }
}

async fn webhook_without_recent_failures_is_not_disabled(server: Server) {
    webhook(&server, &["*"]).await;
    role(&server).await;
    let receiver = Receiver::new(|_| Outcome { error: Some("could not connect".into()), ..Outcome::default() });
    // All attempts at one delivery take less than a day.
    for _ in 0..8 {
        deliver(&server, &receiver).await;
        server.state.clock.advance(Duration::from_secs(34_000));
    }
    assert_eq!((receiver.count(), statuses(&server).await), (7, vec!["failed".to_string()]));
    server.state.clock.advance(Duration::from_secs(30 * 24 * 3600));
    role(&server).await;
    deliver(&server, &receiver).await;
    assert_eq!(receiver.count(), 8);
    assert_eq!(count(&server, "webhooks WHERE is_active").await, 1);
}

async fn long_backlog_of_a_disabled_webhook_is_cancelled_in_batches(server: Server) {
    let (admin, begun) = (server.admin(), server.state.clock.now());
    let path = format!("/webhooks/{}", webhook(&server, &["role.created"]).await);
    role(&server).await;
    deliver(&server, &Receiver::answering(200)).await;
    repeat(&server, 25_000).await;
    assert_eq!(redelivery::recover(&server.state, 1, begun).await.expect("they are queued"), 25_000);
    server.sql("UPDATE webhook_deliveries SET retries = 1 WHERE id % 2 = 0").await;
    let pending = async || count(&server, "webhook_deliveries WHERE status = 'pending'").await;
    admin.put(&path, json!({ "is_active": false })).await.record("webhook");
    assert_eq!(pending().await, 15_000, "as many as one transaction takes");
    admin.put(&path, json!({ "is_active": true })).await.refused(409, "conflict");
    assert_eq!(pending().await, 15_000);
    let receiver = Receiver::answering(200);
    assert_eq!(deliver(&server, &receiver).await, 0);
    assert_eq!((pending().await, receiver.count()), (0, 0));
    admin.put(&path, json!({ "is_active": true })).await.record("webhook");
    assert_eq!(deliver(&server, &receiver).await, 0, "what was cancelled stays so");
}
