//! The delivery engine: what is delivered to whom, when, how often, and by which of several processes.

mod claims;
mod fan_out;
mod isolation;
mod kill;
mod manual;
pub mod processes;
mod retention;
mod schedule;
mod sight;
mod streak;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use charter_runtime::context::State;
use charter_runtime::db::Sql;
use charter_runtime::ops::BoxFuture;
use charter_runtime::webhook::exchange::{Attempt, Exchange, Outcome};
use charter_runtime::webhook::round;
use sea_orm::{QueryResult, TryGetable};
use serde_json::json;

use crate::support::Server;

/// Attempts at a time.
pub const SLOTS: usize = 64;

/// A receiver without a network, which answers as the test says and keeps what it was sent.
pub struct Receiver {
    answer: Box<dyn Fn(&Attempt) -> Outcome + Send + Sync>,
    takes: Duration,
    pub seen: Mutex<Vec<Attempt>>,
    /// How many it is answering, and the most that it was answering at a time.
    at_once: Mutex<(usize, usize)>,
}

impl Receiver {
    pub fn new(answer: impl Fn(&Attempt) -> Outcome + Send + Sync + 'static) -> Arc<Receiver> {
        Receiver::slow(Duration::ZERO, answer)
    }

    /// One that takes its time.
    pub fn slow(takes: Duration, answer: impl Fn(&Attempt) -> Outcome + Send + Sync + 'static) -> Arc<Receiver> {
        Arc::new(Receiver { answer: Box::new(answer), takes, seen: Mutex::default(), at_once: Mutex::default() })
    }

    /// One that answers everything with this status.
    pub fn answering(status: u16) -> Arc<Receiver> {
        Receiver::new(move |_| answer(status))
    }

    pub fn count(&self) -> usize {
        self.seen.lock().expect("no test panicked").len()
    }

    pub fn most_at_once(&self) -> usize {
        self.at_once.lock().expect("no test panicked").1
    }

    /// Everything that was sent so far, which is forgotten.
    pub fn take(&self) -> Vec<Attempt> {
        std::mem::take(&mut *self.seen.lock().expect("no test panicked"))
    }
}

impl std::fmt::Debug for Receiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Receiver")
    }
}

impl Exchange for Receiver {
    fn send<'a>(&'a self, attempt: &'a Attempt) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            self.seen.lock().expect("no test panicked").push(attempt.clone());
            {
                let mut at_once = self.at_once.lock().expect("no test panicked");
                *at_once = (at_once.0 + 1, at_once.1.max(at_once.0 + 1));
            }
            tokio::time::sleep(self.takes).await;
            self.at_once.lock().expect("no test panicked").0 -= 1;
            (self.answer)(attempt)
        })
    }
}

/// An answer of this status, without a body.
pub fn answer(status: u16) -> Outcome {
    Outcome { status: Some(status), ..Outcome::default() }
}

/// A webhook that was made past the API: these tests are not of its management.
pub async fn webhook(server: &Server, events: &[&str]) -> i64 {
    let state = &server.state;
    let columns = "\"user_id\", \"url\", \"events\", \"secret\", \"created_at\", \"updated_at\"";
    let mut sql = Sql::new(state.db.dialect(), format!("INSERT INTO \"webhooks\" ({columns}) VALUES (1, "));
    let now = state.clock.now();
    sql.bind("https://receiver.example/").push(", ").bind(json!(events)).push(", 'whsec_', ");
    sql.bind(now).push(", ").bind(now).push(") RETURNING \"id\"");
    let transaction = state.db.begin().await.expect("a transaction begins");
    let row = sql.one(&transaction).await.expect("the webhook is made").expect("a row");
    transaction.commit().await.expect("the transaction commits");
    row.try_get("", "id").expect("an id")
}

/// Has an event `role.created` happen, and answers the role's name.
pub async fn role(server: &Server) -> String {
    let total = server.admin().get("/roles").await.ok()["meta"]["total"].as_i64().expect("a total");
    let name = format!("Role {total}");
    server.admin().post("/roles", json!({ "name": name })).await.created("role");
    name
}

/// Repeats the last event so often.
pub async fn repeat(server: &Server, times: usize) {
    let columns = "\"name\", \"body\", \"created_at\", \"fanned_out_at\"";
    let numbers = format!("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {times})");
    let sql = format!(
        "{numbers} INSERT INTO events ({columns}) SELECT {columns} FROM n CROSS JOIN events e WHERE e.id = (SELECT MAX(id) FROM events)"
    );
    server.sql(&sql).await;
}

/// One round of deliveries.
pub async fn deliver(server: &Server, receiver: &Arc<Receiver>) -> usize {
    round(&server.state, receiver.clone(), SLOTS).await.expect("the database answers")
}

pub async fn rows(state: &State, sql: &str) -> Vec<QueryResult> {
    Sql::new(state.db.dialect(), sql).all(state.db.reader()).await.expect("the statement runs")
}

/// The values of one column, which `AS v` names.
pub async fn values<T: TryGetable>(server: &Server, sql: &str) -> Vec<T> {
    rows(&server.state, sql).await.iter().map(|row| row.try_get("", "v").expect("a value")).collect()
}

/// The status of every delivery, in the order in which they were made.
pub async fn statuses(server: &Server) -> Vec<String> {
    values(server, "SELECT status AS v FROM webhook_deliveries ORDER BY id").await
}

pub async fn count(server: &Server, from: &str) -> i64 {
    values(server, &format!("SELECT COUNT(*) AS v FROM {from}")).await[0]
}

/// Waits until there is none of these, and less long than the database lets a transaction do nothing.
pub async fn none(server: &Server, from: &str) {
    let begun = Instant::now();
    while count(server, from).await > 0 {
        assert!(begun.elapsed() < Duration::from_secs(5), "{from} is left");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
