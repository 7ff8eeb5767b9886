//! Failover of PostgreSQL: the primary is killed, and a standby whose host is in the URL is promoted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use charter_runtime::db::{Db, Unwritable};
use charter_testing::postgres::Postgres;
use serde_json::{Value, json};

use crate::support::{Answer, Client, Database, Server, run};

/// Limit on the time from the promotion to the first successful answer, on a machine that is busy with other tests.
const MAX_OUTAGE: Duration = Duration::from_secs(10);

charter_testing::needs_postgres! {
    #[test]
    fn failover_to_a_synchronous_standby_loses_no_acknowledged_write() {
        run(Database::Postgres, fail_over_under_load);
    }

    #[test]
    fn failover_to_a_standby_that_was_behind_leaves_no_stale_cache() {
        run(Database::Postgres, fail_over_to_an_earlier_state);
    }
}

/// A server over this database of the primary, with the hosts of both in its URL.
async fn serve(url: &str, primary: &Postgres, standby: &Postgres) -> Server {
    let hosts = format!("{},{}", primary.host(), standby.host());
    Server::over(&url.replace(&primary.host(), &hosts)).await
}

/// Kills the primary and promotes the standby. Returns the time of the promotion.
async fn fail_over(mut primary: Postgres, standby: Postgres) -> (Postgres, Instant) {
    let promoted = tokio::task::spawn_blocking(move || {
        primary.kill();
        standby.promote();
        (standby, Instant::now())
    });
    promoted.await.expect("the standby is promoted")
}

