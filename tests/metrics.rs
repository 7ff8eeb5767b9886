//! `/health/metrics`, the slow statement log, and traces of requests and deliveries.

use std::time::{Duration, Instant};

use charter_runtime::client::Caller;
use charter_runtime::webhook::UrlPolicy;
use reqwest::Method;
use serde_json::{Value, json};

use crate::panel::signed_in;
use crate::support::{Receiver, Server, logged, on_both};

on_both!(
    requests_are_counted_by_method_route_template_and_status,
    unmatched_paths_and_unknown_methods_share_one_label,
    panel_page_is_one_request_of_one_route,
    statements_are_timed_by_kind,
    cache_hits_and_misses_of_lists_are_counted,
    reads_that_share_a_statement_are_counted_as_one_batch,
    queue_wait_and_full_queue_are_counted,
    rate_limited_request_is_counted_as_refused,
    pools_show_connections_in_use_and_callers_that_wait,
    background_tasks_are_shown_as_running,
    metrics_are_answered_while_the_database_is_away,
    slow_statement_is_logged_with_its_request_and_without_values,
    request_log_carries_the_trace_id,
    delivery_continues_the_trace_of_the_request_that_caused_it,
    delivery_has_no_traceparent_where_the_request_had_none_or_a_malformed_one,
);

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// The exported metrics of a server.
struct Scrape(String);

impl Scrape {
    async fn of(server: &Server) -> Scrape {
        let answer = server.anonymous().get("~/health/metrics").await;
        assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
        Scrape(answer.status(200).text.clone())
    }

    /// The value of a time series; 0 if it does not exist yet.
    fn value(&self, series: &str) -> f64 {
        let value = self.0.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        value.map_or(0.0, |value| value.parse().expect("a number"))
    }

    /// Number of responses with this method, route and status.
    fn answered(&self, method: &str, route: &str, status: u16) -> f64 {
        self.value(&format!(
            "http_server_request_duration_seconds_count{{http_request_method=\"{method}\",http_route=\"{route}\",\
             http_response_status_code=\"{status}\"}}"
        ))
    }

    fn refused(&self, reason: &str) -> f64 {
        self.value(&format!("charter_requests_refused_total{{reason=\"{reason}\"}}"))
    }

    fn statements(&self, operation: &str) -> f64 {
        self.value(&format!("db_client_operation_duration_seconds_count{{db_operation_name=\"{operation}\"}}"))
    }
}

async fn requests_are_counted_by_method_route_template_and_status(server: Server) {
    let admin = server.admin();
    let id = admin.post("/tax_classes", json!({ "name": "Full" })).await.created("tax_class")["id"].clone();
    admin.get(&format!("/tax_classes/{id}")).await.ok();
    admin.get("/tax_classes/999999").await.refused(404, "not_found");
    admin.get("/tax_classes/999998?fields=name").await.refused(404, "not_found");
    let scrape = Scrape::of(&server).await;
    assert_eq!(scrape.answered("POST", "/api/v1/tax_classes", 201), 1.0);
    assert_eq!(scrape.answered("GET", "/api/v1/tax_classes/{id}", 200), 1.0);
    assert_eq!(scrape.answered("GET", "/api/v1/tax_classes/{id}", 404), 2.0);
    assert!(!scrape.0.contains("/999999"), "no label is the path of a request");
    assert_eq!(scrape.value("http_server_active_requests{http_request_method=\"GET\"}"), 1.0, "this one");
    assert_eq!(Scrape::of(&server).await.answered("GET", "/health/metrics", 200), 1.0);
}

async fn unmatched_paths_and_unknown_methods_share_one_label(server: Server) {
    let admin = server.admin();
    for number in 0..3 {
        admin.get(&format!("/nothing_{number}")).await.refused(404, "not_found");
    }
    let brew = Method::from_bytes(b"BREW").expect("a method");
    admin.send(brew, "/tax_classes", None).await.refused(405, "method_not_allowed");
    let scrape = Scrape::of(&server).await;
    assert_eq!(scrape.answered("GET", "unmatched", 404), 3.0);
    assert_eq!(scrape.answered("_OTHER", "/api/v1/tax_classes", 405), 1.0);
    assert!(!scrape.0.contains("nothing_") && !scrape.0.contains("BREW"), "{}", scrape.0);
}

