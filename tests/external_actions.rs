//! An action with `external: true`, as the generator writes it from YAML: it runs without a transaction, and once for each
//! `Idempotency-Key`. On both databases.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use charter_migrations::prelude::*;
use charter_runtime::generated::{Context, Draft, Result, revise, run_action};
use charter_runtime::ops::Transaction;
use charter_runtime::{App, Error};
use sea_orm::ActiveValue::Set;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};

use crate::support::{Answer, Client, Database, Fixture, Prepared, Server, logged, nothing, on_both, with_own};
use parking::{ExtendBy, ExtendInput, QuoteOutput, QuoteState, Zone};

on_both!(
    others_write_while_the_action_waits,
    action_runs_once_for_a_key_and_a_concurrent_retry_waits_for_it,
    key_of_a_failed_run_is_free,
    client_that_disconnects_gets_the_response_by_a_retry,
    code_runs_it_outside_of_a_transaction_only,
    jobs_of_the_yaml_run_with_and_without_a_transaction,
    document_describes_the_action,
);

/// The resource as the generator writes it from `parking.yaml`.
#[allow(clippy::duplicated_attributes, reason = "both actions are on a record")]
mod parking {
    include!(concat!(env!("CARGO_MANIFEST_DIR"), "/codegen/tests/golden/parking.rs"));
}

/// The other server of a test: it answers when the test opens its gate.
struct Office {
    requests: AtomicUsize,
    fails: AtomicBool,
    gate: Semaphore,
}

impl parking::Behaviour for parking::Entity {
    async fn after_save(_: &Context<'_>, _: &parking::Model, _: Option<&parking::Model>) -> Result<()> {
        Ok(())
    }

    async fn after_commit(
        context: &Context<'_>,
        record: &parking::Model,
        before: Option<&parking::Model>,
    ) -> Result<()> {
        if before.is_none() && record.plate == "AUTO" {
            run_action(context, parking::Action::Quote, record.id, json!({})).await?;
        }
        Ok(())
    }

    async fn extend(context: &Context<'_>, draft: &mut Draft<parking::Entity>, input: ExtendInput) -> Result<()> {
        match (input.by, &draft.before) {
            (ExtendBy::Day, Some(parking)) => {
                run_action(context, parking::Action::Quote, parking.id, json!({})).await.map(drop)
            }
            _ => {
                draft.model.zone = Set(Some(Zone::InnerCity));
                Ok(())
            }
        }
    }

    async fn quote(context: &Context<'_>, record: &parking::Model) -> Result<QuoteOutput> {
        let office = context.extension::<Office>()?;
        assert!(context.transaction().is_none());
        office.requests.fetch_add(1, Ordering::Relaxed);
        office.gate.acquire().await.map_err(Error::internal)?.forget();
        if office.fails.load(Ordering::Relaxed) {
            return Err(Error::Conflict("The office is closed.".into()));
        }
        let transaction = Transaction::begin(context.state()).await?;
        revise::<parking::Entity>(&context.in_transaction(&transaction), record.id, |draft| {
            draft.model.zone = Set(Some(Zone::Outskirts));
            Ok(())
        })
        .await?;
        transaction.commit(context).await?;
        Ok(QuoteOutput { state: QuoteState::Open })
    }

    async fn expire(context: &Context<'_>) -> Result<()> {
        assert!(context.transaction().is_some());
        Ok(())
    }

    async fn report(context: &Context<'_>) -> Result<()> {
        assert!(context.transaction().is_none());
        Ok(())
    }
}

/// The service with places to park, whose office is closed.
struct Parkings(Server);

impl Parkings {
    fn app() -> App {
        let office = Office { requests: AtomicUsize::new(0), fails: AtomicBool::new(false), gate: Semaphore::new(0) };
        with_own::<Migration>([parking::route()]).with(office)
    }

    fn office(&self) -> &Office {
        self.0.state.extension().expect("it is added")
    }

    async fn park(&self, plate: &str) -> Value {
        self.0.admin().post("/parkings", json!({ "plate": plate })).await.created("parking")
    }

