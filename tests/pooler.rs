//! Several processes on one PostgreSQL behind a pooler in transaction mode: what they share, they agree on.
//!
//! The pooler has fewer connections than the processes have, so that one session is everybody's in turn.

use std::time::{Duration, Instant};

use charter_runtime::db::Sql;
use sea_orm::{ConnectionTrait, Database as Connector};
use serde_json::{Value, json};

use crate::support::{Client, Pooler, Server, log, postgres};

/// What the pooler has for all of them.
const CONNECTIONS: usize = 4;

/// Runs a test on a server behind a pooler, over a database of its own that it has migrated through the pooler. `begin` is
/// run in the database before.
fn behind<T: Future<Output = ()>>(begin: &str, test: impl FnOnce(Server) -> T) {
    log();
    let Some(pooler) = Pooler::start(CONNECTIONS) else { return };
    let url = postgres::server().expect("PostgreSQL is installed").create_database(None);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime starts").block_on(async {
        let direct = Connector::connect(&url).await.expect("PostgreSQL runs");
        direct.execute_unprepared(begin).await.expect("the statement runs");
        direct.close().await.expect("a connection can be closed");
        test(Server::over(&pooler.url(&url)).await).await;
    });
}

#[test]
fn two_processes_share_records_and_tokens() {
    behind("SELECT 1", crate::server::two_nodes_share_a_database);
}

#[test]
fn two_processes_agree_on_totals_while_both_write() {
    behind("SELECT 1", async |server: Server| {
        let second = server.beside().await;
        let clients = [server.admin(), second.admin()];
        let write = |client: Client, name: String| {
            tokio::spawn(async move {
                for _ in 0..12 {
                    let record = client.post("/members", json!({ "name": name })).await.created("member");
                    // What was committed is in every total that is asked for from now on, wherever.
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
        // By turns: each write is seen by the other in the very next answer.
        for turn in 1..=10 {
            clients[turn % 2].post("/members", json!({ "name": "writer in turn" })).await.created("member");
            let other = &clients[(turn + 1) % 2];
            assert_eq!(total(other, "q[name_eq]=writer+in+turn").await, turn as i64);
        }
    });
}

#[test]
fn lists_that_are_asked_for_at_once_have_their_own_rows() {
    behind("SELECT 1", async |server: Server| {
        let second = server.beside().await;
        let clients = [server.admin(), second.admin()];
        let askers = (0..16).map(|number| {
            let client = clients[number % 2].clone();
            tokio::spawn(async move {
                for turn in 0..20 {
                    // Writes in between have the pooler hand its connections round, and no list is known already.
                    let name = format!("asked {number} {turn}");
                    client.post("/members", json!({ "name": name })).await.created("member");
                    let query = format!("/members?q[name_eq]=asked+{number}+{turn}");
                    let page = client.get(&query).await.ok();
                    assert_eq!(page["meta"]["total"], 1, "{query}: {page}");
                    assert_eq!(page["members"][0]["name"], name, "{query}");
                }
            })
        });
        for asker in askers.collect::<Vec<_>>() {
            asker.await.expect("its list is its own");
        }
    });
}

async fn total(client: &Client, query: &str) -> i64 {
    client.get(&format!("/members?{query}")).await.ok()["meta"]["total"].as_i64().expect("a total")
}

#[test]
fn two_processes_carry_out_one_request_with_one_key() {
    behind("SELECT 1", async |server: Server| {
        let second = server.beside().await;
        for number in 0..5 {
            let ask = |server: &Server| {
                let client = server.admin().with("idempotency-key", &format!("key-{number}"));
                async move { client.post("/members", json!({ "name": format!("once {number}") })).await }
            };
            let (one, two) = tokio::join!(ask(&server), ask(&second));
            assert_eq!(one.status(201).header("etag"), two.status(201).header("etag"));
            let replayed = [&one, &two].iter().filter(|answer| answer.header("idempotent-replayed").is_some()).count();
            assert_eq!(replayed, 1, "one of them was carried out");
            assert_eq!(total(&server.admin(), &format!("q[name_eq]=once+{number}")).await, 1);
        }
    });
}

#[test]
fn two_processes_know_each_others_views_and_custom_fields() {
    behind("SELECT 1", async |server: Server| {
        let second = server.beside().await;
        let (one, two) = (server.admin(), second.admin());
        let field = json!({ "entity_type": "members", "name": "shoe", "field_type": "integer" });
        one.post("/custom_fields", field).await.created("custom_field");
        let member = json!({ "name": "Ada", "custom_fields": { "shoe": 38 } });
        two.post("/members", member).await.created("member");
        assert_eq!(total(&one, "q[cf.shoe_gt]=37").await, 1);
        // Its indexes are made beside the requests, and the lock of those who make them is given back.
        let begun = Instant::now();
        while !server
            .texts("SELECT indexname::text AS text FROM pg_indexes")
            .await
            .iter()
            .any(|name| name.starts_with("cf_"))
        {
            assert!(begun.elapsed() < Duration::from_secs(20), "the index is made");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let held = "SELECT 1::text AS text FROM pg_locks WHERE locktype = 'advisory' AND granted \
                    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        while !server.texts(held).await.is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(20), "no session keeps a lock");
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

#[test]
fn lists_are_exported_and_many_writes_stand_together() {
    behind("SELECT 1", async |server: Server| {
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

/// The pooler refuses the limit that the server asks for; that of the role holds, and is lifted where it must be.
#[test]
fn the_limit_of_the_role_holds_for_requests_and_not_for_upkeep() {
    let limit = "DO $$ BEGIN EXECUTE format('ALTER ROLE postgres IN DATABASE %I SET statement_timeout = ''1s''', \
                 current_database()); END $$";
    behind(limit, async |server: Server| {
        let db = &server.state.db;
        let sleep = || Sql::new(db.dialect(), "SELECT pg_sleep(1.4)");
        assert!(sleep().all(db.reader()).await.is_err());
        let unhurried = db.begin_without_timeout().await.expect("a transaction begins");
        sleep().all(&unhurried).await.expect("it may take its time");
        unhurried.commit().await.expect("it is committed");
        for _ in 0..2 * CONNECTIONS {
            assert!(sleep().all(db.reader()).await.is_err(), "no session has lost its limit");
        }
    });
}
