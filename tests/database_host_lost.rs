//! Failover: the database's host stops answering without closing its connections, and another takes its place.

use std::time::{Duration, Instant};

use charter_runtime::db::Sql;
use serde_json::json;

use crate::support::{Database, Server, TcpProxy, postgres, run};

charter_testing::needs_postgres! {
    #[test]
    fn requests_fail_and_connections_recover_when_the_database_host_is_lost() {
        run(Database::Postgres, lose_the_database_host);
    }
}

async fn lose_the_database_host(server: Server) {
    let wire = TcpProxy::to(postgres::server().port()).await;
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
    // All connections wait for row locks, in batched writes, single writes and transactions.
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
    let start = Instant::now();
    while client.get("/tax_classes?count=none").await.status != 200 {
        assert!(start.elapsed() < Duration::from_secs(40), "the connections are not free");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    // Writes have their own connections, which must all be free again too.
    loop {
        let writes = (0..6).map(|number| client.put("/tax_classes/1", json!({ "name": format!("After {number}") })));
        let answers = futures_util::future::join_all(writes).await;
        if answers.iter().all(|answer| answer.status == 200) {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(40), "the connections for writes are not free");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
