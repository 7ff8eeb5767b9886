//! Several processes on one PostgreSQL behind a connection pooler in transaction mode.
//!
//! The pooler has fewer connections than the processes together, so that sessions are shared.

use std::time::{Duration, Instant};

use charter_runtime::db::Sql;
use sea_orm::{ConnectionTrait, Database as Connector};
use serde_json::{Value, json};

use crate::support::{Client, Pooler, Server, log, postgres};

/// Connections of the pooler.
const CONNECTIONS: usize = 4;

/// Runs a test on a server behind a pooler, over a new database that it has migrated through the pooler. `setup` is
/// run in the database first.
fn run_behind_pooler<T: Future<Output = ()>>(setup: &str, test: impl FnOnce(Server) -> T) {
    log();
    let pooler = Pooler::start(CONNECTIONS);
    let url = postgres::server().create_database(None);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime starts").block_on(async {
        let direct = Connector::connect(&url).await.expect("PostgreSQL runs");
        direct.execute_unprepared(setup).await.expect("the statement runs");
        direct.close().await.expect("a connection can be closed");
        test(Server::over(&pooler.url(&url)).await).await;
    });
}

charter_testing::needs_pgbouncer! {
    #[test]
    fn processes_behind_a_pooler_share_records_and_tokens() {
        run_behind_pooler("SELECT 1", crate::server::two_nodes_share_a_database);
    }
}

charter_testing::needs_pgbouncer! {
    #[test]
    fn processes_behind_a_pooler_agree_on_totals_during_writes() {
        run_behind_pooler("SELECT 1", async |server: Server| {
            let second = server.second_node().await;
            let clients = [server.admin(), second.admin()];
            let write = |client: Client, name: String| {
                tokio::spawn(async move {
                    for _ in 0..12 {
                        let record = client.post("/members", json!({ "name": name })).await.created("member");
                        // Every total that is requested from now on includes the committed record.
                        assert!(total(&client, "q[name_cont]=writer").await >= 1);
                        if record["id"].as_i64().is_some_and(|id| id % 3 == 0) {
                            client.delete(&format!("/members/{}", record["id"])).await.deleted();
                        }
                    }
                })
            };
            let writers: Vec<_> =
                (0..6).map(|number| write(clients[number % 2].clone(), format!("writer {number}"))).collect();
            for writer in writers {
                writer.await.expect("it writes");
            }
            let left =
                server.texts("SELECT COUNT(*)::text AS text FROM members").await[0].parse::<i64>().expect("a number");
            for client in &clients {
                assert_eq!([total(client, "").await, total(client, "q[name_cont]=writer").await], [left; 2]);
            }
            // In turns: the next response of the other process includes each write.
            for round in 1..=10 {
                clients[round % 2].post("/members", json!({ "name": "writer in turn" })).await.created("member");
                let other = &clients[(round + 1) % 2];
                assert_eq!(total(other, "q[name_eq]=writer+in+turn").await, round as i64);
            }
        });
    }
}

charter_testing::needs_pgbouncer! {
    #[test]
    fn concurrent_lists_behind_a_pooler_have_their_own_rows() {
        run_behind_pooler("SELECT 1", async |server: Server| {
            let second = server.second_node().await;
            let clients = [server.admin(), second.admin()];
            let readers = (0..16).map(|number| {
                let client = clients[number % 2].clone();
                tokio::spawn(async move {
                    for round in 0..20 {
                        // Writes in between make the pooler reassign its connections, and invalidate the caches.
                        let name = format!("listed {number} {round}");
                        client.post("/members", json!({ "name": name })).await.created("member");
                        let query = format!("/members?q[name_eq]=listed+{number}+{round}");
                        let page = client.get(&query).await.ok();
                        assert_eq!(page["meta"]["total"], 1, "{query}: {page}");
                        assert_eq!(page["members"][0]["name"], name, "{query}");
                    }
                })
            });
            for reader in readers.collect::<Vec<_>>() {
                reader.await.expect("each list has its own rows");
            }
        });
    }
}

async fn total(client: &Client, query: &str) -> i64 {
    client.get(&format!("/members?{query}")).await.ok()["meta"]["total"].as_i64().expect("a total")
}

