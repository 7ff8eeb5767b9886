//! Tests and resends with an `Idempotency-Key` are sent once.

use std::time::Duration;

use charter_runtime::db::Dialect;
use serde_json::{Value, json};

use super::{delivering, path, role, webhook};
use crate::support::{Client, Receiver, Reply, Server, on_both};

on_both!(
    repeated_test_with_one_key_is_sent_once,
    concurrent_tests_with_one_key_are_sent_once,
    waiting_tests_do_not_block_writes,
    repeated_resend_with_one_key_is_sent_once,
    failed_test_can_be_retried_with_the_same_key,
    test_continues_after_its_client_disconnects,
    idempotency_key_of_a_crashed_request_is_released_after_its_lease,
);

/// A webhook with a slow receiver, and a client with a key.
async fn slow(server: &Server, millis: u64) -> (Receiver, String, Client) {
    let reply = move |_: &_| {
        tokio::task::block_in_place(|| std::thread::sleep(Duration::from_millis(millis)));
        Reply::status(204)
    };
    let receiver = Receiver::start(reply).await;
    let hook = webhook(&server.admin(), &receiver.url(), &["role.created"]).await;
    (receiver, format!("{}/test", path(&hook)), server.admin().with("idempotency-key", "one"))
}

async fn repeated_test_with_one_key_is_sent_once(server: Server) {
    let server = delivering(&server).await;
    let (receiver, test, client) = slow(&server, 0).await;
    let first = client.post(&test, json!({})).await;
    let again = client.post(&test, json!({})).await;
    assert_eq!(again.record("delivery"), first.record("delivery"));
    assert_eq!([first.header("idempotent-replayed"), again.header("idempotent-replayed")], [None, Some("true")]);
    assert_eq!(receiver.received().len(), 1);
    client.post(&format!("{test}?x=1"), json!({})).await.invalid("Idempotency-Key");
    client.post("/roles", json!({ "name": "Office" })).await.invalid("Idempotency-Key");
    server.admin().with("idempotency-key", "two").post(&test, json!({})).await.record("delivery");
    assert_eq!(receiver.received().len(), 2);
}

async fn concurrent_tests_with_one_key_are_sent_once(server: Server) {
    let server = delivering(&server).await;
    let (receiver, test, client) = slow(&server, 1000).await;
    let policy = server.state.config.webhook_policy.clone();
    let other = server.second_node_with(|config| config.webhook_policy = policy).await;
    let elsewhere = other.admin().with("idempotency-key", "one");
    let post = |client: Client| {
        let test = test.clone();
        async move { client.post(&test, json!({})).await }
    };
    let clients = [client.clone(), client.clone(), elsewhere, client.clone()];
    let answers = futures_util::future::join_all(clients.map(post)).await;
    let replayed = answers.iter().filter(|answer| answer.header("idempotent-replayed").is_some()).count();
    assert!(answers.iter().all(|answer| answer.record("delivery") == answers[0].record("delivery")));
    assert_eq!((replayed, receiver.received().len()), (3, 1));
    // The key is rejected for another request while the first is in progress.
    let (receiver, test, client) = slow(&server, 1000).await;
    let client = client.with("idempotency-key", "two");
    let running = tokio::spawn({
        let (client, test) = (client.clone(), test.clone());
        async move { client.post(&test, json!({})).await }
    });
    while receiver.connections() == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    client.post("/roles", json!({ "name": "Office" })).await.invalid("Idempotency-Key");
    running.await.expect("it is answered").record("delivery");
    other.stop().await;
}

async fn waiting_tests_do_not_block_writes(server: Server) {
    let policy = delivering(&server).await.state.config.webhook_policy.clone();
    let server = server
        .configured(|config| {
            config.webhook_policy = policy;
            config.request_concurrency = Some(2);
        })
        .await;
    let (receiver, test, _) = slow(&server, 1500).await;
    let testing = (0..2).map(|_| {
        let (client, test) = (server.admin(), test.clone());
        tokio::spawn(async move { client.post(&test, json!({})).await.status })
    });
    let testing: Vec<_> = testing.collect();
    while receiver.connections() == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    for name in ["One", "Two", "Three"] {
        server.admin().post("/tax_classes", json!({ "name": name })).await.created("tax_class");
    }
    let mut statuses = Vec::new();
    for one in testing {
        statuses.push(one.await.expect("it is answered"));
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 503], "half as many as there are turns");
}

