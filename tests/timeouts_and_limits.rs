//! Statement timeouts, load shedding, and isolation of slow requests from others.

use std::time::{Duration, Instant};

use charter_runtime::db::{Dialect, Sql};
use charter_runtime::error::Error;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::support::{Answer, Client, Database, Server, on_both, run};

on_both!(
    statement_is_canceled_after_the_request_timeout_and_frees_its_connection,
    statement_of_a_disconnected_client_is_canceled,
    requests_within_the_timeout_succeed_on_reused_connections,
    requests_beyond_the_queue_are_refused_immediately,
    slow_uploads_hold_no_permit,
    writes_waiting_for_a_row_lock_leave_connections_to_reads,
    writes_waiting_for_a_unique_value_leave_connections_to_reads,
    writes_abandoned_by_clients_leave_connections_to_reads,
);

charter_testing::needs_postgres! {
    #[test]
    fn background_statements_have_no_timeout() {
        run(Database::Postgres, run_background_statements);
    }
}

/// Replaces the table of members by a view that takes a minute for its first row.
pub async fn make_members_slow(server: &Server) {
    server.admin().post("/members", json!({ "name": "Ada" })).await.created("member");
    let slow = match server.state.db.dialect() {
        Dialect::Postgres => "(SELECT pg_sleep(60)) IS NOT NULL",
        Dialect::Sqlite => {
            "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000000000) \
             SELECT COUNT(*) FROM n) > 0"
        }
    };
    server.sql("ALTER TABLE members RENAME TO members_kept").await;
    server.sql(&format!("CREATE VIEW members AS SELECT * FROM members_kept WHERE {slow}")).await;
}

/// A server with a request timeout of one second and two connections for reads.
async fn with_short_timeout(server: &Server) -> Server {
    server
        .configured(|config| {
            config.request_timeout = Duration::from_secs(1);
            config.database_pool = 2;
        })
        .await
}

