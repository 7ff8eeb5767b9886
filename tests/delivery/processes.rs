//! Several processes on one database, one of which is killed.
//!
//! `CHARTER_TEST_DELIVERIES=100000 cargo test --test api delivery::processes -- --nocapture` is the long form, in which
//! leases expire by themselves.

use std::collections::HashMap;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use charter_runtime::db::{Db, Dialect, Sql};
use charter_runtime::webhook::SigningSecret;
use chrono::Utc;
use sea_orm::ConnectionTrait;

use crate::support::program::{Program, Serving};
use crate::support::{Database, Receiver, Reply};

/// A number from the environment for the long form.
pub fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// Runs a test with the program on a database of its own.
pub fn run<T: Future<Output = ()>>(database: Database, test: impl FnOnce(Program) -> T) {
    let program = Program::new(database);
    let url = program.url().to_string();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(8).enable_all().build();
    runtime.expect("a runtime starts").block_on(async {
        test(program).await;
        database.remove(&url);
    });
}

/// The server, configured to deliver to this machine.
fn command(program: &Program) -> Command {
    let mut command = program.command(&[]);
    command.env("CHARTER_WEBHOOK_ALLOW_HTTP", "true").env("CHARTER_WEBHOOK_ALLOW_NETWORKS", "127.0.0.0/8");
    command.env("CHARTER_RATE_LIMIT", "0").env("CHARTER_LOG", "error");
    command
}

pub fn serve(program: &Program) -> Serving {
    Serving::start(command(program), "Serving ")
}

/// Starts the server for the first time and returns the printed token.
pub fn first(program: &Program) -> (Serving, String) {
    let serving = Serving::start(command(program), "More tokens:");
    let token = serving.banner.lines().map(str::trim).find(|line| line.starts_with("chr_"));
    let token = token.expect("the first start prints a token").to_string();
    (serving, token)
}

/// Inserts a webhook of the first administrator without the API.
pub async fn webhook(db: &Db, url: &str, event: &str) {
    let secret = SigningSecret::generate().expect("a secret");
    let columns = "\"user_id\", \"url\", \"abilities\", \"events\", \"secret\", \"created_at\", \"updated_at\"";
    let mut sql = Sql::new(db.dialect(), format!("INSERT INTO \"webhooks\" ({columns}) SELECT MIN(\"id\"), "));
    let (now, events) = (Utc::now(), serde_json::json!([event]));
    sql.bind(url)
        .push(", ")
        .bind(serde_json::json!(["*"]))
        .push(", ")
        .bind(events)
        .push(", ")
        .bind(secret.reveal())
        .push(", ");
    sql.bind(now).push(", ").bind(now).push(" FROM \"users\"");
    let transaction = db.begin().await.expect("a transaction begins");
    sql.run(&transaction).await.expect("the webhook is made");
    transaction.commit().await.expect("it commits");
}

pub async fn run_sql(db: &Db, sql: &str) {
    db.writer().execute_unprepared(sql).await.expect("the statement runs");
}

charter_testing::needs_postgres! {
    #[test]
    fn four_processes_deliver_from_one_database() {
        run(Database::Postgres, share);
    }
}

/// Number of deliveries in a normal run.
const SHORT: u64 = 3000;
const WEBHOOKS: u64 = 10;

/// Start and end of each attempt, by delivery.
type Times = HashMap<String, Vec<(Instant, Instant)>>;

async fn share(program: Program) {
    let wanted = setting("CHARTER_TEST_DELIVERIES").unwrap_or(SHORT);
    // Start and end of each attempt at a delivery.
    let attempts: Arc<Mutex<Times>> = Arc::default();
    let seen = attempts.clone();
    let receiver = Receiver::start(move |delivery| {
        let begun = Instant::now();
        std::thread::sleep(Duration::from_millis(5));
        let id = delivery.header("webhook-id").to_string();
        seen.lock().expect("no test failed").entry(id).or_default().push((begun, Instant::now()));
        Reply::status(200)
    })
    .await;
    let (first, _) = first(&program);
    drop(first);
    let db = Db::connect(program.url(), 2, None).await.expect("the database opens");
    assert_eq!(db.dialect(), Dialect::Postgres);
    for _ in 0..WEBHOOKS {
        webhook(&db, &receiver.url(), "product.created").await;
    }
    let events = wanted / WEBHOOKS;
    run_sql(
        &db,
        &format!(
            "INSERT INTO events (name, body, created_at) SELECT 'product.created', '{{\"event\":\"product.created\"}}', now() \
             FROM generate_series(1, {events})"
        ),
    )
    .await;
    let mut serving: Vec<Serving> = (0..4).map(|_| serve(&program)).collect();
    let begun = Instant::now();
    let arrived = || attempts.lock().expect("no test failed").len() as u64;
    while arrived() < events * WEBHOOKS / 3 {
        assert!(begun.elapsed() < Duration::from_secs(600), "a third of them never arrives");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    serving.remove(1).signal("KILL");
    let killed = Instant::now();
    let held = if wanted > SHORT {
        number(&db, "status = 'pending' AND lease_owner IS NOT NULL").await
    } else {
        // When the running processes have claimed everything else, the remaining leases are those of the killed one.
        let (mut left, mut before) = (number(&db, "status = 'pending'").await, -1);
        while left != before {
            tokio::time::sleep(Duration::from_millis(1500)).await;
            (left, before) = (number(&db, "status = 'pending'").await, left);
        }
        run_sql(&db, "UPDATE webhook_deliveries SET lease_until = now() WHERE status = 'pending'").await;
        left
    };
    let mut taken_over = None;
    while number(&db, "status = 'pending'").await > 0 || arrived() < events * WEBHOOKS {
        assert!(begun.elapsed() < Duration::from_secs(1800), "they never all arrive");
        // Leased by the killed process and expired.
        let old = number(&db, "status = 'pending' AND lease_until < now() - interval '15 seconds'").await;
        assert_eq!(old, 0, "what the dead held is taken over within 60 s of its claim");
        taken_over = Some(killed.elapsed());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let took = begun.elapsed();
    for serving in serving {
        serving.signal("TERM");
        assert_eq!(serving.end().code, 0);
    }
    let attempts = attempts.lock().expect("no test failed").clone();
    let mut overlapping = 0;
    for times in attempts.values() {
        let mut times = times.clone();
        times.sort();
        overlapping += times.windows(2).filter(|pair| pair[1].0 < pair[0].1).count();
    }
    assert_eq!(overlapping, 0, "no two processes attempt one delivery at once");
    let made: usize = attempts.values().map(Vec::len).sum();
    let twice = made - attempts.len();
    assert_eq!(attempts.len() as u64, events * WEBHOOKS, "each delivery arrives");
    assert!(twice as i64 <= held, "{twice} arrived twice, and {held} were under way");
    assert_eq!(number(&db, "status = 'delivered'").await as u64, events * WEBHOOKS);
    println!(
        "{} deliveries by four processes, one of them killed: {:.1} s; {twice} arrived twice of {held} under way; \
         the last {:.1} s after the kill",
        attempts.len(),
        took.as_secs_f64(),
        taken_over.unwrap_or_default().as_secs_f64()
    );
    db.close().await;
}

async fn number(db: &Db, condition: &str) -> i64 {
    let sql = format!("SELECT COUNT(*) AS v FROM webhook_deliveries WHERE {condition}");
    let row = Sql::new(db.dialect(), sql).one(db.reader()).await.expect("the statement runs");
    row.expect("a row").try_get("", "v").expect("a number")
}