async fn repeated_resend_with_one_key_is_sent_once(server: Server) {
    let server = delivering(&server).await;
    let (receiver, test, client) = slow(&server, 0).await;
    role(&server, "Once more").await;
    receiver.wait_for(1).await;
    let logs = test.replace("/test", "/logs");
    while server.admin().get(&logs).await.records("logs").is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let id = server.admin().get(&logs).await.records("logs")[0]["id"].clone();
    let resend = format!("{logs}/{id}/resend");
    let deliveries = [client.post(&resend, json!({})).await, client.post(&resend, json!({})).await];
    assert_eq!(deliveries[0].record("delivery"), deliveries[1].record("delivery"));
    assert_eq!(receiver.received().len(), 2);
    client.post(&format!("{logs}/99/resend"), json!({})).await.invalid("Idempotency-Key");
}

async fn failed_test_can_be_retried_with_the_same_key(server: Server) {
    let server = delivering(&server).await;
    let (receiver, test, client) = slow(&server, 0).await;
    let (refuse, allow) = match server.state.db.dialect() {
        Dialect::Postgres => (
            "ALTER TABLE webhook_deliveries ADD CONSTRAINT broken CHECK (NOT manual)",
            "ALTER TABLE webhook_deliveries DROP CONSTRAINT broken",
        ),
        Dialect::Sqlite => (
            "CREATE TRIGGER broken BEFORE INSERT ON webhook_deliveries BEGIN SELECT RAISE(ABORT, 'broken'); END",
            "DROP TRIGGER broken",
        ),
    };
    server.sql(refuse).await;
    let status = client.post(&test, json!({})).await.status;
    assert!(matches!(status, 409 | 500), "{status}");
    server.sql(allow).await;
    let answer = client.post(&test, json!({})).await;
    assert_eq!((&answer.record("delivery")["delivered"], answer.header("idempotent-replayed")), (&json!(true), None));
    assert_eq!(receiver.received().len(), 1);
}

async fn test_continues_after_its_client_disconnects(server: Server) {
    let server = delivering(&server).await;
    let (receiver, test, client) = slow(&server, 1000).await;
    let asked = tokio::time::timeout(Duration::from_millis(500), client.post(&test, json!({}))).await;
    assert!(asked.is_err(), "the client went away first");
    let again = client.post(&test, json!({})).await;
    assert_eq!(again.record("delivery")["delivered"], true);
    assert_eq!((again.header("idempotent-replayed"), receiver.received().len()), (Some("true"), 1));
}

/// As after a crash between sending and storing the reply: the row has no reply.
async fn idempotency_key_of_a_crashed_request_is_released_after_its_lease(server: Server) {
    let server = delivering(&server).await;
    let (receiver, test, client) = slow(&server, 0).await;
    client.post(&test, json!({})).await.record("delivery");
    server.sql("UPDATE idempotency_keys SET status = 0, body = ''").await;
    let begun = std::time::Instant::now();
    let answer = client.post(&test, json!({})).await;
    answer.refused(409, "in_progress");
    assert!(answer.header("retry-after").is_some() && begun.elapsed() >= Duration::from_secs(9));
    // The request timeout and 30 seconds.
    server.state.clock.advance(server.state.config.request_timeout + Duration::from_secs(30));
    let answer = client.post(&test, json!({})).await;
    answer.record("delivery");
    assert_eq!((answer.header("idempotent-replayed"), receiver.received().len()), (None, 2));
    let again: Value = client.post(&test, json!({})).await.record("delivery");
    assert_eq!((again, receiver.received().len()), (answer.record("delivery"), 2));
}
