//! Totals during concurrent writes of two processes, one of which is killed: no total is wrong at any time.
//!
//! `CHARTER_TEST_SECONDS=60 cargo test --test api query::concurrent_writes -- --nocapture` runs longer.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use charter_runtime::counts;
use charter_runtime::db::{Db, Sql};
use reqwest::Method;
use serde_json::json;

use crate::delivery::processes::{self, setting};
use crate::support::program::Program;
use crate::support::{Client, Database};

#[test]
fn totals_are_exact_during_concurrent_writes_on_sqlite() {
    processes::run(Database::Sqlite, check);
}

charter_testing::needs_postgres! {
    #[test]
    fn totals_are_exact_during_concurrent_writes_on_postgres() {
        processes::run(Database::Postgres, check);
    }
}

const WRITERS: usize = 16;
const READERS: usize = 4;

/// Numbers of requested and acknowledged creations and deletions.
#[derive(Debug, Default)]
struct Counters {
    requested: AtomicI64,
    created: AtomicI64,
    deletions_requested: AtomicI64,
    deleted: AtomicI64,
    stop: AtomicBool,
    reads: AtomicI64,
}

impl Counters {
    fn of(number: &AtomicI64) -> i64 {
        number.load(Ordering::SeqCst)
    }
}

async fn check(program: Program) {
    let time = Duration::from_secs(setting("CHARTER_TEST_SECONDS").unwrap_or(2));
    let (first, token) = processes::first(&program);
    let second = processes::serve(&program);
    let db = Arc::new(Db::connect(program.url(), 2, None).await.expect("the database opens"));
    let counters: Arc<Counters> = Arc::default();
    let clients = [first.address(), second.address()].map(|address| Client::new(address).bearing(&token));
    let writers: Vec<_> =
        (0..WRITERS).map(|n| tokio::spawn(write(clients[n % 2].clone(), n, counters.clone()))).collect();
    let readers: Vec<_> = (0..READERS).map(|n| tokio::spawn(read(clients[0].clone(), n, counters.clone()))).collect();
    let snapshots = tokio::spawn(compare(db.clone(), counters.clone()));
    tokio::time::sleep(time / 2).await;
    second.signal("KILL");
    drop(second);
    tokio::time::sleep(time / 2).await;
    counters.stop.store(true, Ordering::SeqCst);
    for task in writers.into_iter().chain(readers) {
        task.await.expect("a task ends");
    }
    let compared = snapshots.await.expect("every snapshot agrees");
    let counted = scalar(&db, "(SELECT COUNT(*) FROM products WHERE deleted_at IS NULL)").await;
    for query in QUERIES {
        assert_eq!(total(&clients[0], query).await, counted, "at the end: {query}");
    }
    let (created, reads) = (Counters::of(&counters.created), Counters::of(&counters.reads));
    assert!(
        created > 20 && reads > 20 && compared > 5,
        "{created} writes, {reads} reads, {compared} snapshots are too few"
    );
    println!(
        "{created} created, {} deleted, {reads} totals read, {compared} snapshots compared",
        Counters::of(&counters.deleted)
    );
    db.close().await;
}

/// Creates records and deletes older ones.
async fn write(client: Client, writer: usize, counters: Arc<Counters>) {
    let mut mine = VecDeque::new();
    for number in 0.. {
        if counters.stop.load(Ordering::SeqCst) {
            return;
        }
        counters.requested.fetch_add(1, Ordering::SeqCst);
        let product = json!({ "name": format!("w {writer}-{number}"), "product_type": "rental" });
        let Some(answer) = client.attempt(Method::POST, "/products", Some(product)).await else { return };
        mine.push_back(answer.created("product")["id"].clone());
        counters.created.fetch_add(1, Ordering::SeqCst);
        if mine.len() > 3 {
            counters.deletions_requested.fetch_add(1, Ordering::SeqCst);
            let path = format!("/products/{}", mine.pop_front().expect("one"));
            let Some(answer) = client.attempt(Method::DELETE, &path, None).await else { return };
            answer.deleted();
            counters.deleted.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Without a filter, and with one that finds every record.
const QUERIES: [&str; 2] = ["", "&q[name_cont]=w"];

async fn total(client: &Client, query: &str) -> i64 {
    let answer = client.get(&format!("/products?per_page=1{query}")).await.ok();
    answer["meta"]["total"].as_i64().expect("a total")
}

/// Checks each total against the minimum and maximum between request and response.
async fn read(client: Client, reader: usize, counters: Arc<Counters>) {
    let query = QUERIES[reader % 2];
    while !counters.stop.load(Ordering::SeqCst) {
        let (created, deleted) = (Counters::of(&counters.created), Counters::of(&counters.deleted));
        let found = total(&client, query).await;
        let min = created - Counters::of(&counters.deletions_requested);
        let max = Counters::of(&counters.requested) - deleted;
        assert!((min..=max).contains(&found), "{found} is not between {min} and {max}: {query}");
        counters.reads.fetch_add(1, Ordering::SeqCst);
    }
}

/// Compares the maintained total with a count in the same snapshot.
async fn compare(db: Arc<Db>, counters: Arc<Counters>) -> usize {
    let mut compared = 0;
    let mut sql = Sql::new(db.dialect(), "");
    counts::write_live_count(&mut sql, "products");
    let difference = format!("{} - (SELECT COUNT(*) FROM products WHERE deleted_at IS NULL)", sql.text);
    while !counters.stop.load(Ordering::SeqCst) {
        assert_eq!(scalar(&db, &difference).await, 0, "the maintained total differs from the count");
        compared += 1;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    compared
}

async fn scalar(db: &Db, expression: &str) -> i64 {
    let row = Sql::new(db.dialect(), format!("SELECT {expression} AS v")).one(db.reader()).await;
    row.expect("the statement runs").expect("a row").try_get("", "v").expect("a number")
}
