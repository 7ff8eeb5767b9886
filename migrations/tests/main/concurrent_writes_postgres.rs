//! Migrations on PostgreSQL beside those who write: none of them sees an error, and none waits for long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use charter_codegen::migration::Plan;
use charter_codegen::snapshot::Snapshot;
use charter_codegen::{Sources, snapshot};
use charter_migrations::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DatabaseConnection, TransactionTrait};

use crate::database::Database;
use crate::steps;

const BEFORE: &str = "\
# resources/shelf.yaml
resource: shelf
fields:
  name: { type: string(40), required: true }
# resources/thing.yaml
resource: thing
fields:
  name:     { type: string(40), required: true }
  size:     { type: integer, nullable: true }
  shelf_id: { type: bigint, nullable: true }
";

/// Everything that leaves a server of the version before in place: what it writes is still taken.
const AFTER: &str = "\
# resources/shelf.yaml
resource: shelf
fields:
  name: { type: string(80), required: true, unique: true }
  room: { type: string(20), default: hall, backfill: attic }
# resources/thing.yaml
resource: thing
custom_fields: true
fields:
  name:     { type: string(80), required: true }
  size:     { type: integer, nullable: true }
  shelf_id: { type: ref(shelf), nullable: true }
  colour:   { type: string(20), default: red, backfill: blue }
  given_at: { type: timestamp, nullable: true, backfill: now }
indexes: [[name], [shelf_id, name]]
search: [name]
";

const ROWS: usize = 20_000;
const WRITERS: usize = 3;
/// Between two transactions of a writer.
const PAUSE: Duration = Duration::from_millis(5);
/// What a writer waits for at most: the patience of a migration, and then much for a machine that is busy.
const LONGEST: Duration = Duration::from_secs(5);

fn taken(yaml: &str) -> Snapshot {
    snapshot(Sources::from_example(yaml)).unwrap_or_else(|report| panic!("{}", report.render()))
}

/// What a writer came to.
struct Written {
    transactions: usize,
    longest: Duration,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_who_writes_meanwhile_sees_an_error() {
    let Some(database) = Database::postgres().await else { return };
    let manager = SchemaManager::new(&database.connection);
    charter_migrations::platform().remove(0).up(&manager).await.unwrap();
    let (before, after) = (taken(BEFORE), taken(AFTER));
    steps::up(&manager, &Plan::between(&Snapshot::default(), &before)).await.unwrap();
    let times = "now() AS created_at, now() AS updated_at";
    for insert in [
        format!(
            "INSERT INTO shelfs (name, created_at, updated_at) SELECT n::text, {times} FROM generate_series(1, 50) n"
        ),
        format!(
            "INSERT INTO things (name, size, shelf_id, created_at, updated_at)
             SELECT n::text, n, n % 50 + 1, {times} FROM generate_series(1, {ROWS}) n"
        ),
    ] {
        database.connection.execute_unprepared(&insert).await.unwrap();
    }

    let done = Arc::new(AtomicBool::new(false));
    let mut writers = Vec::new();
    for number in 0..WRITERS {
        let (connection, done) = (database.another().await, done.clone());
        writers.push(tokio::spawn(async move { write(&connection, number, &done).await }));
    }
    let plan = Plan::between(&before, &after);
    assert!(plan.refused.is_empty() && plan.lost.is_empty(), "{plan:#?}");
    // There and back and there again, so that every kind of step is taken beside the writers.
    steps::up(&manager, &plan).await.unwrap();
    steps::down(&manager, &plan).await.unwrap();
    steps::up(&manager, &plan).await.unwrap();
    done.store(true, Ordering::Relaxed);
    for writer in writers {
        let written = writer.await.unwrap().unwrap();
        assert!(written.transactions > 10, "{} transactions", written.transactions);
        println!("{} transactions, the longest took {:?}", written.transactions, written.longest);
        assert!(written.longest < LONGEST, "one took {:?}", written.longest);
    }
    let left = "SELECT count(*)::text FROM things WHERE colour IS NULL OR given_at IS NULL AND created_at < updated_at";
    assert_eq!(database.text(left).await, "0");
}

/// Short transactions over both tables, every second one the other way round, until the migrations are done.
async fn write(connection: &DatabaseConnection, number: usize, done: &AtomicBool) -> Result<Written, DbErr> {
    let mut written = Written { transactions: 0, longest: Duration::ZERO };
    while !done.load(Ordering::Relaxed) {
        let began = Instant::now();
        let transaction = connection.begin().await?;
        let row = number + WRITERS * (written.transactions % 1000) + 1;
        let thing = format!(
            "INSERT INTO things (name, size, shelf_id, created_at, updated_at) VALUES ('new', 1, 1, now(), now());
             UPDATE things SET size = size + 1 WHERE id = {row}"
        );
        // A shelf of its own for each writer, so that only the migration is in its way.
        let shelf = format!("UPDATE shelfs SET updated_at = now() WHERE id = {}", number + 2);
        let statements = if written.transactions.is_multiple_of(2) { [thing, shelf] } else { [shelf, thing] };
        for statement in statements {
            transaction.execute_unprepared(&statement).await?;
        }
        transaction.commit().await?;
        written.transactions += 1;
        written.longest = written.longest.max(began.elapsed());
        tokio::time::sleep(PAUSE).await;
    }
    Ok(written)
}

/// What is written while a decimal is to lose places waits for the change, or stops it; it is never rounded.
#[tokio::test]
async fn what_is_written_beside_a_narrower_decimal_is_not_rounded() {
    let Some(database) = Database::postgres().await else { return };
    let thing = |kind: &str| {
        taken(&format!(
            "# resources/thing.yaml\nresource: thing\nfields:\n  size: {{ type: {kind}, nullable: true }}\n"
        ))
    };
    let (before, after) = (thing("decimal(9, 2)"), thing("decimal(9, 1)"));
    let manager = SchemaManager::new(&database.connection);
    steps::up(&manager, &Plan::between(&Snapshot::default(), &before)).await.unwrap();
    let writer = database.another().await;
    let writing = writer.begin().await.unwrap();
    let insert = "INSERT INTO things (size, created_at, updated_at) VALUES (1.25, now(), now())";
    writing.execute_unprepared(insert).await.unwrap();
    let commits = async {
        // The migration has looked by then, if it looks before it waits.
        tokio::time::sleep(Duration::from_millis(250)).await;
        writing.commit().await.unwrap();
    };
    let plan = Plan::between(&before, &after);
    let (refused, ()) = tokio::join!(steps::up(&manager, &plan), commits);
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("in 1 row things.size does not fit the new type"), "{refused}");
    assert_eq!(database.text("SELECT size::text FROM things").await, "1.25");

    // A step that stands by itself looks under its lock as well.
    let table = Table::online(&manager, "things");
    let changed = table.change(decimal("size", 9, 2).nullable(), decimal("size", 9, 1).nullable()).await;
    assert!(changed.unwrap_err().to_string().contains("in 1 row things.size does not fit"));
    database.run("UPDATE things SET size = 1.5").await.unwrap();
    table.change(decimal("size", 9, 2).nullable(), decimal("size", 9, 1).nullable()).await.unwrap();
    assert_eq!(database.text("SELECT size::text FROM things").await, "1.5");
}
