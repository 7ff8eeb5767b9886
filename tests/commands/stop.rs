//! `charter serve`, told to stop while its database does not answer, and by the signal of a terminal that is closed.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use sea_orm::{ConnectionTrait, TransactionTrait};

use super::{blocking, status, token};
use crate::support::program::{Program, Serving, signal};
use crate::support::{Client, Database, postgres};

/// As a partition does, or an address that another machine takes over.
#[test]
fn a_database_that_hangs_keeps_no_server_from_stopping() {
    let Some(own) = postgres::Postgres::start() else { return };
    let program = Program::new(Database::Sqlite);
    let mut command = program.command(&[]);
    command.env("CHARTER_DATABASE_URL", own.create_database(None));
    let serving = Serving::start(command, "More tokens:");
    let token = token(&serving.banner);
    assert_eq!(status(&serving, &token, "/products"), 200);
    own.hang();
    let figures = blocking(Client::new(serving.address()).get("~/health/metrics"));
    assert!(figures.status == 200 && figures.text.contains("charter_webhook_attempts_total"), "{figures:?}");
    assert!(!figures.text.contains("charter_webhook_due"), "nobody knows");
    let begun = Instant::now();
    serving.signal("TERM");
    assert_eq!(serving.end().code, 0);
    let took = begun.elapsed();
    own.resume();
    assert!(took < Duration::from_secs(30), "{took:?}");
}

#[test]
fn a_start_that_waits_for_its_database_can_be_stopped() {
    if postgres::server().is_none() {
        return;
    }
    let program = Program::new(Database::Postgres);
    program.done(&["migrate"]);
    blocking(async {
        // It listens, and looks for an administrator then.
        let database = sea_orm::Database::connect(program.url()).await.expect("a connection");
        let held = database.begin().await.expect("a transaction");
        held.execute_unprepared("LOCK TABLE users IN ACCESS EXCLUSIVE MODE").await.expect("nobody else has it");
        let mut child = program.command(&[]).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it runs");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        assert!(lines.any(|line| line.expect("text").contains("listening")), "it listens");
        let begun = Instant::now();
        signal(child.id(), "TERM");
        assert_eq!(child.wait().expect("it ends").code(), Some(0));
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
        held.rollback().await.expect("it was held all the time");
    });
}

#[test]
fn a_hang_up_is_a_reason_to_stop_like_any_other() {
    let program = Program::new(Database::Sqlite);
    let serving = program.serve_first(&[]);
    serving.signal("HUP");
    assert_eq!(serving.end().code, 0);
}
