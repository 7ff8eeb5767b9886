//! Retry schedule of failed deliveries, on a clock that the test advances.

use std::time::Duration;

use charter_runtime::webhook::transport::Outcome;
use chrono::{DateTime, SubsecRound, Utc};

use super::{Receiver, answer, count, deliver, role, statuses, values, webhook};
use crate::support::{Server, on_both};

on_both!(
    six_retries_are_sent_when_due_and_never_early,
    retry_after_may_double_the_delay,
    status_410_ends_only_its_delivery,
    every_failure_is_retried_and_logged,
);

/// Delays in seconds.
const DELAYS: [u64; 6] = [30, 120, 480, 1920, 7680, 30720];

async fn due(server: &Server) -> DateTime<Utc> {
    values(server, "SELECT due_at AS v FROM webhook_deliveries").await[0]
}

async fn six_retries_are_sent_when_due_and_never_early(server: Server) {
    webhook(&server, &["*"]).await;
    role(&server).await;
    let receiver = Receiver::answering(500);
    let mut before = server.state.clock.now();
    assert_eq!(deliver(&server, &receiver).await, 1);
    for (retry, delay) in DELAYS.into_iter().enumerate() {
        let after = server.state.clock.now();
        let due = due(&server).await;
        let delay = Duration::from_secs(delay);
        assert!(due >= before + delay && due <= after + delay + delay / 10, "retry {retry}: {due} after {before}");
        let logged: Vec<Option<DateTime<Utc>>> =
            values(&server, "SELECT next_attempt_at AS v FROM webhook_logs ORDER BY id DESC").await;
        // Whole seconds, as in the log.
        assert_eq!(logged[0], Some(due.trunc_subsecs(0)));
        // Nothing is sent shortly before the due time.
        let wait = (due - server.state.clock.now()).to_std().expect("it is to come");
        server.state.clock.advance(wait - Duration::from_millis(1000));
        assert_eq!(deliver(&server, &receiver).await, 0, "retry {retry}");
        server.state.clock.advance(Duration::from_millis(1000));
        before = server.state.clock.now();
        assert_eq!(deliver(&server, &receiver).await, 1, "retry {retry}");
    }
    assert_eq!(statuses(&server).await, ["failed"]);
    server.state.clock.advance(Duration::from_secs(7 * 24 * 3600));
    assert_eq!(deliver(&server, &receiver).await, 0);
    assert_eq!(receiver.take().iter().map(|s| s.number).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7]);
    let last: Vec<Option<DateTime<Utc>>> =
        values(&server, "SELECT next_attempt_at AS v FROM webhook_logs ORDER BY id DESC").await;
    assert_eq!((last.len(), last[0]), (7, None));
}

async fn retry_after_may_double_the_delay(server: Server) {
    // Status, `Retry-After`, and the minimum and maximum delay in seconds.
    let cases = [
        (503, 5, 30, 33),
        (503, 45, 45, 45),
        (429, 59, 59, 59),
        (429, 600, 60, 60),
        (500, 55, 30, 33),
        (302, 55, 30, 33),
    ];
    webhook(&server, &["*"]).await;
    for (status, asked, least, most) in cases {
        server.sql("DELETE FROM webhook_deliveries").await;
        role(&server).await;
        let receiver = Receiver::new(move |_| {
            let retry_after = Some(Duration::from_secs(asked));
            Outcome { retry_after, ..answer(status) }
        });
        let before = server.state.clock.now();
        deliver(&server, &receiver).await;
        let (due, after) = (due(&server).await, server.state.clock.now());
        let (least, most) = (before + Duration::from_secs(least), after + Duration::from_secs(most));
        assert!(due >= least && due <= most, "{status}, {asked} s: {due} is not from {least} to {most}");
    }
}

async fn status_410_ends_only_its_delivery(server: Server) {
    webhook(&server, &["*"]).await;
    role(&server).await;
    let receiver = Receiver::new(|attempt| answer(if attempt.body.contains("Role 2") { 410 } else { 200 }));
    deliver(&server, &receiver).await;
    role(&server).await;
    deliver(&server, &receiver).await;
    assert_eq!(statuses(&server).await, ["failed", "delivered"]);
    assert_eq!(count(&server, "webhooks WHERE is_active").await, 1);
    server.state.clock.advance(Duration::from_secs(3600));
    assert_eq!(deliver(&server, &receiver).await, 0);
}

async fn every_failure_is_retried_and_logged(server: Server) {
    webhook(&server, &["*"]).await;
    let outcomes = [
        Outcome { error: Some("could not connect".into()), duration: Duration::from_millis(7), ..Outcome::default() },
        Outcome { status: Some(200), error: Some("no complete response within 15 s".into()), ..Outcome::default() },
        Outcome { status: Some(301), body: Some("elsewhere\0".into()), ..Outcome::default() },
        answer(100),
        answer(404),
        answer(599),
    ];
    for outcome in outcomes {
        server.sql("DELETE FROM webhook_deliveries").await;
        server.sql("DELETE FROM webhook_logs").await;
        role(&server).await;
        let sent = outcome.clone();
        deliver(&server, &Receiver::new(move |_| sent.clone())).await;
        assert_eq!(statuses(&server).await, ["pending"], "{outcome:?}");
        let log = super::rows(&server.state, "SELECT * FROM webhook_logs").await.remove(0);
        let status: Option<i32> = log.try_get("", "response_status").expect("a status");
        assert_eq!(status, outcome.status.map(i32::from));
        let error: Option<String> = log.try_get("", "error").expect("an error");
        assert_eq!(error, outcome.error);
        let body: Option<String> = log.try_get("", "response_body").expect("a body");
        assert_eq!(body, outcome.body.map(|body| body.replace('\0', "\u{fffd}")));
        assert_eq!(log.try_get::<i32>("", "duration_ms").expect("a duration"), outcome.duration.as_millis() as i32);
        assert_eq!(log.try_get::<String>("", "event").expect("a name"), "role.created");
    }
}
