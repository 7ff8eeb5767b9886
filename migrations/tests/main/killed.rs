//! Crash recovery: a migrating process is killed at many points, and the next process completes the migration without
//! losing a row.
//!
//! `CHARTER_TEST_KILLS=40 cargo test -p charter-migrations killed` runs the long form.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use charter_codegen::migration::Plan;
use charter_codegen::snapshot::Snapshot;
use charter_codegen::{Sources, snapshot};
use charter_migrations::prelude::*;

use crate::database::{Database, connect, on_both};
use crate::rows::{AppliedMigration, compare, values};
use crate::steps;

on_both! {
    migration_completes_after_its_process_was_killed
}

const BEFORE: &str = "\
# resources/shelf.yaml
resource: shelf
fields:
  name: { type: string(40), required: true }
# resources/thing.yaml
resource: thing
fields:
  name:     { type: string(40), required: true }
  size:     { type: integer, default: 5 }
  note:     { type: text, nullable: true }
  old:      { type: string(40), nullable: true }
  shelf_id: { type: bigint, nullable: true }
indexes: [[name], [size, name]]
# resources/gone.yaml
resource: gone
fields:
  of_id: { type: ref(gone), nullable: true }
";

/// Every kind of change: names, types, converted and filled values, required fields, foreign keys and indexes.
const AFTER: &str = "\
# resources/shelf.yaml
resource: shelf
fields:
  name: { type: string(80), required: true, unique: true }
# resources/article.yaml
resource: article
renamed_from: thing
delete: soft
custom_fields: true
fields:
  title:    { type: string(80), required: true, renamed_from: name }
  size:     { type: decimal(12, 2), default: 7 }
  note:     { type: text, default: none, backfill: empty }
  shelf_id: { type: ref(shelf), nullable: true }
  colour:   { type: string(20), default: red, backfill: blue }
  given_at: { type: timestamp, nullable: true, backfill: now }
indexes: [[title], [size, title], [shelf_id, title]]
search: [title]
";

const ROWS: usize = 10_000;
/// The kills of a default run.
const DEFAULT_KILLS: u32 = 4;
/// Environment variables of the child: the database, and whether it migrates down.
const URL: &str = "CHARTER_TEST_MIGRATED";
const DOWN: &str = "CHARTER_TEST_MIGRATED_DOWN";

struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        let (before, after) = (parse(BEFORE), parse(AFTER));
        let (begin, change) = (Plan::between(&Snapshot::default(), &before), Plan::between(&before.kept(), &after));
        assert!(change.unsupported.is_empty(), "{:?}", change.unsupported);
        let mut migrations = charter_migrations::platform();
        migrations.truncate(1);
        migrations.push(steps::migration("begin", begin.whole, false));
        migrations.push(steps::migration("change", change.whole, false));
        migrations.push(steps::migration("change_online", change.online, true));
        migrations
    }
}

/// The number of migrations before the change.
const BEFORE_CHANGE: usize = 2;

fn parse(yaml: &str) -> Snapshot {
    snapshot(Sources::from_example(yaml)).unwrap_or_else(|report| panic!("{}", report.render()))
}

/// The child process: this test binary with [`URL`] set. Without it, the test does nothing.
#[tokio::test]
async fn child_process_migrates_the_given_database() {
    let Ok(url) = std::env::var(URL) else { return };
    let connection = connect(&url).await;
    if std::env::var(DOWN).is_err() {
        return Migrator::up(&connection, None).await.unwrap();
    }
    let applied = Migrator::get_applied_migrations(&connection).await.unwrap().len();
    Migrator::down(&connection, Some((applied - BEFORE_CHANGE) as u32)).await.unwrap();
}

fn spawn_child(database: &Database, down: bool) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["killed::child_process_migrates_the_given_database", "--exact", "--nocapture"])
        .env(URL, database.url());
    if down {
        command.env(DOWN, "1");
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs the child to its end, and returns its duration.
fn run_child(database: &Database, down: bool) -> Duration {
    let start = Instant::now();
    let output = spawn_child(database, down).wait_with_output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&printed));
    start.elapsed()
}

/// Kills the child after a time. Returns true if it had not ended.
fn kill_child(database: &Database, down: bool, after: Duration) -> bool {
    let mut child = spawn_child(database, down);
    std::thread::sleep(after);
    child.kill().unwrap();
    !child.wait().unwrap().success()
}

async fn migration_completes_after_its_process_was_killed(database: Database) {
    let (before, after) = (parse(BEFORE), parse(AFTER));
    let plan = Plan::between(&before.kept(), &after);
    Migrator::up(&database.connection, Some(BEFORE_CHANGE as u32)).await.unwrap();
    fill(&database).await;
    let before_change = database.tables().await;
    // The first run is not killed. It gives the durations and the expected tables.
    let up_time = run_child(&database, false);
    let expected = database.tables().await;
    let down_time = run_child(&database, true);
    assert_eq!(database.tables().await, before_change);

    let kills = std::env::var("CHARTER_TEST_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(DEFAULT_KILLS);
    let mut hits = 0;
    for kill in 1..=kills {
        let rows = values(&database, &before.kept()).await;
        // The second kill hits a process that continues an interrupted migration.
        hits += u32::from(kill_child(&database, false, up_time * kill / (kills + 1)));
        hits += u32::from(kill_child(&database, false, up_time / 2));
        run_child(&database, false);
        let what = format!("killed at {kill} of {kills}");
        assert_eq!(database.tables().await, expected, "{what}");
        compare(
            &AppliedMigration { database: &database, plan: &plan, before: &before, after: &after, what: &what },
            &rows,
            &values(&database, &after).await,
        );
        hits += u32::from(kill_child(&database, true, down_time * kill / (kills + 1)));
        run_child(&database, true);
        assert_eq!(database.tables().await, before_change, "down, {what}");
        if !database.is_postgres() {
            assert_eq!(database.texts("PRAGMA integrity_check").await, ["ok"], "{what}");
        }
    }
    assert!(hits > kills / 2, "{hits} of {kills} kills came before the end");
}

async fn fill(database: &Database) {
    database.run_ignoring_errors("PRAGMA journal_mode = WAL").await;
    let numbers = |count: usize| match database.is_postgres() {
        true => format!("generate_series(1, {count}) AS n(n)"),
        false => {
            format!("(WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT {count}) SELECT n FROM n)")
        }
    };
    let times = "'2026-11-21T10:00:00+00:00', '2026-11-21T10:00:00+00:00'";
    for statement in [
        format!("INSERT INTO shelfs (name, created_at, updated_at) SELECT 'shelf ' || n, {times} FROM {}", numbers(50)),
        format!(
            "INSERT INTO things (name, size, note, old, shelf_id, created_at, updated_at)
             SELECT 'thing ' || n, n % 900, CASE WHEN n % 3 > 0 THEN 'note ' || n END, 'x', n % 50 + 1, {times} FROM {}",
            numbers(ROWS)
        ),
        format!("INSERT INTO gones (of_id, created_at, updated_at) VALUES (NULL, {times}), (1, {times})"),
    ] {
        database.run(&statement).await.unwrap();
    }
}
