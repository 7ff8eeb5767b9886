//! `charter serve` waits for a database that cannot be reached or is a standby; other commands do not.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use charter_testing::postgres::Postgres;

use crate::support::Database;
use crate::support::program::{Program, signal};

/// No server listens here.
const UNREACHABLE: &str = "postgres://nobody:hush@127.0.0.1:1/nowhere";

/// Starts the server and returns it with the lines of its log until it waits.
fn start_until_it_waits(program: &Program, url: &str) -> (Child, BufReader<std::process::ChildStderr>, String) {
    let mut command = program.command(&[]);
    command.env("CHARTER_DATABASE_URL", url).stderr(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().expect("it runs");
    let mut log = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut said = String::new();
    while !said.contains("waiting for the database") {
        assert_ne!(log.read_line(&mut said).expect("text"), 0, "it ends: {said}");
    }
    (child, log, said)
}

#[test]
fn start_that_waits_for_an_unreachable_database_can_be_stopped() {
    let program = Program::new(Database::Sqlite);
    let (mut child, _log, said) = start_until_it_waits(&program, UNREACHABLE);
    assert!(said.contains("Connection refused") && !said.contains("hush"), "{said}");
    let start = Instant::now();
    signal(child.id(), "TERM");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}

#[test]
fn start_without_a_wait_and_other_commands_fail_at_once() {
    let program = Program::new(Database::Sqlite);
    for arguments in [&["serve", "--database-wait", "0"][..], &["migrate"], &["doctor"]] {
        let start = Instant::now();
        let said = program.run(&[arguments, &["--database-url", UNREACHABLE]].concat());
        assert!(said.code == 1 && said.err.contains("could not open the database"), "{said:?}");
        assert!(!said.err.contains("hush") && !said.err.contains("waiting"), "{said:?}");
        assert!(start.elapsed() < Duration::from_secs(4), "{arguments:?}: {:?}", start.elapsed());
    }
}

#[test]
fn wait_ends_with_the_reason() {
    let program = Program::new(Database::Sqlite);
    let hosts = UNREACHABLE.replace(":1/", ":1,localhost:1/");
    let said = program.run(&["--database-wait", "1", "--database-url", &hosts]);
    assert!(said.code == 1 && said.err.matches("waiting for the database").count() == 1, "{said:?}");
    assert!(said.err.contains("127.0.0.1:1: ") && said.err.contains("localhost:1: "), "{said:?}");
    assert!(!said.err.contains("hush"), "{said:?}");
}

#[test]
fn invalid_host_list_stops_the_start_with_the_name_of_the_setting() {
    let program = Program::new(Database::Sqlite);
    for url in ["postgres://me:hush@one,/db", "postgres://me:hush@one:x,two/db", "postgres://me:hush@a,b/db?port=1"] {
        let said = program.run(&["--database-url", url]);
        assert!(said.code != 0 && said.err.contains("database-url"), "{said:?}");
        assert!(!said.err.contains("hush"), "{said:?}");
    }
}

charter_testing::needs_postgres! {
    #[test]
    fn start_waits_for_the_promotion_of_a_standby() {
        let primary = Postgres::start_primary();
        let url = primary.create_database(None);
        let standby = primary.start_standby(false);
        drop(primary);
        let url = format!("{}?target_session_attrs=read-write", standby.url_of(&url));
        let program = Program::new(Database::Sqlite);
        let (mut child, mut log, mut said) = start_until_it_waits(&program, &url);
        assert!(said.contains("read-only"), "{said}");
        standby.promote();
        while !said.contains("listening") {
            assert_ne!(log.read_line(&mut said).expect("text"), 0, "it ends: {said}");
        }
        assert_eq!(said.matches("waiting for the database").count(), 1, "{said}");
        signal(child.id(), "TERM");
        assert_eq!(child.wait().expect("it ends").code(), Some(0));
        // A missing database is no reason to wait.
        let said = program.run(&["--database-url", &url.replace("test_", "missing_")]);
        assert!(said.code == 1 && !said.err.contains("waiting"), "{said:?}");
    }
}
