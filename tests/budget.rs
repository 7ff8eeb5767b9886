//! What a request may cost the database: a statement that takes too long is ended, and its connection is free again.

use std::time::{Duration, Instant};

use charter_runtime::db::{Dialect, Sql};
use charter_runtime::error::Error;
use serde_json::json;

use crate::support::{Answer, Client, Database, Server, on_both, run};

on_both!(
    a_statement_that_takes_too_long_is_ended_and_its_connection_is_free,
    what_a_client_no_longer_waits_for_is_ended,
    what_is_under_way_before_the_limit_is_answered,
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
    let unhurried = db.begin_unhurried().await.expect("a transaction begins");
    sleep().all(&unhurried).await.expect("it may take its time");
    unhurried.commit().await.expect("it is committed");
    // The connection has its limit again.
    assert!(sleep().all(db.reader()).await.is_err());
    let migrating = db.migrating();
    let unlimited = sea_orm::ConnectionTrait::execute_unprepared(&migrating, "SELECT pg_sleep(1.3)").await;
    unlimited.expect("migrations take as long as they take");
    migrating.close().await.expect("it closes");
}