charter_testing::needs_pgbouncer! {
    #[test]
    fn idempotency_key_works_across_processes_behind_a_pooler() {
        run_behind_pooler("SELECT 1", async |server: Server| {
            let second = server.second_node().await;
            for number in 0..5 {
                let submit = |server: &Server| {
                    let client = server.admin().with("idempotency-key", &format!("key-{number}"));
                    async move { client.post("/members", json!({ "name": format!("once {number}") })).await }
                };
                let (one, two) = tokio::join!(submit(&server), submit(&second));
                assert_eq!(one.status(201).header("etag"), two.status(201).header("etag"));
                let replayed = [&one, &two].iter().filter(|answer| answer.header("idempotent-replayed").is_some()).count();
                assert_eq!(replayed, 1, "one of them was carried out");
                assert_eq!(total(&server.admin(), &format!("q[name_eq]=once+{number}")).await, 1);
            }
        });
    }
}

charter_testing::needs_pgbouncer! {
    #[test]
    fn processes_behind_a_pooler_share_views_and_custom_fields() {
        run_behind_pooler("SELECT 1", async |server: Server| {
            let second = server.second_node().await;
            let (one, two) = (server.admin(), second.admin());
            let field = json!({ "entity_type": "members", "name": "shoe", "field_type": "integer" });
            one.post("/custom_fields", field).await.created("custom_field");
            let member = json!({ "name": "Ada", "custom_fields": { "shoe": 38 } });
            two.post("/members", member).await.created("member");
            assert_eq!(total(&one, "q[cf.shoe_gt]=37").await, 1);
            // The indexes are created in the background, and their lock is released.
            let started = Instant::now();
            while !server
                .texts("SELECT indexname::text AS text FROM pg_indexes")
                .await
                .iter()
                .any(|name| name.starts_with("cf_"))
            {
                assert!(started.elapsed() < Duration::from_secs(20), "the index is created");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            let locks = "SELECT 1::text AS text FROM pg_locks WHERE locktype = 'advisory' AND granted \
                        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
            while !server.texts(locks).await.is_empty() {
                assert!(started.elapsed() < Duration::from_secs(20), "the lock is released");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            let filter = |value: &str| json!([{ "field": "name", "predicate": "eq", "value": value }]);
            let view = json!({ "name": "v", "entity_type": "members", "columns": ["name"], "filters": filter("Ada") });
            let id = one.post("/custom_views", view).await.created("custom_view")["id"].to_string();
            assert_eq!(total(&two, &format!("view_id={id}")).await, 1);
            one.put(&format!("/custom_views/{id}"), json!({ "filters": filter("Grace") })).await.record("custom_view");
            assert_eq!(total(&two, &format!("view_id={id}")).await, 0);
        });
    }
}

charter_testing::needs_pgbouncer! {
    #[test]
    fn exports_and_bulk_writes_work_behind_a_pooler() {
        run_behind_pooler("SELECT 1", async |server: Server| {
            let client = server.admin();
            let operations: Vec<Value> =
                (0..300).map(|n| json!({ "method": "create", "member": { "name": format!("M{n}") } })).collect();
            client.post("/members/bulk", json!({ "operations": operations })).await.ok();
            let csv = client.with("accept", "text/csv").get("/members?fields=id,name").await;
            assert_eq!(csv.status(200).text.lines().count(), 301);
            let lines = client.with("accept", "application/x-ndjson").get("/members").await;
            assert_eq!(lines.status(200).text.lines().count(), 300);
        });
    }
}

charter_testing::needs_pgbouncer! {
    /// The pooler rejects the server's statement_timeout. That of the role applies, and is lifted for maintenance.
    #[test]
    fn statement_timeout_of_the_role_applies_to_requests_but_not_to_maintenance() {
        let limit = "DO $$ BEGIN EXECUTE format('ALTER ROLE postgres IN DATABASE %I SET statement_timeout = ''1s''', \
                     current_database()); END $$";
        run_behind_pooler(limit, async |server: Server| {
            let db = &server.state.db;
            let sleep = || Sql::new(db.dialect(), "SELECT pg_sleep(1.4)");
            assert!(sleep().all(db.reader()).await.is_err());
            let transaction = db.begin_without_timeout().await.expect("a transaction begins");
            sleep().all(&transaction).await.expect("it may take its time");
            transaction.commit().await.expect("it is committed");
            for _ in 0..2 * CONNECTIONS {
                assert!(sleep().all(db.reader()).await.is_err(), "every session has its timeout");
            }
        });
    }
}
