//! Totals while many write, on two processes of which one is killed: none is wrong at any moment.
//!
//! `CHARTER_TEST_SECONDS=60 cargo test --test api query::concurrent_writes -- --nocapture` is the long form.

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
fn no_total_is_wrong_while_others_write_on_sqlite() {
    processes::run(Database::Sqlite, check);
}

#[test]
fn no_total_is_wrong_while_others_write_on_postgres() {
    processes::run(Database::Postgres, check);
}

const WRITERS: usize = 16;
const READERS: usize = 4;

/// Records that were to be made, and deleted; and those of which the server has said so.
#[derive(Debug, Default)]
struct Books {
    asked: AtomicI64,
    made: AtomicI64,
    condemned: AtomicI64,
    deleted: AtomicI64,
    stop: AtomicBool,
    reads: AtomicI64,
}

impl Books {
    fn of(number: &AtomicI64) -> i64 {
        number.load(Ordering::SeqCst)
    }
}

async fn check(program: Program) {
    let time = Duration::from_secs(setting("CHARTER_TEST_SECONDS").unwrap_or(2));
    let (first, token) = processes::first(&program);
    let second = processes::serve(&program);
    let db = Arc::new(Db::connect(program.url(), 2, None).await.expect("the database opens"));
    let books: Arc<Books> = Arc::default();
    let clients = [first.address(), second.address()].map(|address| Client::new(address).bearing(&token));
    let writers: Vec<_> = (0..WRITERS).map(|n| tokio::spawn(write(clients[n % 2].clone(), n, books.clone()))).collect();
    let readers: Vec<_> = (0..READERS).map(|n| tokio::spawn(read(clients[0].clone(), n, books.clone()))).collect();
    let snapshots = tokio::spawn(compare(db.clone(), books.clone()));
    tokio::time::sleep(time / 2).await;
    second.signal("KILL");
    drop(second);
    tokio::time::sleep(time / 2).await;
    books.stop.store(true, Ordering::SeqCst);
    for task in writers.into_iter().chain(readers) {
        task.await.expect("a task ends");
    }
    let compared = snapshots.await.expect("every snapshot agrees");
    let counted = scalar(&db, "(SELECT COUNT(*) FROM products WHERE deleted_at IS NULL)").await;
    for query in QUERIES {
        assert_eq!(ask(&clients[0], query).await, counted, "at the end: {query}");
    }
    let (made, reads) = (Books::of(&books.made), Books::of(&books.reads));
    assert!(made > 20 && reads > 20 && compared > 5, "{made} writes, {reads} reads, {compared} snapshots are too few");
    println!("{made} made, {} deleted, {reads} totals read, {compared} snapshots compared", Books::of(&books.deleted));
    db.close().await;
}

/// Makes records, and deletes the older ones.
async fn write(client: Client, writer: usize, books: Arc<Books>) {
    let mut mine = VecDeque::new();
    for number in 0.. {
        if books.stop.load(Ordering::SeqCst) {
            return;
        }
        books.asked.fetch_add(1, Ordering::SeqCst);
        let product = json!({ "name": format!("w {writer}-{number}"), "product_type": "rental" });
        let Some(answer) = client.attempt(Method::POST, "/products", Some(product)).await else { return };
        mine.push_back(answer.created("product")["id"].clone());
        books.made.fetch_add(1, Ordering::SeqCst);
        if mine.len() > 3 {
            books.condemned.fetch_add(1, Ordering::SeqCst);
            let path = format!("/products/{}", mine.pop_front().expect("one"));
            let Some(answer) = client.attempt(Method::DELETE, &path, None).await else { return };
            answer.deleted();
            books.deleted.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Without a filter, and with one that finds every record.
const QUERIES: [&str; 2] = ["", "&q[name_cont]=w"];

async fn ask(client: &Client, query: &str) -> i64 {
    let answer = client.get(&format!("/products?per_page=1{query}")).await.ok();
    answer["meta"]["total"].as_i64().expect("a total")
}

/// Holds each total to what can have been there between the request and the answer.
async fn read(client: Client, reader: usize, books: Arc<Books>) {
    let query = QUERIES[reader % 2];
    while !books.stop.load(Ordering::SeqCst) {
        let (made, deleted) = (Books::of(&books.made), Books::of(&books.deleted));
        let total = ask(&client, query).await;
        let least = made - Books::of(&books.condemned);
        let most = Books::of(&books.asked) - deleted;
        assert!((least..=most).contains(&total), "{total} is not between {least} and {most}: {query}");
        books.reads.fetch_add(1, Ordering::SeqCst);
    }
}

/// Compares what the triggers keep with a count in the same snapshot.
async fn compare(db: Arc<Db>, books: Arc<Books>) -> usize {
    let mut compared = 0;
    let mut sql = Sql::new(db.dialect(), "");
    counts::write_live_count(&mut sql, "products");
    let difference = format!("{} - (SELECT COUNT(*) FROM products WHERE deleted_at IS NULL)", sql.text);
    while !books.stop.load(Ordering::SeqCst) {
        assert_eq!(scalar(&db, &difference).await, 0, "of what is kept and what is there");
        compared += 1;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    compared
}

async fn scalar(db: &Db, expression: &str) -> i64 {
    let row = Sql::new(db.dialect(), format!("SELECT {expression} AS v")).one(db.reader()).await;
    row.expect("the statement runs").expect("a row").try_get("", "v").expect("a number")
}
