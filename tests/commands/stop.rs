//! `charter serve`: shutdown with a hanging database, and on SIGHUP.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use sea_orm::{ConnectionTrait, TransactionTrait};

use super::{blocking, status, token};
use crate::support::program::{Program, Serving, signal};
use crate::support::{Client, Database, postgres};

charter_testing::needs_postgres! {
    /// As in a network partition, or after a failover of the address.
    #[test]
    fn hanging_database_does_not_prevent_the_shutdown() {
        let own = postgres::Postgres::start();
        let program = Program::new(Database::Sqlite);
        let mut command = program.command(&[]);
        command.env("CHARTER_DATABASE_URL", own.create_database(None));
        let serving = Serving::start(command, "More tokens:");
        let token = token(&serving.banner);
        assert_eq!(status(&serving, &token, "/products"), 200);
        own.hang();
        let metrics = blocking(Client::new(serving.address()).get("~/health/metrics"));
        assert!(metrics.status == 200 && metrics.text.contains("charter_webhook_attempts_total"), "{metrics:?}");
        assert!(!metrics.text.contains("charter_webhook_due"), "the database does not answer");
        let start = Instant::now();
        serving.signal("TERM");
        assert_eq!(serving.end().code, 0);
        let took = start.elapsed();
        own.resume();
        assert!(took < Duration::from_secs(30), "{took:?}");
    }
}

charter_testing::needs_postgres! {
    #[test]
    fn start_that_waits_for_the_database_can_be_stopped() {
        let program = Program::new(Database::Postgres);
        program.done(&["migrate"]);
        blocking(async {
            // The server listens, then it looks for an administrator.
            let database = sea_orm::Database::connect(program.url()).await.expect("a connection");
            let held = database.begin().await.expect("a transaction");
            held.execute_unprepared("LOCK TABLE users IN ACCESS EXCLUSIVE MODE").await.expect("nobody else has it");
            let mut child = program.command(&[]).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it runs");
            let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
            assert!(lines.any(|line| line.expect("text").contains("listening")), "it listens");
            let start = Instant::now();
            signal(child.id(), "TERM");
            assert_eq!(child.wait().expect("it ends").code(), Some(0));
            assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
            held.rollback().await.expect("it was held all the time");
        });
    }
}

#[test]
fn sighup_stops_the_server() {
    let program = Program::new(Database::Sqlite);
    let serving = program.serve_first(&[]);
    serving.signal("HUP");
    assert_eq!(serving.end().code, 0);
}

/// Nobody reads standard error, as when the program that collects the log hangs.
#[test]
fn full_log_pipe_neither_delays_requests_nor_the_shutdown() {
    let program = Program::new(Database::Sqlite);
    let serving = program.serve_first(&[]);
    let client = Client::new(serving.address());
    let dropped = blocking(async {
        for _ in 0..10_000 {
            assert_eq!(client.get("~/health/live").await.status, 200);
        }
        let metrics = client.get("~/health/metrics").await.text;
        let dropped = metrics.lines().find_map(|line| line.strip_prefix("charter_log_dropped_lines_total "));
        dropped.expect("a counter").parse::<u64>().expect("a number")
    });
    assert!((1..=10_000).contains(&dropped), "{dropped} lines were dropped");
    let start = Instant::now();
    serving.signal("TERM");
    assert_eq!(serving.exit_code(), Some(0));
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}