async fn panel_page_is_one_request_of_one_route(server: Server) {
    let mut visitor = signed_in(&server, &json!({ "id": 1 })).await;
    let before = Scrape::of(&server).await;
    visitor.get("/tax_classes").await.status(200);
    let after = Scrape::of(&server).await;
    assert_eq!(after.answered("GET", "/{page}", 200) - before.answered("GET", "/{page}", 200), 1.0, "{}", after.0);
    assert_eq!(after.answered("GET", "/api/v1/tax_classes", 200), 0.0, "it asks the API in this process");
}

async fn statements_are_timed_by_kind(server: Server) {
    let before = Scrape::of(&server).await;
    let name = |number: usize| json!({ "method": "create", "product_group": { "name": format!("Group {number}") } });
    let operations = json!({ "operations": (0..3).map(name).collect::<Vec<Value>>() });
    server.admin().post("/product_groups/bulk", operations).await.ok();
    let after = Scrape::of(&server).await;
    assert!(after.statements("INSERT") >= before.statements("INSERT") + 3.0, "{}", after.0);
    assert!(after.statements("SELECT") > before.statements("SELECT"));
    let sum = "db_client_operation_duration_seconds_sum{db_operation_name=\"INSERT\"}";
    assert!(after.value(sum) > before.value(sum));
}

async fn cache_hits_and_misses_of_lists_are_counted(server: Server) {
    let admin = server.admin();
    admin.post("/tax_classes", json!({ "name": "Full" })).await.created("tax_class");
    admin.post("/tax_classes", json!({ "name": "Fuller" })).await.created("tax_class");
    let count = async |what: &str, cache: &str| {
        Scrape::of(&server).await.value(&format!("charter_cache_{what}_total{{cache=\"{cache}\"}}"))
    };
    for _ in 0..3 {
        admin.get("/tax_classes?q[name_start]=full&per_page=1").await.ok();
    }
    assert_eq!((count("misses", "pages").await, count("hits", "pages").await), (1.0, 2.0));
    assert_eq!((count("misses", "totals").await, count("hits", "totals").await), (1.0, 0.0));
    admin.get("/tax_classes?q[name_start]=full&per_page=1&page=2&fields=id").await.ok();
    assert_eq!((count("misses", "pages").await, count("misses", "totals").await), (2.0, 1.0), "the total is known");
    let bytes = Scrape::of(&server).await.value("charter_cache_size_bytes{cache=\"lists\"}");
    assert!((100.0..10_000.0).contains(&bytes), "{bytes}");
    admin.post("/tax_classes", json!({ "name": "None" })).await.created("tax_class");
    admin.get("/tax_classes?q[name_start]=full&per_page=1").await.ok();
    assert_eq!((count("misses", "pages").await, count("misses", "totals").await), (3.0, 2.0), "the table has changed");
}

async fn reads_that_share_a_statement_are_counted_as_one_batch(server: Server) {
    let admin = server.admin();
    let id = admin.post("/tax_classes", json!({ "name": "Full" })).await.created("tax_class")["id"].clone();
    let path = format!("/tax_classes/{id}");
    let size =
        async |what: &str| Scrape::of(&server).await.value(&format!("charter_batch_size_{what}{{kind=\"records\"}}"));
    admin.get(&path).await.ok();
    assert_eq!((size("count").await, size("sum").await), (1.0, 1.0), "a request alone is a batch of one");
    let (start, mut sent) = (Instant::now(), 1.0);
    while size("count").await == size("sum").await {
        futures_util::future::join_all((0..40).map(|_| admin.get(&path))).await;
        sent += 40.0;
        assert!(start.elapsed() < Duration::from_secs(20), "concurrent requests do not share a statement");
    }
    assert_eq!(size("sum").await, sent);
}

