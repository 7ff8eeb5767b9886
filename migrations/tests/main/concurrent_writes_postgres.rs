//! Migrations on PostgreSQL while other connections write: no write fails, and none waits for long.

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

/// Changes that a server of the previous version tolerates: its writes still succeed.
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
const WRITE_INTERVAL: Duration = Duration::from_millis(5);
/// The longest wait of a writer: the lock timeout of a migration, with a wide margin for a busy machine.
const MAX_WAIT: Duration = Duration::from_secs(5);

fn parse(yaml: &str) -> Snapshot {
    snapshot(Sources::from_example(yaml)).unwrap_or_else(|report| panic!("{}", report.render()))
}

/// The result of a writer.
struct WriterStats {
    transactions: usize,
    longest: Duration,
}

charter_testing::needs_postgres! {
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn concurrent_writes_succeed_during_migrations() {
        let database = Database::postgres().await;
        let manager = SchemaManager::new(&database.connection);
        charter_migrations::platform().remove(0).up(&manager).await.unwrap();
        let (before, after) = (parse(BEFORE), parse(AFTER));
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
            let (connection, done) = (database.another_connection().await, done.clone());
            writers.push(tokio::spawn(async move { write(&connection, number, &done).await }));
        }
        let plan = Plan::between(&before, &after);
        assert!(plan.unsupported.is_empty() && plan.lost.is_empty(), "{plan:#?}");
        // Up, down and up, so that every kind of step runs while rows are written.
        steps::up(&manager, &plan).await.unwrap();
        steps::down(&manager, &plan).await.unwrap();
        steps::up(&manager, &plan).await.unwrap();
        done.store(true, Ordering::Relaxed);
        for writer in writers {
            let stats = writer.await.unwrap().unwrap();
            assert!(stats.transactions > 10, "{} transactions", stats.transactions);
            println!("{} transactions, the longest took {:?}", stats.transactions, stats.longest);
            assert!(stats.longest < MAX_WAIT, "one took {:?}", stats.longest);
        }
        let unfilled =
            "SELECT count(*)::text FROM things WHERE colour IS NULL OR given_at IS NULL AND created_at < updated_at";
        assert_eq!(database.text(unfilled).await, "0");
    }
}

/// Runs short transactions over both tables, in alternating order, until the migrations are done.
async fn write(connection: &DatabaseConnection, number: usize, done: &AtomicBool) -> Result<WriterStats, DbErr> {
    let mut stats = WriterStats { transactions: 0, longest: Duration::ZERO };
    while !done.load(Ordering::Relaxed) {
        let start = Instant::now();
        let transaction = connection.begin().await?;
        let row = number + WRITERS * (stats.transactions % 1000) + 1;
        let thing = format!(
            "INSERT INTO things (name, size, shelf_id, created_at, updated_at) VALUES ('new', 1, 1, now(), now());
             UPDATE things SET size = size + 1 WHERE id = {row}"
        );
        // Each writer updates its own shelf, so that writers do not wait for each other.
        let shelf = format!("UPDATE shelfs SET updated_at = now() WHERE id = {}", number + 2);
        let statements = if stats.transactions.is_multiple_of(2) { [thing, shelf] } else { [shelf, thing] };
        for statement in statements {
            transaction.execute_unprepared(&statement).await?;
        }
        transaction.commit().await?;
        stats.transactions += 1;
        stats.longest = stats.longest.max(start.elapsed());
        tokio::time::sleep(WRITE_INTERVAL).await;
    }
    Ok(stats)
}

charter_testing::needs_postgres! {
    /// A concurrent write waits until the decimal places are reduced, or makes the change fail.
    #[tokio::test]
    async fn concurrent_write_is_not_rounded_when_a_decimal_loses_places() {
        let database = Database::postgres().await;
        let thing = |kind: &str| {
            parse(&format!(
                "# resources/thing.yaml\nresource: thing\nfields:\n  size: {{ type: {kind}, nullable: true }}\n"
            ))
        };
        let (before, after) = (thing("decimal(9, 2)"), thing("decimal(9, 1)"));
        let manager = SchemaManager::new(&database.connection);
        steps::up(&manager, &Plan::between(&Snapshot::default(), &before)).await.unwrap();
        let writer = database.another_connection().await;
        let writing = writer.begin().await.unwrap();
        let insert = "INSERT INTO things (size, created_at, updated_at) VALUES (1.25, now(), now())";
        writing.execute_unprepared(insert).await.unwrap();
        let commits = async {
            // By then the migration has checked the rows, if it checks them before it waits for the lock.
            tokio::time::sleep(Duration::from_millis(250)).await;
            writing.commit().await.unwrap();
        };
        let plan = Plan::between(&before, &after);
        let (rejected, ()) = tokio::join!(steps::up(&manager, &plan), commits);
        let error = rejected.unwrap_err().to_string();
        assert!(error.contains("the value of things.size does not fit the new type in 1 row"), "{error}");
        assert_eq!(database.text("SELECT size::text FROM things").await, "1.25");

        // A single online step also checks the rows under its lock.
        let table = Table::online(&manager, "things");
        let changed = table.change(decimal("size", 9, 2).nullable(), decimal("size", 9, 1).nullable()).await;
        assert!(changed.unwrap_err().to_string().contains("things.size does not fit the new type in 1 row"));
        database.run("UPDATE things SET size = 1.5").await.unwrap();
        table.change(decimal("size", 9, 2).nullable(), decimal("size", 9, 1).nullable()).await.unwrap();
        assert_eq!(database.text("SELECT size::text FROM things").await, "1.5");
    }
}
