//! Crash test: the server is killed while it writes and delivers. No event is lost or invented, and only attempts that
//! were in progress are repeated.
//!
//! `CHARTER_TEST_KILLS=200 cargo test --test api delivery::kill -- --nocapture` is the long form, in which leases
//! expire by themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use charter_runtime::db::{Db, Sql};
use reqwest::Method;
use serde_json::json;

use super::processes::{self, setting};
use crate::support::program::Program;
use crate::support::{Client, Database, Receiver, Reply};

#[test]
fn no_delivery_is_lost_after_kills_on_sqlite() {
    processes::run(Database::Sqlite, kill);
}

charter_testing::needs_postgres! {
    #[test]
    fn no_delivery_is_lost_after_kills_on_postgres() {
        processes::run(Database::Postgres, kill);
    }
}

/// Number of kills in a normal run.
const SHORT: u64 = 3;
/// Acknowledged writes between two kills.
const LEAST: u64 = 6;

async fn kill(program: Program) {
    let kills = setting("CHARTER_TEST_KILLS").unwrap_or(SHORT);
    let receiver = Receiver::start(|_| {
        // Slow enough that some attempts are in progress at every kill.
        std::thread::sleep(Duration::from_millis(3));
        Reply::status(200)
    })
    .await;
    let (serving, token) = processes::first(&program);
    drop(serving);
    let db = Db::connect(program.url(), 2, None).await.expect("the database opens");
    processes::webhook(&db, &receiver.url(), "role.created").await;
    let acknowledged: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    // Attempts in progress at a kill, by lease.
    let (mut under_way, mut written) = (BTreeSet::new(), 0);
    for round in 0..kills {
        let serving = processes::serve(&program);
        let client = Client::new(serving.address()).bearing(&token);
        let stop = Arc::new(AtomicBool::new(false));
        let writers: Vec<_> = (0..3)
            .map(|writer| {
                let (client, stop, acknowledged) = (client.clone(), stop.clone(), acknowledged.clone());
                tokio::spawn(async move { write(&client, &format!("{round}-{writer}"), &stop, &acknowledged).await })
            })
            .collect();
        // A different moment each time, after some acknowledged writes.
        let known = || acknowledged.lock().expect("no writer panicked").len() as u64;
        let (before, begun) = (known(), Instant::now());
        while known() < before + LEAST + round % 7 && begun.elapsed() < Duration::from_secs(20) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(Duration::from_millis(round * 7 % 20)).await;
        serving.signal("KILL");
        stop.store(true, Ordering::Relaxed);
        for writer in writers {
            written += writer.await.expect("a writer ends");
        }
        drop(serving);
        let held = "FROM webhook_deliveries WHERE status = 'pending' AND lease_owner IS NOT NULL";
        under_way.extend(texts(&db, &format!("SELECT id || '/' || lease_owner AS v {held}")).await);
        if kills <= SHORT {
            // Expire the leases of the killed process.
            processes::run_sql(&db, "UPDATE webhook_deliveries SET lease_until = created_at").await;
        }
    }
    let serving = processes::serve(&program);
    let begun = Instant::now();
    // Events first: their deliveries are then pending in the second query.
    while count(&db, "events WHERE fanned_out_at IS NULL").await > 0
        || count(&db, "webhook_deliveries WHERE status = 'pending'").await > 0
    {
        assert!(begun.elapsed() < Duration::from_secs(60), "what the dead held is taken over within 60 s");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let settled = begun.elapsed();
    drop(serving);

    let stored: BTreeSet<String> =
        texts(&db, "SELECT name AS v FROM roles WHERE name NOT IN ('Member', 'Reader')").await.into_iter().collect();
    let acknowledged = acknowledged.lock().expect("no writer panicked").clone();
    let lost: Vec<&String> = acknowledged.difference(&stored).collect();
    assert!(lost.is_empty(), "acknowledged and not there: {lost:?}");
    let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for delivery in receiver.received() {
        let name = delivery.json()["data"]["role"]["name"].as_str().expect("a name").to_string();
        told.entry(name).or_default().push(delivery.header("webhook-id").to_string());
    }
    let told_of: BTreeSet<String> = told.keys().cloned().collect();
    let untold: Vec<&String> = stored.difference(&told_of).collect();
    assert!(untold.is_empty(), "committed and not told: {untold:?}");
    let invented: Vec<&String> = told_of.difference(&stored).collect();
    assert!(invented.is_empty(), "told and not committed: {invented:?}");
    let renamed: Vec<_> = told.iter().filter(|(_, ids)| ids.iter().any(|id| *id != ids[0])).collect();
    assert!(renamed.is_empty(), "told again under another id: {renamed:?}");
    let (twice, under_way) = (told.values().map(Vec::len).sum::<usize>() - told.len(), under_way.len());
    assert!(twice <= under_way, "{twice} were told twice, and {under_way} were under way");
    assert!(acknowledged.len() as u64 >= LEAST * kills, "{} writes are too few to show anything", acknowledged.len());
    println!(
        "{kills} kills: {written} writes sent, {} acknowledged, {} stored and told, {under_way} attempts under way, \
         {twice} told twice; settled {:.1} s after the last start",
        acknowledged.len(),
        stored.len(),
        settled.as_secs_f64()
    );
    db.close().await;
}

/// Writes as fast as the server responds until it is killed. Every third write is a duplicate, which is rejected.
async fn write(client: &Client, prefix: &str, stop: &AtomicBool, acknowledged: &Mutex<BTreeSet<String>>) -> usize {
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        let name = format!("{prefix}-{}", number - usize::from(number % 3 == 2));
        number += 1;
        let answer = client.attempt(Method::POST, "/roles", Some(json!({ "name": name }))).await;
        match answer.map(|answer| answer.status) {
            Some(201) => drop(acknowledged.lock().expect("no writer panicked").insert(name)),
            Some(422) => {}
            Some(status) => panic!("{status}"),
            None => break,
        }
    }
    number
}

async fn texts(db: &Db, sql: &str) -> Vec<String> {
    let rows = Sql::new(db.dialect(), sql).all(db.reader()).await.expect("the statement runs");
    rows.iter().map(|row| row.try_get("", "v").expect("a text")).collect()
}

async fn count(db: &Db, from: &str) -> i64 {
    let sql = format!("SELECT COUNT(*) AS v FROM {from}");
    let row = Sql::new(db.dialect(), sql).one(db.reader()).await.expect("the statement runs");
    row.expect("a row").try_get("", "v").expect("a number")
}