/// A server with one permit, which the test holds.
async fn queue_wait_and_full_queue_are_counted(server: Server) {
    let limited = server.configured(|config| config.request_concurrency = Some(1)).await;
    let admin = limited.admin();
    admin.get("/tax_classes").await.ok();
    let permit = charter_runtime::server::Permit::new(&limited.state.concurrency_limiter, Caller::SERVER);
    permit.acquire().await.expect("a free permit");
    let requests: Vec<_> = (0..20)
        .map(|_| {
            let admin = admin.clone();
            tokio::spawn(async move { admin.get("/tax_classes").await.status })
        })
        .collect();
    let start = Instant::now();
    while Scrape::of(&limited).await.refused("queue_full") < 4.0 {
        assert!(start.elapsed() < Duration::from_secs(5), "16 requests are queued and the rest is refused");
    }
    let scrape = Scrape::of(&limited).await;
    let waiting = scrape.value("charter_queue_waiting");
    permit.release();
    let statuses: Vec<u16> = {
        let ended = futures_util::future::join_all(requests).await;
        ended.into_iter().map(|status| status.expect("no test panicked")).collect()
    };
    let shed = statuses.iter().filter(|status| **status == 503).count() as f64;
    let scrape = Scrape::of(&limited).await;
    assert!(waiting <= 16.0, "{waiting}");
    assert_eq!(scrape.refused("queue_full") + scrape.refused("queue_timeout"), shed);
    assert_eq!(scrape.answered("GET", "/api/v1/tax_classes", 503), shed);
    assert!(scrape.value("charter_queue_wait_seconds_sum") > 0.0, "{}", scrape.0);
    assert!(scrape.value("charter_queue_wait_seconds_count") >= 17.0);
    assert_eq!(scrape.value("charter_queue_waiting"), 0.0);
}

async fn rate_limited_request_is_counted_as_refused(server: Server) {
    let limited = server.configured(|config| config.rate_limit = 2).await;
    let admin = limited.admin();
    for _ in 0..2 {
        admin.get("/tax_classes").await.ok();
    }
    admin.get("/tax_classes").await.refused(429, "rate_limited");
    assert_eq!(Scrape::of(&limited).await.refused("rate_limited"), 1.0);
}

async fn pools_show_connections_in_use_and_callers_that_wait(server: Server) {
    let (pool, max) = match server.state.db.dialect() {
        charter_runtime::db::Dialect::Sqlite => ("writer", 1),
        charter_runtime::db::Dialect::Postgres => ("main", 3),
    };
    let mut held = Vec::new();
    for _ in 0..max {
        held.push(server.state.db.begin().await.expect("a transaction begins"));
    }
    let state = server.state.clone();
    let waits = tokio::spawn(async move { state.db.begin().await.map(drop) });
    let name = format!("db_client_connection_pool_name=\"{pool}\"");
    let waiting = format!("db_client_connection_pending_requests{{{name}}}");
    let start = Instant::now();
    loop {
        let scrape = Scrape::of(&server).await;
        if scrape.value(&waiting) >= 1.0 {
            let used = format!("db_client_connection_count{{{name},db_client_connection_state=\"used\"}}");
            assert!(scrape.value(&used) >= f64::from(max), "{}", scrape.0);
            assert!(scrape.value(&format!("db_client_connection_max{{{name}}}")) >= f64::from(max));
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(4), "{}", scrape.0);
    }
    held.clear();
    waits.await.expect("no test panicked").expect("a connection");
}

async fn background_tasks_are_shown_as_running(server: Server) {
    let start = Instant::now();
    loop {
        let scrape = Scrape::of(&server).await;
        let rounds = scrape.value("charter_task_rounds_total{task=\"idempotency\",outcome=\"done\"}");
        if scrape.value("charter_task_running{task=\"idempotency\"}") == 1.0 && rounds >= 1.0 {
            assert_eq!(scrape.value("charter_task_restarts_total{task=\"idempotency\"}"), 0.0);
            assert!(scrape.value("charter_task_last_round_timestamp_seconds{task=\"idempotency\"}") > 1e9);
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(10), "{}", scrape.0);
    }
}

async fn metrics_are_answered_while_the_database_is_away(server: Server) {
    server.admin().get("/tax_classes").await.ok();
    server.state.db.close().await;
    let scrape = Scrape::of(&server).await;
    assert_eq!(scrape.answered("GET", "/api/v1/tax_classes", 200), 1.0);
    assert!(!scrape.0.contains("charter_webhook_due"), "gauges from the database are left out");
    assert!(scrape.0.contains("charter_webhook_attempts_total"));
}

