//! Sixteen writers of children: each rollup that a reader sees is the count of a moment during its request.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use super::fixture::Library;
use super::{book, id};
use crate::support::{Client, on_both};

on_both!(
    rollups_are_right_at_each_moment_while_sixteen_clients_write,
    bulk_writes_of_children_of_several_parents_do_not_deadlock,
);

const WRITERS: usize = 16;
const BOOKS: usize = 3;

/// The writes that add a loan to a book or take one from it, when they begin and when they are answered.
#[derive(Default)]
struct Writes {
    adding: AtomicI64,
    added: AtomicI64,
    removing: AtomicI64,
    removed: AtomicI64,
}

impl Writes {
    async fn add<T>(&self, write: impl Future<Output = T>) -> T {
        self.adding.fetch_add(1, Ordering::SeqCst);
        let result = write.await;
        self.added.fetch_add(1, Ordering::SeqCst);
        result
    }

    async fn remove<T>(&self, write: impl Future<Output = T>) -> T {
        self.removing.fetch_add(1, Ordering::SeqCst);
        let result = write.await;
        self.removed.fetch_add(1, Ordering::SeqCst);
        result
    }
}

/// How long they write: some seconds, or `CHARTER_TEST_WRITERS_SECONDS`.
fn duration() -> Duration {
    let seconds = std::env::var("CHARTER_TEST_WRITERS_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(4))
}

/// Sends a write again until it is done: a conflict of transactions is 503.
async fn written(client: &Client, method: Method, path: &str, body: Value) -> Value {
    loop {
        let answer = client.send(method.clone(), path, Some(body.clone())).await;
        if answer.status != 503 {
            assert!(answer.status < 300, "{} {}", answer.status, answer.text);
            return if answer.text.is_empty() { Value::Null } else { answer.json() };
        }
    }
}

/// Creates, returns, moves and deletes loans of its own.
async fn write(client: Client, seed: usize, books: Arc<Vec<(i64, Writes)>>, until: Instant) {
    let mut own: Vec<(String, usize)> = Vec::new();
    let mut step = seed;
    while Instant::now() < until {
        step = step.wrapping_mul(1_103_515_245).wrapping_add(12_345) >> 1;
        let (book, writes) = &books[step % BOOKS];
        match (step / 7 % 5, own.pop()) {
            (0, Some((path, of))) => {
                books[of].1.remove(written(&client, Method::DELETE, &path, Value::Null)).await;
            }
            (1, Some((path, of))) => {
                let body = json!({ "returned_on": "2026-03-20" });
                books[of].1.remove(written(&client, Method::PUT, &path, body)).await;
            }
            (2, Some((path, of))) if of != step % BOOKS => {
                let body = json!({ "book_id": book, "points": 2 });
                books[of].1.remove(writes.add(written(&client, Method::PUT, &path, body))).await;
                own.push((path, step % BOOKS));
            }
            (_, kept) => {
                own.extend(kept);
                let day = format!("2026-03-{:02}", step % 28 + 1);
                let body = json!({ "book_id": book, "lent_on": day, "fee": "0.10", "points": 1 });
                let answer = writes.add(written(&client, Method::POST, "/loans", body)).await;
                own.push((format!("/loans/{}", answer["loan"]["id"]), step % BOOKS));
            }
        }
    }
}

async fn rollups_are_right_at_each_moment_while_sixteen_clients_write(server: Library) {
    let admin = server.admin();
    let mut books = Vec::new();
    for name in 0..BOOKS {
        books.push((id(&book(&admin, &name.to_string()).await), Writes::default()));
    }
    let (books, is_over) = (Arc::new(books), Arc::new(AtomicBool::new(false)));
    let until = Instant::now() + duration();
    let writers: Vec<_> =
        (0..WRITERS).map(|seed| tokio::spawn(write(server.admin(), seed + 1, books.clone(), until))).collect();
    let reader = {
        let (client, books, is_over) = (server.admin(), books.clone(), is_over.clone());
        tokio::spawn(async move {
            let mut reads = 0;
            while !is_over.load(Ordering::SeqCst) {
                for (id, writes) in books.iter() {
                    let (added, removed) = (writes.added.load(Ordering::SeqCst), writes.removed.load(Ordering::SeqCst));
                    let found = client.get(&format!("/books/{id}")).await.record("book")["loans"].as_i64();
                    // At the moment of the read, each write that was answered before it had happened, and none that began
                    // after it.
                    let least = added - writes.removing.load(Ordering::SeqCst);
                    let most = writes.adding.load(Ordering::SeqCst) - removed;
                    assert!(found.is_some_and(|found| (least..=most).contains(&found)), "{found:?}: {least} to {most}");
                    reads += 1;
                }
            }
            reads
        })
    };
    for writer in writers {
        writer.await.expect("a writer");
    }
    is_over.store(true, Ordering::SeqCst);
    let reads = reader.await.expect("the reader");
    assert!(reads > 10, "{reads} reads");
    for (id, writes) in books.iter() {
        let exact = writes.added.load(Ordering::SeqCst) - writes.removed.load(Ordering::SeqCst);
        assert_eq!(admin.get(&format!("/books/{id}")).await.record("book")["loans"], exact);
    }
    let differing = server
        .texts(
            "SELECT b.id || '' AS text FROM books b LEFT JOIN (SELECT book_id, \
             SUM(CASE WHEN returned_on IS NULL THEN 1 ELSE 0 END) AS loans, SUM(fee) AS fees, SUM(points) AS points, \
             MIN(lent_on) AS first_on, MAX(CASE WHEN returned_on IS NULL THEN lent_on END) AS last_on \
             FROM loans WHERE deleted_at IS NULL GROUP BY book_id) AS l ON l.book_id = b.id \
             WHERE b.loans <> COALESCE(l.loans, 0) OR b.fees <> COALESCE(l.fees, 0) OR b.points <> COALESCE(l.points, 0) \
             OR COALESCE(b.first_on, '0001-01-01') <> COALESCE(l.first_on, '0001-01-01') \
             OR COALESCE(b.last_on, '0001-01-01') <> COALESCE(l.last_on, '0001-01-01')",
        )
        .await;
    assert!(differing.is_empty(), "books {differing:?}");
    println!("{reads} reads, {} loans", server.texts("SELECT COUNT(*) || '' AS text FROM loans").await[0]);
}

async fn bulk_writes_of_children_of_several_parents_do_not_deadlock(server: Library) {
    let admin = server.admin();
    let (one, other) = (id(&book(&admin, "Emma").await), id(&book(&admin, "Ulysses").await));
    let writers: Vec<_> = (0..6)
        .map(|seed| {
            let client = server.admin();
            tokio::spawn(async move {
                for _ in 0..6 {
                    let books = if seed % 2 == 0 { [one, other] } else { [other, one] };
                    let create = |book: &i64| json!({ "method": "create", "loan": { "book_id": book, "lent_on": "2026-03-01" } });
                    let operations: Vec<Value> = books.iter().cycle().take(20).map(create).collect();
                    client.post("/loans/bulk", json!({ "operations": operations })).await.status(200);
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.expect("a writer");
    }
    assert_eq!(admin.get("/books?sort=id").await.column("books", "loans"), [360, 360]);
}
