//! The database's host is lost without a word, and another takes its place: what waited for the first lets go.

use std::time::{Duration, Instant};

use charter_runtime::db::Sql;
use serde_json::json;

use crate::support::{Database, Server, TcpProxy, postgres, run};

#[test]
fn what_waits_for_a_host_that_is_gone_lets_go() {
    run(Database::Postgres, lets_go);
}

async fn lets_go(server: Server) {
    let wire = TcpProxy::to(postgres::server().expect("PostgreSQL is installed").port()).await;
    let far = server
        .second_node_with(|config| {
            config.database_url = wire.url(&config.database_url);
            config.request_timeout = Duration::from_secs(1);
            config.database_pool = 4;
        })
        .await;
    let (near, client) = (server.admin(), far.admin());
    for name in ["One", "Two", "Three"] {
        near.post("/tax_classes", json!({ "name": name })).await.created("tax_class");
    }
    client.get("/tax_classes").await.ok();
    // All of its connections wait: for one record those that go together, those that go alone, and transactions.
    let held = server.state.db.begin().await.expect("a transaction begins");
    let lock = "UPDATE tax_classes SET name = name || '!'";
    Sql::new(server.state.db.dialect(), lock).run(&held).await.expect("the records are locked");
    let waiting: Vec<_> = (0..12)
        .map(|number| {
            let (client, path) = (far.admin(), format!("/tax_classes/{}", number % 3 + 1));
            tokio::spawn(async move {
                match number % 2 {
                    0 => client.put(&path, json!({ "name": format!("Waited {number}") })).await,
                    _ => client.post("/tax_classes", json!({ "name": "One!" })).await,
                }
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(400)).await;
    wire.stall();
    for one in waiting {
        one.await.expect("it is answered").refused(503, "unavailable");
    }
    held.commit().await.expect("it commits");
    let begun = Instant::now();
    while client.get("/tax_classes?count=none").await.status != 200 {
        assert!(begun.elapsed() < Duration::from_secs(40), "the connections are not free");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    // Reads and writes have connections of their own: those that write are free again, too, all of them.
    loop {
        let writes = (0..6).map(|number| client.put("/tax_classes/1", json!({ "name": format!("After {number}") })));
        let answers = futures_util::future::join_all(writes).await;
        if answers.iter().all(|answer| answer.status == 200) {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(40), "the connections that write are not free");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
