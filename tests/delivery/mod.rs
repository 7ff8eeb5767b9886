//! Webhook dispatcher: fan-out, claims, retries and retention, with one and with several processes.

mod claims;
mod conditions;
mod failure_streak;
mod fan_out;
mod isolation;
mod kill;
mod limit;
pub mod processes;
mod record_visibility;
mod redelivery;
mod retention;
mod retry_schedule;
mod unknown_events;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use charter_runtime::db::Sql;
use charter_runtime::ops::BoxFuture;
use charter_runtime::ops::State;
use charter_runtime::webhook::run_once;
use charter_runtime::webhook::transport::{Attempt, Outcome, Transport};
use sea_orm::{QueryResult, TryGetable};
use serde_json::json;

use crate::support::Server;

/// Maximum number of concurrent attempts.
pub const SLOTS: usize = 64;

/// Receiver without a network, which returns the given outcome and records attempts.
pub struct Receiver {
    answer: Box<dyn Fn(&Attempt) -> Outcome + Send + Sync>,
    takes: Duration,
    pub seen: Mutex<Vec<Attempt>>,
    /// Current and maximum number of concurrent attempts.
    at_once: Mutex<(usize, usize)>,
}

impl Receiver {
    pub fn new(answer: impl Fn(&Attempt) -> Outcome + Send + Sync + 'static) -> Arc<Receiver> {
        Receiver::slow(Duration::ZERO, answer)
    }

    /// Receiver that takes some time.
    pub fn slow(takes: Duration, answer: impl Fn(&Attempt) -> Outcome + Send + Sync + 'static) -> Arc<Receiver> {
        Arc::new(Receiver { answer: Box::new(answer), takes, seen: Mutex::default(), at_once: Mutex::default() })
    }

    /// Receiver that responds with this status.
    pub fn answering(status: u16) -> Arc<Receiver> {
        Receiver::new(move |_| answer(status))
    }

    pub fn count(&self) -> usize {
        self.seen.lock().expect("no test panicked").len()
    }

    pub fn most_at_once(&self) -> usize {
        self.at_once.lock().expect("no test panicked").1
    }

    /// Returns and clears the recorded attempts.
    pub fn take(&self) -> Vec<Attempt> {
        std::mem::take(&mut *self.seen.lock().expect("no test panicked"))
    }
}

impl std::fmt::Debug for Receiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Receiver")
    }
}

impl Transport for Receiver {
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

/// A response with this status and no body.
pub fn answer(status: u16) -> Outcome {
    Outcome { status: Some(status), ..Outcome::default() }
}

/// Inserts a webhook without the API.
pub async fn webhook(server: &Server, events: &[&str]) -> i64 {
    let state = &server.state;
    let columns = "\"user_id\", \"url\", \"abilities\", \"events\", \"secret\", \"created_at\", \"updated_at\"";
    let mut sql = Sql::new(state.db.dialect(), format!("INSERT INTO \"webhooks\" ({columns}) VALUES (1, "));
    let now = state.clock.now();
    sql.bind("https://receiver.example/")
        .push(", ")
        .bind(json!(["*"]))
        .push(", ")
        .bind(json!(events))
        .push(", 'whsec_', ");
    sql.bind(now).push(", ").bind(now).push(") RETURNING \"id\"");
    let transaction = state.db.begin().await.expect("a transaction begins");
    let row = sql.one(&transaction).await.expect("the webhook is made").expect("a row");
    transaction.commit().await.expect("the transaction commits");
    row.try_get("", "id").expect("an id")
}

/// Emits `role.created` and returns the name of the role.
pub async fn role(server: &Server) -> String {
    let total = server.admin().get("/roles").await.ok()["meta"]["total"].as_i64().expect("a total");
    let name = format!("Role {total}");
    server.admin().post("/roles", json!({ "name": name })).await.created("role");
    name
}

/// Repeats the last event `times` times.
pub async fn repeat(server: &Server, times: usize) {
    let columns = "\"name\", \"body\", \"created_at\", \"fanned_out_at\"";
    let numbers = format!("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {times})");
    let sql = format!(
        "{numbers} INSERT INTO events ({columns}) SELECT {columns} FROM n CROSS JOIN events e WHERE e.id = (SELECT MAX(id) FROM events)"
    );
    server.sql(&sql).await;
}

/// Runs one round of deliveries.
pub async fn deliver(server: &Server, receiver: &Arc<Receiver>) -> usize {
    run_once(&server.state, receiver.clone(), SLOTS).await.expect("the database answers")
}

pub async fn rows(state: &State, sql: &str) -> Vec<QueryResult> {
    Sql::new(state.db.dialect(), sql).all(state.db.reader()).await.expect("the statement runs")
}

/// Values of the column `v`.
pub async fn values<T: TryGetable>(server: &Server, sql: &str) -> Vec<T> {
    rows(&server.state, sql).await.iter().map(|row| row.try_get("", "v").expect("a value")).collect()
}

/// Status of every delivery, in order of creation.
pub async fn statuses(server: &Server) -> Vec<String> {
    values(server, "SELECT status AS v FROM webhook_deliveries ORDER BY id").await
}

pub async fn count(server: &Server, from: &str) -> i64 {
    values(server, &format!("SELECT COUNT(*) AS v FROM {from}")).await[0]
}

/// Waits until there are no such rows, for less than the idle timeout of a transaction.
pub async fn none(server: &Server, from: &str) {
    let begun = Instant::now();
    while count(server, from).await > 0 {
        assert!(begun.elapsed() < Duration::from_secs(5), "{from} is left");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