    async fn zone_of(&self, parking: &Value) -> Value {
        self.0.admin().get(&format!("/parkings/{}", parking["id"])).await.record("parking")["zone"].clone()
    }

    /// Waits until the office has had this many requests.
    async fn requests(&self, count: usize) {
        let begun = Instant::now();
        while self.office().requests.load(Ordering::Relaxed) < count {
            assert!(begun.elapsed() < Duration::from_secs(20), "the action has not run {count} times");
            sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Fixture for Parkings {
    async fn start(database: Database) -> Parkings {
        use std::sync::OnceLock;

        static SQLITE: OnceLock<Prepared> = OnceLock::new();
        static POSTGRES: OnceLock<Prepared> = OnceLock::new();
        let template = if database == Database::Sqlite { &SQLITE } else { &POSTGRES };
        Parkings(Server::open(Parkings::app(), database, template, nothing, |_| {}).await)
    }

    fn server(&self) -> &Server {
        &self.0
    }
}

#[derive(Default)]
struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "parkings"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> std::result::Result<(), DbErr> {
        let columns = [
            id(),
            string("plate", 20),
            enumeration("result").default("paid"),
            integer("zone").nullable(),
            enumeration("sign").default("+"),
            enumeration("context").nullable(),
            timestamp("created_at"),
            timestamp("updated_at"),
        ];
        Table::on(manager, "parkings").create(columns).await
    }
}

/// Sends the action from another task.
fn quoting(client: &Client, parking: &Value) -> tokio::task::JoinHandle<Answer> {
    let (client, path) = (client.clone(), format!("/parkings/{}/quote", parking["id"]));
    tokio::spawn(async move { client.post(&path, json!({})).await })
}

async fn others_write_while_the_action_waits(parkings: Parkings) {
    let (admin, parking) = (parkings.0.admin(), parkings.park("A 1").await);
    let action = quoting(&admin, &parking);
    parkings.requests(1).await;
    // Less than SQLite waits for a lock, 5 seconds, and PostgreSQL for that of the row, 3 seconds.
    let writes = async {
        parkings.park("B 2").await;
        let changed = json!({ "plate": "A 2" });
        admin.put(&format!("/parkings/{}", parking["id"]), changed).await.record("parking")
    };
    let changed = timeout(Duration::from_secs(2), writes).await.expect("no transaction blocks the writes");
    assert_eq!((changed["plate"].as_str(), action.is_finished()), (Some("A 2"), false));
    assert_eq!(parkings.zone_of(&parking).await, json!(null));
    parkings.office().gate.add_permits(1);
    let answer = action.await.expect("the request ends");
    assert_eq!(answer.ok(), json!({ "quote": { "state": "open" } }));
    // The change in a transaction of its own has an event, and keeps the write that came before.
    let shown = admin.get(&format!("/parkings/{}", parking["id"])).await.record("parking");
    assert_eq!((&shown["plate"], &shown["zone"]), (&json!("A 2"), &json!(2)));
    let events = parkings.0.events("parking").await;
    assert_eq!(events, ["parking.created", "parking.created", "parking.updated", "parking.updated"]);
}

async fn action_runs_once_for_a_key_and_a_concurrent_retry_waits_for_it(parkings: Parkings) {
    let parking = parkings.park("A 1").await;
    let keyed = parkings.0.admin().with("idempotency-key", "quote-1");
    let first = quoting(&keyed, &parking);
    parkings.requests(1).await;
    let second = quoting(&keyed, &parking);
    sleep(Duration::from_millis(600)).await;
    assert!(!first.is_finished() && !second.is_finished());
    parkings.office().gate.add_permits(5);
    let (first, second) = (first.await.expect("it ends"), second.await.expect("it ends"));
    let third = quoting(&keyed, &parking).await.expect("it ends");
    let replayed = |answer: &Answer| answer.header("idempotent-replayed").map(String::from);
    assert_eq!([&first, &second, &third].map(replayed), [None, Some("true".into()), Some("true".into())]);
    assert_eq!([second.ok(), third.ok()], [first.ok(), first.ok()]);
    parkings.requests(1).await;
    assert_eq!(parkings.office().requests.load(Ordering::Relaxed), 1);

    // The key stands for this request only, and another one runs the action again.
    let other = parkings.park("B 2").await;
    quoting(&keyed, &other).await.expect("it ends").refused(422, "validation_failed");
    let again = parkings.0.admin().with("idempotency-key", "quote-2");
    quoting(&again, &parking).await.expect("it ends").ok();
    assert_eq!(parkings.office().requests.load(Ordering::Relaxed), 2);
}

async fn key_of_a_failed_run_is_free(parkings: Parkings) {
    let parking = parkings.park("A 1").await;
    let keyed = parkings.0.admin().with("idempotency-key", "quote-1");
    parkings.office().gate.add_permits(2);
    parkings.office().fails.store(true, Ordering::Relaxed);
    quoting(&keyed, &parking).await.expect("it ends").refused(409, "conflict");
    assert_eq!(parkings.zone_of(&parking).await, json!(null));
    parkings.office().fails.store(false, Ordering::Relaxed);
    let answer = quoting(&keyed, &parking).await.expect("it ends");
    assert_eq!((answer.status, answer.header("idempotent-replayed")), (200, None));
    assert_eq!(parkings.office().requests.load(Ordering::Relaxed), 2);
}

async fn client_that_disconnects_gets_the_response_by_a_retry(parkings: Parkings) {
    let parking = parkings.park("A 1").await;
    let keyed = parkings.0.admin().with("idempotency-key", "quote-1");
    let first = quoting(&keyed, &parking);
    parkings.requests(1).await;
    first.abort();
    assert!(first.await.is_err_and(|error| error.is_cancelled()));
    parkings.office().gate.add_permits(5);
    let answer = quoting(&keyed, &parking).await.expect("it ends");
    assert_eq!((answer.status, answer.header("idempotent-replayed")), (200, Some("true")));
    assert_eq!(parkings.office().requests.load(Ordering::Relaxed), 1);
}

async fn code_runs_it_outside_of_a_transaction_only(parkings: Parkings) {
    parkings.office().gate.add_permits(5);
    let parking = parkings.park("A 1").await;
    let path = format!("/parkings/{}/extend", parking["id"]);
    let extended = parkings.0.admin().post(&path, json!({ "by": "hour" })).await.record("parking");
    assert_eq!(extended["zone"], 1);
    let answer = parkings.0.admin().post(&path, json!({ "by": "day" })).await;
    let lines = logged(answer.status(500).header("x-request-id").expect("an id"));
    assert!(lines.contains("parking.quote is external, and cannot run inside of a transaction"), "{lines}");
    assert_eq!(parkings.office().requests.load(Ordering::Relaxed), 0);
    // `after_commit` runs it.
    let parking = parkings.park("AUTO").await;
    assert_eq!((parkings.zone_of(&parking).await, parkings.office().requests.load(Ordering::Relaxed)), (json!(2), 1));
}

async fn jobs_of_the_yaml_run_with_and_without_a_transaction(parkings: Parkings) {
    let begun = Instant::now();
    loop {
        let runs = parkings.0.admin().get("/background_jobs?sort=name").await.records("background_jobs");
        let done: Vec<&str> =
            runs.iter().filter(|run| run["status"] == "done").filter_map(|run| run["name"].as_str()).collect();
        if done == ["expire", "report"] {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{runs:?}");
        sleep(Duration::from_millis(50)).await;
    }
}

async fn document_describes_the_action(parkings: Parkings) {
    let document = parkings.0.admin().get("/openapi.json").await.ok();
    let operation = &document["paths"]["/api/v1/parkings/{id}/quote"]["post"];
    assert!(operation["parameters"].to_string().contains("/Idempotency-Key"), "{operation}");
    let answer = &document["components"]["schemas"]["ParkingQuoteAnswer"];
    assert_eq!(answer["properties"]["state"]["enum"], json!(["open", "closed"]), "{answer}");
}