/// Sixteen requests update a locked record, as many as may be in flight.
async fn writes_waiting_for_a_row_lock_leave_connections_to_reads(server: Server) {
    let client = server.admin();
    let id = client.post("/tax_classes", json!({ "name": "Full" })).await.created("tax_class")["id"].clone();
    let path = format!("/tax_classes/{id}");
    let other = server.second_node().await;
    let held = other.state.db.begin().await.expect("a transaction begins");
    let sql = format!("UPDATE tax_classes SET name = 'Held' WHERE id = {id}");
    Sql::new(server.state.db.dialect(), sql).run(&held).await.expect("the record is locked");
    let waiting: Vec<_> = (0..16)
        .map(|number| {
            let (client, path) = (server.admin(), path.clone());
            tokio::spawn(async move { client.put(&path, json!({ "name": format!("Waited {number}") })).await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_reads_are_fast(&client).await;
    held.commit().await.expect("it commits");
    let mut done = 0;
    for one in waiting {
        let answer = one.await.expect("it ends");
        assert!([200, 503].contains(&answer.status), "{}", answer.text);
        done += usize::from(answer.status == 200);
    }
    assert!(done >= 3, "{done}");
}

/// Reads are answered without delay.
async fn assert_reads_are_fast(client: &Client) {
    for _ in 0..3 {
        let start = Instant::now();
        client.get("/currencies?count=none").await.ok();
        client.get("~/health/ready").await.status(200);
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    }
}

/// Sixteen requests store a unique value that an open transaction has stored.
async fn writes_waiting_for_a_unique_value_leave_connections_to_reads(server: Server) {
    let client = server.admin();
    let id = client.post("/tax_classes", json!({ "name": "Full" })).await.created("tax_class")["id"].clone();
    let other = server.second_node().await;
    let held = other.state.db.begin().await.expect("a transaction begins");
    let sql = format!("UPDATE tax_classes SET name = 'Wanted' WHERE id = {id}");
    Sql::new(server.state.db.dialect(), sql).run(&held).await.expect("the value is stored");
    let waiting: Vec<_> = (0..16)
        .map(|_| {
            let client = server.admin();
            tokio::spawn(async move { client.post("/tax_classes", json!({ "name": "Wanted" })).await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_reads_are_fast(&client).await;
    held.commit().await.expect("it commits");
    for one in waiting {
        let answer = one.await.expect("it ends");
        assert!([422, 503].contains(&answer.status), "{}", answer.text);
    }
    let named = client.get("/tax_classes?q[name_eq]=Wanted").await.ok();
    assert_eq!(named["meta"]["total"], 1);
}

/// Sixteen clients one after the other give up an update of a locked record.
async fn writes_abandoned_by_clients_leave_connections_to_reads(server: Server) {
    let client = server.admin();
    let id = client.post("/tax_classes", json!({ "name": "Full" })).await.created("tax_class")["id"].clone();
    let path = format!("/tax_classes/{id}");
    let other = server.second_node().await;
    let held = other.state.db.begin().await.expect("a transaction begins");
    let sql = format!("UPDATE tax_classes SET name = 'Held' WHERE id = {id}");
    Sql::new(server.state.db.dialect(), sql).run(&held).await.expect("the record is locked");
    for _ in 0..16 {
        let gone = tokio::time::timeout(Duration::from_millis(200), client.put(&path, json!({ "name": "Waited" })));
        assert!(gone.await.is_err(), "the record is locked");
    }
    assert_reads_are_fast(&client).await;
    held.commit().await.expect("it commits");
}

/// A list that reads the table with each request.
async fn list_members(client: &Client) -> Answer {
    client.get("/members?count=none").await
}

async fn statement_is_canceled_after_the_request_timeout_and_frees_its_connection(server: Server) {
    let with_short_timeout = with_short_timeout(&server).await;
    let client = with_short_timeout.admin();
    client.get("/tax_classes").await.ok();
    make_members_slow(&with_short_timeout).await;
    let start = Instant::now();
    for answer in futures_util::future::join_all((0..4).map(|_| list_members(&client))).await {
        answer.refused(503, "unavailable");
        assert!(answer.header("retry-after").is_some());
    }
    // No request takes longer than the timeout, also those that waited for a connection.
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    let start = Instant::now();
    while client.get("/tax_classes?count=none").await.status != 200 {
        assert!(start.elapsed() < Duration::from_secs(4), "the connections are not free");
    }
    // Both connections work as before.
    let answers = futures_util::future::join_all((0..8).map(|_| client.get("/tax_classes"))).await;
    assert!(answers.iter().all(|answer| answer.status == 200));
}

async fn statement_of_a_disconnected_client_is_canceled(server: Server) {
    let with_short_timeout = with_short_timeout(&server).await;
    let client = with_short_timeout.admin();
    client.get("/tax_classes").await.ok();
    make_members_slow(&with_short_timeout).await;
    for _ in 0..4 {
        let gone = tokio::time::timeout(Duration::from_millis(100), list_members(&client)).await;
        assert!(gone.is_err(), "it is slow");
    }
    let start = Instant::now();
    while client.get("/tax_classes?count=none").await.status != 200 {
        assert!(start.elapsed() < Duration::from_secs(5), "the connections are not free");
    }
}

/// More than the timeout in total, on the same connections.
async fn requests_within_the_timeout_succeed_on_reused_connections(server: Server) {
    let with_short_timeout = with_short_timeout(&server).await;
    let client = with_short_timeout.admin();
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(2_500) {
        client.get("/currencies?per_page=100&q[name_cont]=e&sort=-name").await.ok();
    }
}

async fn run_background_statements(server: Server) {
    let with_short_timeout = with_short_timeout(&server).await;
    let db = &with_short_timeout.state.db;
    let sleep = || Sql::new(db.dialect(), "SELECT pg_sleep(1.3)");
    let ended = sleep().all(db.reader()).await;
    assert!(matches!(ended, Err(Error::Unavailable(_))), "{ended:?}");
    let write = db.begin().await.expect("a transaction begins");
    assert!(matches!(sleep().all(&write).await, Err(Error::Unavailable(_))));
    drop(write);
    let unhurried = db.begin_without_timeout().await.expect("a transaction begins");
    sleep().all(&unhurried).await.expect("no timeout");
    unhurried.commit().await.expect("it is committed");
    // The connection has its timeout again.
    assert!(sleep().all(db.reader()).await.is_err());
    let migrating = db.migrating();
    let unlimited = sea_orm::ConnectionTrait::execute_unprepared(&migrating, "SELECT pg_sleep(1.3)").await;
    unlimited.expect("migrations have no timeout");
    migrating.close().await.expect("it closes");
}

async fn requests_beyond_the_queue_are_refused_immediately(server: Server) {
    let limited = server
        .configured(|config| {
            config.request_timeout = Duration::from_secs(6);
            (config.request_concurrency, config.client_concurrency) = (Some(2), Some(2));
        })
        .await;
    let client = limited.admin();
    make_members_slow(&limited).await;
    let slow: Vec<_> = (0..2)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { list_members(&client).await })
        })
        .collect();
    let start = Instant::now();
    while client.get("/tax_classes").await.status == 200 {
        assert!(start.elapsed() < Duration::from_secs(4), "both permits are taken");
    }
    let start = Instant::now();
    let reads = (0..60).map(|_| client.get("/tax_classes"));
    let writes = (0..4).map(|_| client.post("/product_groups", json!({ "name": "x" })));
    let health = ["~/health/live", "~/health/ready", "~/health/metrics"].map(|path| client.get(path));
    let (reads, writes, health) = tokio::join!(
        futures_util::future::join_all(reads),
        futures_util::future::join_all(writes),
        futures_util::future::join_all(health)
    );
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    for answer in reads.iter().chain(&writes) {
        answer.refused(503, "overloaded");
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    assert!(health.iter().all(|answer| answer.status == 200), "health checks are not limited");
    for slow in slow {
        slow.await.expect("it is answered").refused(503, "unavailable");
    }
    for answer in futures_util::future::join_all((0..20).map(|_| client.get("/tax_classes"))).await {
        answer.ok();
    }
    let groups = client.get("/product_groups?q[name_eq]=x").await.ok();
    assert_eq!(groups["meta"]["total"], 0, "a refused write has not been done");
}

async fn slow_uploads_hold_no_permit(server: Server) {
    let limited = server.configured(|config| config.request_concurrency = Some(1)).await;
    let client = limited.admin();
    let body = json!({ "name": "slow" }).to_string();
    let mut streams = Vec::new();
    for (path, kind) in [("members", "application/json"), ("attachments", "multipart/form-data; boundary=x")] {
        let stream = TcpStream::connect(limited.address).await.expect("the server listens");
        let mut stream = BufReader::new(stream);
        let head = format!(
            "POST /api/v1/{path} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {}\r\ncontent-length: {}\r\n\
             content-type: {kind}\r\nexpect: 100-continue\r\n\r\n",
            limited.token(&["*"]).await,
            body.len()
        );
        stream.write_all(head.as_bytes()).await.expect("the server reads");
        let mut line = String::new();
        stream.read_line(&mut line).await.expect("the server asks for the body");
        assert!(line.starts_with("HTTP/1.1 100"), "{line}");
        stream.read_line(&mut line).await.expect("an empty line follows");
        streams.push(stream);
    }
    // Both requests are open, and there is one permit.
    client.get("/tax_classes").await.ok();
    let mut stream = streams.swap_remove(0);
    stream.write_all(body.as_bytes()).await.expect("the server still reads");
    let mut line = String::new();
    stream.read_line(&mut line).await.expect("the server answers");
    assert!(line.starts_with("HTTP/1.1 201"), "{line}");
    client.get("/tax_classes").await.ok();
}
