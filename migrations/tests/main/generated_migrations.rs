//! Migrations as `cargo charter migration new` writes them: compiled, run, and compared with their steps.

use charter_codegen::migration::Plan;
use charter_codegen::migration::checks::checks;
use charter_codegen::migration::sql::Dialect;
use charter_codegen::snapshot::Snapshot;
use charter_codegen::{Sources, snapshot};
use charter_migrations::prelude::*;

use crate::database::{Database, on_both};
use crate::steps;

#[path = "../generated/m20261121_000001_begin.rs"]
mod m20261121_000001_begin;
#[path = "../generated/m20261121_000002_change.rs"]
mod m20261121_000002_change;
#[path = "../generated/m20261121_000003_change_online.rs"]
mod m20261121_000003_change_online;

on_both! {
    generated_migration_does_the_same_as_its_steps
    dry_run_checks_find_the_rows_that_fail_a_migration
}

struct Generated;

impl MigratorTrait for Generated {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        let mut migrations = charter_migrations::platform();
        migrations.truncate(1);
        migrations.push(Transactional::boxed(m20261121_000001_begin::Migration));
        migrations.push(Transactional::boxed(m20261121_000002_change::Migration));
        migrations.push(Transactional::boxed(m20261121_000003_change_online::Migration));
        migrations
    }
}

fn parse(yaml: &str) -> Snapshot {
    snapshot(Sources::from_example(yaml)).unwrap_or_else(|report| panic!("{}", report.render()))
}

async fn generated_migration_does_the_same_as_its_steps(database: Database) {
    let before = parse(include_str!("../generated/before.yaml"));
    let after = parse(include_str!("../generated/after.yaml"));
    let (begin, change) = (Plan::between(&Snapshot::default(), &before), Plan::between(&before, &after));
    Generated::up(&database.connection, None).await.unwrap();
    let generated = database.tables().await;

    Generated::down(&database.connection, Some(3)).await.unwrap();
    let manager = SchemaManager::new(&database.connection);
    steps::up(&manager, &begin).await.unwrap();
    let first = database.tables().await;
    steps::up(&manager, &change).await.unwrap();
    assert_eq!(database.tables().await, generated);

    // The generated migration undoes the tables that the steps created.
    steps::down(&manager, &change).await.unwrap();
    assert_eq!(database.tables().await, first);
    steps::down(&manager, &begin).await.unwrap();
    Generated::up(&database.connection, None).await.unwrap();
    Generated::down(&database.connection, Some(2)).await.unwrap();
    assert_eq!(database.tables().await, first);
}

/// Type changes that some values do not fit: old type, new type, and such a value on SQLite and on PostgreSQL.
const MISFITS: &[(&str, &str, &str, &str)] = &[
    ("string(40)", "string(3)", "'long'", "'long'"),
    ("text", "string(3)", "'long'", "'long'"),
    ("text", "enum, values: [a]", "printf('%065d', 0)", "repeat('x', 65)"),
    ("bigint", "integer", "3000000000", "3000000000"),
    ("integer", "decimal(3, 1)", "100", "100"),
    ("decimal(9, 2)", "integer", "150", "1.5"),
    ("decimal(12, 0)", "integer", "3000000000", "3000000000"),
    ("decimal(18, 4)", "bigint", "15000", "1.5"),
    ("decimal(9, 2)", "decimal(9, 1)", "125", "1.25"),
    ("decimal(9, 2)", "decimal(8, 2)", "100000000", "1000000.00"),
];

/// The queries that `--dry-run` prints find the rows that fail the migration, and no others.
async fn dry_run_checks_find_the_rows_that_fail_a_migration(database: Database) {
    let manager = SchemaManager::new(&database.connection);
    let dialect = if database.is_postgres() { Dialect::Postgres } else { Dialect::Sqlite };
    for (number, (from, to, on_sqlite, on_postgres)) in MISFITS.iter().enumerate() {
        let thing = |kind: &str| {
            let head = format!("# resources/thing_{number}.yaml\nresource: thing_{number}\ntable: things_{number}\n");
            parse(&format!("{head}fields:\n  value: {{ type: {kind}, nullable: true }}\n"))
        };
        let (before, after) = (thing(from), thing(to));
        steps::up(&manager, &Plan::between(&Snapshot::default(), &before)).await.unwrap();
        let plan = Plan::between(&before.kept(), &after);
        let checks: Vec<String> = plan.whole.iter().flat_map(|step| checks(step, dialect)).collect();
        assert_eq!(checks.len(), 1, "{from} to {to}: {checks:?}");
        let found = checks[0].replace("count(*)", "CAST(count(*) AS text)");
        let insert = format!("INSERT INTO things_{number} (value, created_at, updated_at) VALUES");
        database.run(&format!("{insert} (NULL, NOW, NOW)")).await.unwrap();
        assert_eq!(database.text(&found).await, "0", "{found}");
        let value = if database.is_postgres() { on_postgres } else { on_sqlite };
        database.run(&format!("{insert} ({value}, NOW, NOW)")).await.unwrap();
        assert_eq!(database.text(&found).await, "1", "{found}");
        let error = steps::up(&manager, &plan).await.unwrap_err().to_string();
        let expected = format!("the value of things_{number}.value does not fit the new type in 1 row");
        assert!(error.contains(&expected), "{from} to {to}: {error}");
    }
}
