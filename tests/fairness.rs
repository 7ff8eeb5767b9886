//! Clients that send many or slow requests, and what others notice of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use charter_runtime::auth::Secret;
use charter_runtime::db::Sql;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Client, Database, Server, on_both, run};
use crate::timeouts_and_limits::make_members_slow;

on_both!(
    slow_lists_of_a_token_delay_no_other_token_and_no_read_of_a_record,
    bulk_writes_of_a_token_do_not_stand_before_a_write_of_another,
    valid_token_is_served_after_a_restart_while_its_address_sends_wrong_ones,
    preflight_requests_count_for_no_address,
    bulk_write_counts_as_a_tenth_of_its_operations,
);

charter_testing::needs_postgres! {
    #[test]
    fn write_to_a_locked_record_is_refused_within_seconds_and_others_succeed() {
        run(Database::Postgres, write_to_a_locked_record);
    }
}

async fn slow_lists_of_a_token_delay_no_other_token_and_no_read_of_a_record(server: Server) {
    let server = server
        .configured(|config| {
            config.request_timeout = Duration::from_secs(6);
            (config.request_concurrency, config.database_pool) = (Some(8), 4);
        })
        .await;
    let (admin, noisy) = (server.admin(), server.able(&["*"]).await);
    let id = admin.post("/tax_classes", json!({ "name": "Full" })).await.created("tax_class")["id"].clone();
    make_members_slow(&server).await;
    noisy.get("/tax_classes").await.ok();
    let slow: Vec<_> = (0..8)
        .map(|number| {
            let noisy = noisy.clone();
            // Each is another statement: identical ones would share one execution.
            tokio::spawn(async move { noisy.get(&format!("/members?count=none&q[id_gt]=-{number}")).await.status })
        })
        .collect();
    let start = Instant::now();
    let second = Duration::from_secs(1);
    while tokio::time::timeout(second, noisy.get("/tax_classes")).await.is_ok() {
        assert!(start.elapsed() < 3 * second, "the share of the token is used");
    }
    for _ in 0..3 {
        let start = Instant::now();
        admin.get("/currencies").await.ok();
        admin.post("/products", json!({ "name": "Lamp" })).await.created("product");
        admin.get(&format!("/tax_classes/{id}")).await.ok();
        noisy.get(&format!("/tax_classes/{id}")).await.ok();
        assert!(start.elapsed() < 3 * second, "{:?}", start.elapsed());
    }
    slow.iter().for_each(tokio::task::JoinHandle::abort);
}

async fn bulk_writes_of_a_token_do_not_stand_before_a_write_of_another(server: Server) {
    const BULKS: usize = 8;
    let (admin, noisy) = (server.admin(), server.able(&["*"]).await);
    noisy.get("/products").await.ok();
    let lamp = json!({ "method": "create", "product": { "name": "Lamp" } });
    let body = json!({ "operations": vec![lamp; 100] });
    let done = Arc::new(AtomicUsize::new(0));
    let bulks: Vec<_> = (0..BULKS)
        .map(|_| {
            let (noisy, body, done) = (noisy.clone(), body.clone(), done.clone());
            tokio::spawn(async move {
                noisy.post("/products/bulk", body).await.ok();
                done.fetch_add(1, Ordering::SeqCst);
            })
        })
        .collect();
    let start = Instant::now();
    while done.load(Ordering::SeqCst) == 0 {
        assert!(start.elapsed() < Duration::from_secs(20), "a bulk write is done");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let before = done.load(Ordering::SeqCst);
    admin.post("/tax_classes", json!({ "name": "Full" })).await.created("tax_class");
    let after = done.load(Ordering::SeqCst);
    assert!(after < BULKS && after - before <= 3, "{before} bulk writes were done, and then {after} of {BULKS}");
    for bulk in bulks {
        bulk.await.expect("it is written");
    }
}

async fn write_to_a_locked_record(server: Server) {
    let (admin, noisy) = (server.admin(), server.able(&["*"]).await);
    let create = async |name| admin.post("/tax_classes", json!({ "name": name })).await.created("tax_class");
    let (locked, free) = (create("Locked").await, create("Free").await);
    let path = |record: &Value| format!("/tax_classes/{}", record["id"]);
    let other = server.second_node().await;
    let held = other.state.db.begin().await.expect("a transaction begins");
    let sql = format!("SELECT id FROM tax_classes WHERE id = {} FOR UPDATE", locked["id"]);
    Sql::new(server.state.db.dialect(), sql).all(&held).await.expect("the record is locked");
    noisy.get("/tax_classes").await.ok();
    let start = Instant::now();
    let waiting: Vec<_> = (0..8)
        .map(|number| {
            let (noisy, path) = (noisy.clone(), path(&locked));
            tokio::spawn(async move { noisy.put(&path, json!({ "name": format!("Name {number}") })).await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(300)).await;
    for number in 0..5 {
        let start = Instant::now();
        admin.put(&path(&free), json!({ "name": format!("Free {number}") })).await.ok();
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    }
    let mut messages = Vec::new();
    for answer in waiting {
        let answer = answer.await.expect("it is answered");
        messages.push(answer.refused(503, "unavailable")["message"].to_string());
        assert!(answer.header("retry-after").is_some());
    }
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert!(messages.iter().any(|message| message.contains("locked")), "{messages:?}");
    held.commit().await.expect("it ends");
    noisy.put(&path(&locked), json!({ "name": "Released" })).await.ok();
}

async fn valid_token_is_served_after_a_restart_while_its_address_sends_wrong_ones(server: Server) {
    let mut tokens = Vec::new();
    for _ in 0..5 {
        tokens.push(server.token(&["products:read"]).await);
    }
    let wrong = || Secret::generate().expect("a secret").reveal().to_string();
    let restarted = server.second_node_with(|config| config.rate_limit_anonymous = 60).await;
    let guess = async |client: Client| client.get("/products").await.status;
    for number in 0..61 {
        assert_eq!(guess(restarted.client(&wrong())).await, if number < 60 { 401 } else { 429 });
    }
    let guesses = futures_util::future::join_all((0..200).map(|_| guess(restarted.client(&wrong()))));
    let valid = futures_util::future::join_all(tokens.iter().map(|token| guess(restarted.client(token))));
    let (guesses, valid) = tokio::join!(guesses, valid);
    assert!(guesses.iter().all(|status| [429, 503].contains(status)), "{guesses:?}");
    assert_eq!(valid, [200; 5]);
}

async fn preflight_requests_count_for_no_address(server: Server) {
    let limited = server.configured(|config| config.rate_limit_anonymous = 2).await;
    let anonymous = limited.anonymous();
    for _ in 0..5 {
        anonymous.send(Method::OPTIONS, "/products", None).await.refused(401, "unauthenticated");
    }
    for status in [401, 401, 429] {
        anonymous.get("/products").await.status(status);
    }
}

async fn bulk_write_counts_as_a_tenth_of_its_operations(server: Server) {
    let limited = server.configured(|config| config.rate_limit = 10).await;
    let admin = limited.admin();
    let lamp = json!({ "method": "create", "product": { "name": "Lamp" } });
    for (operations, remaining) in [(1, "9"), (10, "8"), (35, "4"), (50, "0")] {
        let answer = admin.post("/products/bulk", json!({ "operations": vec![lamp.clone(); operations] })).await;
        answer.ok();
        assert_eq!(answer.header("ratelimit-remaining"), Some(remaining), "{operations}");
    }
    admin.get("/products").await.refused(429, "rate_limited");
}