async fn slow_statement_is_logged_with_its_request_and_without_values(server: Server) {
    // Every statement is slow.
    let watched = server.configured(|config| config.slow_statement = Some(Duration::from_nanos(1))).await;
    let body = json!({ "operations": [{ "method": "create", "product_group": { "name": "Geheimrat" } }] });
    let answer = watched.admin().post("/product_groups/bulk", body).await;
    let request_id = answer.status(200).header("x-request-id").expect("an id").to_string();
    let lines = logged(&request_id);
    let line = lines.lines().find(|line| line.contains("slow statement") && line.contains("INSERT INTO"));
    let line = line.unwrap_or_else(|| panic!("no slow statement: {lines}"));
    for part in ["WARN", "route=\"/api/v1/product_groups/bulk\"", "elapsed_ms=", "operation=\"INSERT\"", "$1"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(!lines.contains("Geheimrat"), "{lines}");
}

async fn request_log_carries_the_trace_id(server: Server) {
    let watched = server.configured(|config| config.slow_statement = Some(Duration::from_nanos(1))).await;
    let traced = watched.admin().with("traceparent", &format!("00-{TRACE}-00f067aa0ba902b7-01"));
    let body = json!({ "operations": [{ "method": "create", "product_group": { "name": "Traced" } }] });
    let answer = traced.post("/product_groups/bulk", body).await;
    let lines = logged(answer.status(200).header("x-request-id").expect("an id"));
    assert!(lines.lines().next().is_some_and(|line| line.contains(&format!("trace_id=\"{TRACE}\""))), "{lines}");
}

/// A server that delivers webhooks to this machine.
async fn delivering(server: &Server) -> Server {
    let networks = vec!["127.0.0.0/8".parse().expect("a network")];
    server
        .configured(|config| {
            config.webhook_policy = UrlPolicy { allow_http: true, networks };
            config.webhook_concurrency = 8;
        })
        .await
}

async fn delivery_continues_the_trace_of_the_request_that_caused_it(server: Server) {
    let server = delivering(&server).await;
    let (admin, receiver) = (server.admin(), Receiver::answering(204).await);
    let hook = json!({ "url": receiver.url(), "events": ["role.created"] });
    let hook = admin.post("/webhooks", hook).await.created("webhook");
    let traced = admin.with("traceparent", &format!("00-{TRACE}-00f067aa0ba902b7-01"));
    traced.post("/roles", json!({ "name": "Office" })).await.created("role");
    let received = receiver.wait_for(1).await;
    let parent = received[0].header("traceparent").to_string();
    assert!(parent.starts_with(&format!("00-{TRACE}-")) && parent.ends_with("-01"), "{parent}");
    assert!(!parent.contains("00f067aa0ba902b7"), "the parent-id is that of the attempt: {parent}");
    // The delivery log shows the same header.
    let start = Instant::now();
    let log = loop {
        let logs = admin.get(&format!("/webhooks/{}/logs", hook["id"])).await.records("logs");
        if let Some(log) = logs.into_iter().next() {
            break log;
        }
        assert!(start.elapsed() < Duration::from_secs(10), "the attempt is not logged");
    };
    let sent = admin.get(&format!("/webhooks/{}/logs/{}/request", hook["id"], log["id"])).await.record("request");
    assert_eq!(sent["headers"]["traceparent"], parent);
}

async fn delivery_has_no_traceparent_where_the_request_had_none_or_a_malformed_one(server: Server) {
    let server = delivering(&server).await;
    let (admin, receiver) = (server.admin(), Receiver::answering(204).await);
    admin.post("/webhooks", json!({ "url": receiver.url(), "events": ["role.created"] })).await.created("webhook");
    admin.post("/roles", json!({ "name": "Office" })).await.created("role");
    let malformed = admin.with("traceparent", &format!("00-{TRACE}-0000000000000000-01"));
    malformed.post("/roles", json!({ "name": "Yard" })).await.created("role");
    let received = receiver.wait_for(2).await;
    assert!(received.iter().all(|delivery| delivery.header("traceparent").is_empty()));
}