async fn fail_over_under_load(_: Server) {
    let primary = Postgres::start_primary();
    let standby = primary.start_standby(true);
    let url = primary.create_database(None);
    let server = serve(&url, &primary, &standby).await;
    let replica = Db::connect(&standby.url_of(&url), 2, None).await.expect("the standby takes reads");
    assert_eq!(replica.ping().await.expect("it answers"), Some(Unwritable::ReadOnly));
    replica.close().await;
    let (acknowledged, is_over) = (Arc::<Mutex<Vec<(String, Instant)>>>::default(), Arc::new(AtomicBool::new(false)));
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let (client, acknowledged, is_over) = (server.admin(), acknowledged.clone(), is_over.clone());
            tokio::spawn(async move {
                for number in 0.. {
                    let name = format!("Class {writer}-{number}");
                    let answer = client.post("/tax_classes", json!({ "name": name })).await;
                    match answer.status {
                        201 => acknowledged.lock().expect("no writer panics").push((name, Instant::now())),
                        _ => drop(answer.refused(503, "unavailable")),
                    }
                    // Fills the response cache with pages of every state.
                    client.get("/tax_classes?per_page=1").await;
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(700)).await;
    let (_standby, promoted_at) = fail_over(primary, standby).await;
    let count_after =
        |at: Instant| acknowledged.lock().expect("no writer panics").iter().filter(|(_, t)| *t > at).count();
    while count_after(promoted_at) < 50 {
        assert!(promoted_at.elapsed() < MAX_OUTAGE + MAX_OUTAGE, "no write succeeds");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    is_over.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.expect("it ends");
    }
    let acknowledged = std::mem::take(&mut *acknowledged.lock().expect("no writer panics"));
    let first = acknowledged.iter().map(|(_, at)| *at).filter(|at| *at > promoted_at).min().expect("a write succeeded");
    let outage = first - promoted_at;
    println!("first acknowledged write {} ms after the promotion", outage.as_millis());
    assert!(outage < MAX_OUTAGE, "{outage:?}");
    let client = server.admin();
    let (mut names, mut page) = (Vec::new(), 1);
    let total = loop {
        let answer = client.get(&format!("/tax_classes?per_page=100&page={page}")).await;
        let found = answer.column("tax_classes", "name");
        if found.is_empty() {
            break answer.json()["meta"]["total"].clone();
        }
        names.extend(found);
        page += 1;
    };
    assert_eq!(total, json!(names.len()));
    let lost: Vec<_> = acknowledged.iter().filter(|(name, _)| !names.contains(&json!(name))).collect();
    assert!(acknowledged.len() > 60 && lost.is_empty(), "{} acknowledged, lost: {lost:?}", acknowledged.len());
    check_list_follows_a_write(&client, &total).await;
    client.get("~/health/ready").await.ok();
    server.state.db.close().await;
}

/// A list is answered from the cache and its tag matches, until a record is created.
async fn check_list_follows_a_write(client: &Client, total: &Value) {
    let before = client.get("/tax_classes?per_page=1").await;
    let tag = before.header("etag").expect("a list has a tag").to_string();
    let if_changed = client.with("if-none-match", &tag);
    assert_eq!(if_changed.get("/tax_classes?per_page=1").await.status, 304);
    client.post("/tax_classes", json!({ "name": "After" })).await.created("tax_class");
    let after = if_changed.get("/tax_classes?per_page=1").await.ok();
    assert_eq!(after["meta"]["total"], json!(total.as_i64().expect("a number") + 1));
}

/// The paths whose answers the lost commits change.
const PATHS: [&str; 4] = [
    "/tax_classes",
    "/tax_classes?q[name_start]=Lost",
    "/tax_classes?q[name_not_start]=Lost&per_page=2",
    "/products?q[cf.grade_eq]=7",
];

async fn fail_over_to_an_earlier_state(_: Server) {
    let primary = Postgres::start_primary();
    let standby = primary.start_standby(false);
    let server = serve(&primary.create_database(None), &primary, &standby).await;
    let client = server.admin();
    let create = async |name: &str| client.post("/tax_classes", json!({ "name": name })).await.created("tax_class");
    create("Base").await;
    primary.wait_for_standby();
    standby.disconnect();
    let field =
        |kind: &str| json!({ "entity_type": "products", "name": "grade", "label": "Grade", "field_type": kind });
    client.post("/custom_fields", field("integer")).await.created("custom_field");
    create("Lost one").await;
    create("Lost two").await;
    client.post("/products", json!({ "name": "Lost", "custom_fields": { "grade": 7 } })).await.created("product");
    let token = client.post("/tokens", json!({ "name": "Lost", "abilities": ["*"] })).await.created("token");
    let lost = server.client(token["value"].as_str().expect("a new token has a value"));
    lost.get("/tax_classes").await.ok();
    let mut tags = Vec::new();
    for path in PATHS {
        // The second answer is from the cache.
        client.get(path).await.ok();
        tags.push(client.get(path).await.status(200).header("etag").expect("a list has a tag").to_string());
    }
    let (_standby, promoted_at) = fail_over(primary, standby).await;
    while client.get("/tax_classes").await.status != 200 {
        assert!(promoted_at.elapsed() < MAX_OUTAGE, "no read succeeds");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    println!("first answer {} ms after the promotion", promoted_at.elapsed().as_millis());
    let names = |answer: &Answer| (answer.column("tax_classes", "name"), answer.json()["meta"]["total"].clone());
    assert_eq!(names(&client.get(PATHS[0]).await), (vec![json!("Base")], json!(1)));
    assert_eq!(names(&client.get(PATHS[1]).await), (vec![], json!(0)));
    lost.get("/tax_classes").await.refused(401, "invalid_token");
    // As many changes as were lost, so that each table reaches the version that it had.
    client.post("/custom_fields", field("text")).await.created("custom_field");
    create("Other one").await;
    create("Other two").await;
    client.post("/products", json!({ "name": "Other", "custom_fields": { "grade": "7" } })).await.created("product");
    let everything = vec![json!("Base"), json!("Other one"), json!("Other two")];
    assert_eq!(names(&client.get(PATHS[0]).await), (everything.clone(), json!(3)));
    assert_eq!(names(&client.get(PATHS[1]).await), (vec![], json!(0)));
    assert_eq!(names(&client.get(PATHS[2]).await), (everything[..2].to_vec(), json!(3)));
    assert_eq!(client.get(PATHS[3]).await.column("products", "name"), [json!("Other")]);
    for (path, tag) in PATHS.iter().zip(tags) {
        client.with("if-none-match", &tag).get(path).await.status(200);
    }
    server.state.db.close().await;
}
