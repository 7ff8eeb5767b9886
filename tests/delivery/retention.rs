//! Retention of deliveries and logs, and webhook metrics.

use std::time::Duration;

use charter_runtime::webhook::prune;

use super::{Receiver, answer, count, deliver, role, webhook};
use crate::support::{Server, on_both};

on_both!(
    finished_deliveries_are_kept_for_30_days,
    pending_deliveries_are_kept_with_their_events,
    metrics_count_deliveries
);

const DAY: u64 = 24 * 3600;

async fn finished_deliveries_are_kept_for_30_days(server: Server) {
    webhook(&server, &["*"]).await;
    server.sql("DELETE FROM events").await;
    // More than one batch.
    let columns = "INSERT INTO events (name, body, created_at, fanned_out_at) SELECT 'x', '{}', ";
    let many = match server.database {
        crate::support::Database::Postgres => "now(), now() FROM generate_series(1, 2500)",
        crate::support::Database::Sqlite => {
            "strftime('%Y-%m-%dT%H:%M:%f+00:00'), strftime('%Y-%m-%dT%H:%M:%f+00:00') FROM \
             (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) SELECT i FROM n)"
        }
    };
    server.sql(&format!("{columns}{many}")).await;
    role(&server).await;
    deliver(&server, &Receiver::answering(200)).await;
    let prune = async || prune(&server.state.db, server.state.clock.now()).await.expect("the database answers");
    server.state.clock.advance(Duration::from_secs(30 * DAY - 60));
    role(&server).await;
    deliver(&server, &Receiver::answering(200)).await;
    assert_eq!(prune().await, 0);
    server.state.clock.advance(Duration::from_secs(120));
    assert_eq!(prune().await, 1 + 1 + 2501);
    for table in ["webhook_logs", "webhook_deliveries", "events"] {
        assert_eq!(count(&server, table).await, 1, "{table}");
    }
}

async fn pending_deliveries_are_kept_with_their_events(server: Server) {
    webhook(&server, &["*"]).await;
    role(&server).await;
    let receiver = Receiver::new(|attempt| answer(if attempt.number == 1 { 500 } else { 200 }));
    deliver(&server, &receiver).await;
    role(&server).await;
    // No dispatcher runs for longer than the retention.
    server.state.clock.advance(Duration::from_secs(31 * DAY));
    let events = count(&server, "events").await;
    prune(&server.state.db, server.state.clock.now()).await.expect("the database answers");
    assert_eq!((count(&server, "webhook_deliveries").await, count(&server, "webhook_logs").await), (1, 0));
    assert!(count(&server, "events").await >= 2 && events >= 2);
    assert_eq!(deliver(&server, &receiver).await, 2);
    deliver(&server, &receiver).await;
    assert_eq!(count(&server, "webhook_deliveries WHERE finished_at IS NULL").await, 1);
}

async fn metrics_count_deliveries(server: Server) {
    webhook(&server, &["*"]).await;
    for _ in 0..3 {
        role(&server).await;
    }
    let mut answers = vec![Some(200), Some(404), None];
    let answers = std::sync::Mutex::new(std::mem::take(&mut answers));
    let receiver = Receiver::new(move |_| {
        let status = answers.lock().expect("no test panicked").pop().flatten();
        let error = status.is_none().then(|| "could not connect".to_string());
        charter_runtime::webhook::transport::Outcome { status, error, ..Default::default() }
    });
    deliver(&server, &receiver).await;
    server.state.clock.advance(Duration::from_secs(134));
    let text = server.anonymous().get("~/health/metrics").await;
    assert_eq!(text.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let figure = |name: &str| {
        let line = text.text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name}: {}", text.text)).parse::<f64>().expect("a number")
    };
    assert_eq!(figure("charter_webhook_due"), 2.0);
    let oldest = figure("charter_webhook_oldest_due_seconds");
    assert!((100.0..105.0).contains(&oldest), "{oldest}");
    for outcome in ["delivered", "refused", "unanswered"] {
        assert_eq!(figure(&format!("charter_webhook_attempts_total{{outcome=\"{outcome}\"}}")), 1.0, "{outcome}");
    }
    assert_eq!(figure("charter_webhook_exchange_seconds_count"), 3.0);
    assert_eq!(figure("charter_webhook_first_attempt_delay_seconds_count"), 3.0);
}
