//! What a request may cost the others: a statement that takes too long is ended, and its connection is free again; and of
//! more requests than can be worked on the rest is refused at once.

use std::time::{Duration, Instant};

use charter_runtime::db::{Dialect, Sql};
use charter_runtime::error::Error;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::support::{Answer, Client, Database, Server, on_both, run};

on_both!(
    a_statement_that_takes_too_long_is_ended_and_its_connection_is_free,
    what_a_client_no_longer_waits_for_is_ended,
    what_is_under_way_before_the_limit_is_answered,
    more_than_can_be_worked_on_is_refused_at_once,
    who_sends_slowly_keeps_nobody_waiting,
    who_waits_for_a_record_leaves_connections_to_who_reads,
    who_waits_for_a_value_leaves_connections_to_who_reads,
    who_hangs_up_leaves_connections_to_who_reads,
);

#[test]
fn what_no_request_waits_for_takes_as_long_as_it_takes() {
    run(Database::Postgres, upkeep_has_no_limit);
}

/// Puts something in the place of the members that takes a minute to find the first one.
async fn slow_down(server: &Server) {
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

/// A server whose requests have a second, and two connections for what they read.
async fn hurried(server: &Server) -> Server {
    server
        .configured(|config| {
            config.request_timeout = Duration::from_secs(1);
            config.database_pool = 2;
        })
        .await
}

/// Sixteen change what somebody else has locked, which is as many requests as are worked on at once.
async fn who_waits_for_a_record_leaves_connections_to_who_reads(server: Server) {
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
    others_read(&client).await;
    held.commit().await.expect("it commits");
    let mut done = 0;
    for one in waiting {
        let answer = one.await.expect("it ends");
        assert!([200, 503].contains(&answer.status), "{}", answer.text);
        done += usize::from(answer.status == 200);
    }
    assert!(done >= 3, "{done}");
}

/// Those who only read are answered at once.
async fn others_read(client: &Client) {
    for _ in 0..3 {
        let begun = Instant::now();
        client.get("/currencies?count=none").await.ok();
        client.get("~/health/ready").await.status(200);
        assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    }
}

/// Sixteen store a value that is unique, and that somebody else may be about to store.
async fn who_waits_for_a_value_leaves_connections_to_who_reads(server: Server) {
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
    others_read(&client).await;
    held.commit().await.expect("it commits");
    for one in waiting {
        let answer = one.await.expect("it ends");
        assert!([422, 503].contains(&answer.status), "{}", answer.text);
    }
    let named = client.get("/tax_classes?q[name_eq]=Wanted").await.ok();
    assert_eq!(named["meta"]["total"], 1);
}

/// Sixteen times one after the other somebody gives up who waits for a record that somebody else has locked.
async fn who_hangs_up_leaves_connections_to_who_reads(server: Server) {
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
    others_read(&client).await;
    held.commit().await.expect("it commits");
}

/// A list that reads a table with every request.
async fn ask(client: &Client) -> Answer {
    client.get("/members?count=none").await
}

async fn a_statement_that_takes_too_long_is_ended_and_its_connection_is_free(server: Server) {
    let hurried = hurried(&server).await;
    let client = hurried.admin();
    client.get("/tax_classes").await.ok();
    slow_down(&hurried).await;
    let begun = Instant::now();
    for answer in futures_util::future::join_all((0..4).map(|_| ask(&client))).await {
        answer.refused(503, "unavailable");
        assert!(answer.header("retry-after").is_some());
    }
    // Nobody waits longer than the limit, and those who have waited for a connection are answered as well.
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    let begun = Instant::now();
    while client.get("/tax_classes?count=none").await.status != 200 {
        assert!(begun.elapsed() < Duration::from_secs(4), "the connections are not free");
    }
    // Both of them, and they work as before.
    let answers = futures_util::future::join_all((0..8).map(|_| client.get("/tax_classes"))).await;
    assert!(answers.iter().all(|answer| answer.status == 200));
}

async fn what_a_client_no_longer_waits_for_is_ended(server: Server) {
    let hurried = hurried(&server).await;
    let client = hurried.admin();
    client.get("/tax_classes").await.ok();
    slow_down(&hurried).await;
    for _ in 0..4 {
        let gone = tokio::time::timeout(Duration::from_millis(100), ask(&client)).await;
        assert!(gone.is_err(), "it is slow");
    }
    let begun = Instant::now();
    while client.get("/tax_classes?count=none").await.status != 200 {
        assert!(begun.elapsed() < Duration::from_secs(5), "the connections are not free");
    }
}

/// Half a second of the same work, many times after one another on the same connections.
async fn what_is_under_way_before_the_limit_is_answered(server: Server) {
    let hurried = hurried(&server).await;
    let client = hurried.admin();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(2_500) {
        client.get("/currencies?per_page=100&q[name_cont]=e&sort=-name").await.ok();
    }
}

async fn upkeep_has_no_limit(server: Server) {
    let hurried = hurried(&server).await;
    let db = &hurried.state.db;
    let sleep = || Sql::new(db.dialect(), "SELECT pg_sleep(1.3)");
    let ended = sleep().all(db.reader()).await;
    assert!(matches!(ended, Err(Error::Unavailable(_))), "{ended:?}");
    let write = db.begin().await.expect("a transaction begins");
    assert!(matches!(sleep().all(&write).await, Err(Error::Unavailable(_))));
    drop(write);
    let unhurried = db.begin_without_timeout().await.expect("a transaction begins");
    sleep().all(&unhurried).await.expect("it may take its time");
    unhurried.commit().await.expect("it is committed");
    // The connection has its limit again.
    assert!(sleep().all(db.reader()).await.is_err());
    let migrating = db.migrating();
    let unlimited = sea_orm::ConnectionTrait::execute_unprepared(&migrating, "SELECT pg_sleep(1.3)").await;
    unlimited.expect("migrations take as long as they take");
    migrating.close().await.expect("it closes");
}

async fn more_than_can_be_worked_on_is_refused_at_once(server: Server) {
    let limited = server
        .configured(|config| {
            config.request_timeout = Duration::from_secs(6);
            config.request_concurrency = Some(2);
        })
        .await;
    let client = limited.admin();
    slow_down(&limited).await;
    let slow: Vec<_> = (0..2)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { ask(&client).await })
        })
        .collect();
    let begun = Instant::now();
    while client.get("/tax_classes").await.status == 200 {
        assert!(begun.elapsed() < Duration::from_secs(4), "both are worked on");
    }
    let begun = Instant::now();
    let reads = (0..60).map(|_| client.get("/tax_classes"));
    let writes = (0..4).map(|_| client.post("/product_groups", json!({ "name": "x" })));
    let health = ["~/health/live", "~/health/ready", "~/health/metrics"].map(|path| client.get(path));
    let (reads, writes, health) = tokio::join!(
        futures_util::future::join_all(reads),
        futures_util::future::join_all(writes),
        futures_util::future::join_all(health)
    );
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    for answer in reads.iter().chain(&writes) {
        answer.refused(503, "overloaded");
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    assert!(health.iter().all(|answer| answer.status == 200), "how the server is can always be asked");
    for slow in slow {
        slow.await.expect("it is answered").refused(503, "unavailable");
    }
    for answer in futures_util::future::join_all((0..20).map(|_| client.get("/tax_classes"))).await {
        answer.ok();
    }
    let groups = client.get("/product_groups?q[name_eq]=x").await.ok();
    assert_eq!(groups["meta"]["total"], 0, "what was refused has not been done");
}

async fn who_sends_slowly_keeps_nobody_waiting(server: Server) {
    let limited = server.configured(|config| config.request_concurrency = Some(1)).await;
    let client = limited.admin();
    let body = json!({ "name": "slow" }).to_string();
    let mut begun = Vec::new();
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
        begun.push(stream);
    }
    // Both are under way, and there is one turn.
    client.get("/tax_classes").await.ok();
    let mut stream = begun.swap_remove(0);
    stream.write_all(body.as_bytes()).await.expect("the server still reads");
    let mut line = String::new();
    stream.read_line(&mut line).await.expect("the server answers");
    assert!(line.starts_with("HTTP/1.1 201"), "{line}");
    client.get("/tax_classes").await.ok();
}
