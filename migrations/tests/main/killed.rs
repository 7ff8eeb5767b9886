//! A process that migrates is killed, again and again, at moments all over its way: the next one goes on, ends in the tables
//! that the YAML says, and finds every row as it was.
//!
//! `CHARTER_TEST_KILLS=40 cargo test -p charter-migrations killed` is the long form.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use charter_codegen::migration::Plan;
use charter_codegen::snapshot::Snapshot;
use charter_codegen::{Sources, snapshot};
use charter_migrations::prelude::*;

use crate::database::{Database, connect, on_both};
use crate::rows::{Way, compare, values};
use crate::steps;

on_both! {
    who_comes_after_one_that_was_killed_goes_on
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

/// Something of everything: names, types, rows that are written and filled, what is required, references and indexes.
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
/// The kills of every run of the tests.
const SHORT: u32 = 4;
/// Where the child finds what it is to do.
const URL: &str = "CHARTER_TEST_MIGRATED";
const BACK: &str = "CHARTER_TEST_MIGRATED_BACK";

struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        let (before, after) = (taken(BEFORE), taken(AFTER));
        let (begin, change) = (Plan::between(&Snapshot::default(), &before), Plan::between(&before.kept(), &after));
        assert!(change.refused.is_empty(), "{:?}", change.refused);
        let mut migrations = charter_migrations::platform();
        migrations.truncate(1);
        migrations.push(steps::migration("begin", begin.whole, false));
        migrations.push(steps::migration("change", change.whole, false));
        migrations.push(steps::migration("change_online", change.online, true));
        migrations
    }
}

/// The migrations before the change.
const BEGUN: usize = 2;

fn taken(yaml: &str) -> Snapshot {
    snapshot(Sources::from_example(yaml)).unwrap_or_else(|report| panic!("{}", report.render()))
}

/// What the child does: this test again, in a process of its own. Where nobody tells it where, there is nothing to do.
#[tokio::test]
async fn migrates_what_it_is_told() {
    let Ok(url) = std::env::var(URL) else { return };
    let connection = connect(&url).await;
    if std::env::var(BACK).is_err() {
        return Migrator::up(&connection, None).await.unwrap();
    }
    let applied = Migrator::get_applied_migrations(&connection).await.unwrap().len();
    Migrator::down(&connection, Some((applied - BEGUN) as u32)).await.unwrap();
}

fn child(database: &Database, back: bool) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["killed::migrates_what_it_is_told", "--exact", "--nocapture"]).env(URL, database.url());
    if back {
        command.env(BACK, "1");
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// How long it takes to the end.
fn done(database: &Database, back: bool) -> Duration {
    let begun = Instant::now();
    let output = child(database, back).wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
    begun.elapsed()
}

/// Whether it was still at it.
fn killed(database: &Database, back: bool, after: Duration) -> bool {
    let mut child = child(database, back);
    std::thread::sleep(after);
    child.kill().unwrap();
    !child.wait().unwrap().success()
}

async fn who_comes_after_one_that_was_killed_goes_on(database: Database) {
    let (before, after) = (taken(BEFORE), taken(AFTER));
    let plan = Plan::between(&before.kept(), &after);
    Migrator::up(&database.connection, Some(BEGUN as u32)).await.unwrap();
    fill(&database).await;
    let begun = database.tables().await;
    // The first goes there and back undisturbed, and tells how long that takes and where it leads.
    let there = done(&database, false);
    let wanted = database.tables().await;
    let back = done(&database, true);
    assert_eq!(database.tables().await, begun);

    let kills = std::env::var("CHARTER_TEST_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(SHORT);
    let mut hit = 0;
    for kill in 1..=kills {
        let rows = values(&database, &before.kept()).await;
        // And at once again, so that one is killed that goes on.
        hit += u32::from(killed(&database, false, there * kill / (kills + 1)));
        hit += u32::from(killed(&database, false, there / 2));
        done(&database, false);
        let what = format!("killed at {kill} of {kills}");
        assert_eq!(database.tables().await, wanted, "{what}");
        compare(
            &Way { database: &database, plan: &plan, before: &before, after: &after, what: &what },
            &rows,
            &values(&database, &after).await,
        );
        hit += u32::from(killed(&database, true, back * kill / (kills + 1)));
        done(&database, true);
        assert_eq!(database.tables().await, begun, "back, {what}");
        if !database.is_postgres() {
            assert_eq!(database.texts("PRAGMA integrity_check").await, ["ok"], "{what}");
        }
    }
    assert!(hit > kills / 2, "of {kills} kills {hit} came in time");
}

async fn fill(database: &Database) {
    database.run_quietly("PRAGMA journal_mode = WAL").await;
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
