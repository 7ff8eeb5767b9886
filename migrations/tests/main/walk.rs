//! Random walk: after every change of a random model, the generated migration creates the same tables as a migration from
//! an empty database, changes no value that was not declared to change, and can be undone.
//!
//! `WALK=300 cargo test -p charter-migrations walk` runs 300 migrations; `WALK_SEED` sets the seed.

use std::time::{Duration, Instant};

use charter_codegen::migration::checks::checks;
use charter_codegen::migration::sql::{Dialect, statements};
use charter_codegen::migration::table::{Column, IndexKind, Table};
use charter_codegen::migration::{Plan, Step};
use charter_codegen::schema_diff::{fields, resources};
use charter_codegen::snapshot::{Kind, Snapshot};
use charter_codegen::{Sources, snapshot};
use charter_migrations::prelude::*;
use charter_model::Storage;
use sea_orm_migration::sea_orm::ConnectionTrait;

use crate::database::Database;
use crate::model::{Dice, Model};
use crate::rows::{AppliedMigration, compare, insert, values};
use crate::{server_objects, steps};

/// The length of a default run, and its time limit on a slow machine.
const DEFAULT_MIGRATIONS: usize = 40;
const TIME_LIMIT: Duration = Duration::from_secs(20);

#[tokio::test]
async fn random_migrations_create_the_tables_of_the_model_on_sqlite() {
    walk([Database::sqlite().await, Database::sqlite().await, Database::sqlite().await]).await;
}

charter_testing::needs_postgres! {
    #[tokio::test]
    async fn random_migrations_create_the_tables_of_the_model_on_postgres() {
        walk([Database::postgres().await, Database::postgres().await, Database::postgres().await]).await;
    }
}

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}

/// `walked` is migrated with rows, `fresh` is created from nothing each time, and `dry_run` is migrated by the SQL of
/// `--dry-run`.
async fn walk([walked, fresh, dry_run]: [Database; 3]) {
    let (requested, seed) = (number("WALK"), number("WALK_SEED").unwrap_or(1));
    let (length, start) = (requested.unwrap_or(DEFAULT_MIGRATIONS), Instant::now());
    for database in [&walked, &fresh, &dry_run] {
        let manager = SchemaManager::new(&database.connection);
        // `charter_fold`, which indexes depend on, and `users`, which fields reference.
        let needed = |name: &str| name.ends_with("_text_search") || name.ends_with("_users");
        for migration in charter_migrations::platform().into_iter().filter(|migration| needed(migration.name())) {
            migration.up(&manager).await.unwrap();
        }
        database.insert_user("a@example.com").await.unwrap();
    }
    let mut dice = Dice::new(seed as u64);
    let mut model = Model::default();
    let mut before = Snapshot::default();
    let mut step = 0;
    while step < length && (requested.is_some() || start.elapsed() < TIME_LIMIT) {
        let mut next = model.clone();
        let what = format!("seed {seed}, migration {}: {}", step + 1, next.change(&mut dice));
        let after = parse(&next.yaml());
        let plan = Plan::between(&before, &after);
        let is_circle = |message: &str| message.contains("rename them in two migrations");
        if next.reuses_a_name() || plan.unsupported.iter().any(|refusal| is_circle(&refusal.message)) {
            // The plan rejects this change, so the walk skips it.
            assert!(!plan.unsupported.is_empty(), "{what}\n{plan:#?}");
            continue;
        }
        step += 1;
        assert!(plan.unsupported.is_empty(), "{what}: {:?}\n{}", plan.unsupported, next.yaml());
        set_valid_references(&walked, &before, &after).await;
        check(&walked, &plan, &before, &after, &what).await;

        recreate(&fresh, &after).await;
        let expected = fresh.tables().await;
        assert_same(&walked.tables().await, &expected, &what, &plan);
        apply_dry_run(&dry_run, &plan, &what).await;
        assert_same(&dry_run.tables().await, &expected, &format!("as SQL, {what}"), &plan);

        insert(&walked, &after, step, &what).await;
        // The next migration starts from the snapshot as it is stored in files.
        (before, model) = (after.kept(), next);
    }
}

fn parse(yaml: &str) -> Snapshot {
    snapshot(Sources::from_example(yaml)).unwrap_or_else(|report| panic!("{}\n{yaml}", report.render()))
}

/// Runs a migration up, down and up again, and compares rows and tables after each.
async fn check(database: &Database, plan: &Plan, before: &Snapshot, after: &Snapshot, what: &str) {
    let manager = SchemaManager::new(&database.connection);
    let fail = |direction: &str, error: DbErr| -> ! { panic!("{what}, {direction}: {error}\n{plan:#?}") };
    let (tables, rows) = (database.tables().await, values(database, before).await);
    server_objects::create(database, before).await;
    steps::up(&manager, plan).await.unwrap_or_else(|error| fail("up", error));
    let migration = AppliedMigration { database, plan, before, after, what };
    compare(&migration, &rows, &values(database, after).await);
    match steps::down(&manager, plan).await {
        Ok(()) => {
            let restored = server_objects::without_server_objects(database.tables().await);
            assert_same(&restored, &tables, &format!("down again, {what}"), plan);
            let back = values(database, before).await;
            let removed = removed_by(plan);
            for (place, value) in &rows {
                // A removed column and a dropped table are recreated empty.
                let lost = removed.iter().any(|(table, column)| {
                    place.0 == *table && column.as_ref().is_none_or(|column| place.1 == *column)
                });
                assert!(lost || back.get(place) == Some(value) || value.is_none(), "{place:?} after down, {what}");
            }
            steps::up(&manager, plan).await.unwrap_or_else(|error| fail("up again", error));
            compare(&migration, &back, &values(database, after).await);
        }
        // A required reference and a unique value cannot be invented. Only the online steps were undone.
        Err(error) => {
            assert!(is_irreversible(plan, before), "{what}, down: {error}\n{plan:#?}");
            steps::online(&manager, plan).await.unwrap_or_else(|error| fail("up again online", error));
            compare(&migration, &rows, &values(database, after).await);
        }
    }
    server_objects::drop_all(database).await;
    if !database.is_postgres() {
        assert_eq!(database.texts("PRAGMA integrity_check").await, ["ok"], "{what}\n{plan:#?}");
        assert_eq!(database.texts("PRAGMA foreign_key_check").await, Vec::<String>::new(), "{what}\n{plan:#?}");
    }
}

/// Returns true if `down` cannot restore valid values: a required foreign key or unique column was removed, a dropped table
/// is still referenced by ids, or a column contains values that only its new type can hold.
fn is_irreversible(plan: &Plan, before: &Snapshot) -> bool {
    let is_decimal = |column: &Column| matches!(column.storage, Storage::Decimal(..));
    let is_dropped = |name: &str| plan.whole.iter().any(|step| matches!(step, Step::Drop(table) if table.name == name));
    plan.whole.iter().any(|step| {
        let (table, column) = match step {
            Step::Remove { table, column } => (table, column),
            Step::Change { from, to, .. } => {
                // The ids are kept and reference nothing, or rows were filled with a fraction.
                let former = from.reference.as_ref().filter(|_| to.reference.is_none());
                let fills = |step: &Step| matches!(step, Step::Fill { column, .. } if column.name == to.name);
                let is_half = !is_decimal(from) && is_decimal(to) && plan.online.iter().any(fills);
                return is_half || former.is_some_and(|reference| is_dropped(&reference.table));
            }
            _ => return false,
        };
        let tables = before.resources.values().map(|resource| Table::of(before, resource));
        let is_unique = tables
            .filter(|one| one.name == *table)
            .flat_map(|one| one.indexes)
            .any(|index| index.kind == IndexKind::Unique && index.columns.contains(&column.name));
        !column.nullable && (column.reference.is_some() || is_unique)
    })
}

/// Sets numbers that become foreign keys to the id of a record, because the migration rejects others.
async fn set_valid_references(database: &Database, before: &Snapshot, after: &Snapshot) {
    for pair in resources(before, after) {
        let (Some(old), Some(new)) = (pair.before, pair.after) else { continue };
        for field in fields(&old.fields, &new.fields) {
            let (Some(from), Some(to)) = (field.before, field.after) else { continue };
            let (Kind::BigInt, Kind::Ref { resource: target }) = (&from.kind, &to.kind) else { continue };
            let former = after.resources.get(target).and_then(|target| target.renamed_from.as_ref()).unwrap_or(target);
            let id = format!("(SELECT max(id) FROM \"{}\")", before.table_of(former));
            database.run(&format!("UPDATE \"{}\" SET \"{}\" = {id}", old.table, from.name)).await.unwrap();
        }
    }
}

/// Compares tables, and reports the differences of both sides.
fn assert_same(found: &[String], expected: &[String], what: &str, plan: &Plan) {
    let only_in = |these: &[String], those: &[String]| -> Vec<String> {
        these.iter().filter(|line| !those.contains(line)).cloned().collect()
    };
    let (extra, missing) = (only_in(found, expected), only_in(expected, found));
    assert!(found == expected, "{what}\nextra: {extra:#?}\nmissing: {missing:#?}\n{plan:#?}");
}

/// The tables and columns that a migration removes, by their former names.
fn removed_by(plan: &Plan) -> Vec<(String, Option<String>)> {
    // `deleted_at` is removed last, from a table that may have been renamed by then.
    let former_name = |name: &String| {
        let renamed = plan.whole.iter().find_map(|step| match step {
            Step::RenameTable { from, to, .. } if to == name => Some(from),
            _ => None,
        });
        renamed.unwrap_or(name).clone()
    };
    let removed = plan.whole.iter().filter_map(|step| match step {
        Step::Drop(table) => Some((table.name.clone(), None)),
        Step::Remove { table, column } if column.name == "deleted_at" => {
            Some((former_name(table), Some(column.name.clone())))
        }
        Step::Remove { table, column } => Some((table.clone(), Some(column.name.clone()))),
        _ => None,
    });
    removed.collect()
}

/// Drops all tables and creates those of a snapshot.
async fn recreate(database: &Database, snapshot: &Snapshot) {
    let drop = if database.is_postgres() { " CASCADE" } else { "" };
    database.run_ignoring_errors("PRAGMA foreign_keys = OFF").await;
    for line in database.tables().await {
        if let Some(name) = line.strip_prefix("table ").filter(|name| *name != "users") {
            database.run(&format!("DROP TABLE \"{name}\"{drop}")).await.unwrap();
        }
    }
    database.run_ignoring_errors("PRAGMA foreign_keys = ON").await;
    let plan = Plan::between(&Snapshot::default(), snapshot);
    steps::up(&SchemaManager::new(&database.connection), &plan).await.unwrap();
}

/// Runs the SQL that `--dry-run` prints for a plan, on empty tables.
async fn apply_dry_run(database: &Database, plan: &Plan, what: &str) {
    let dialect = if database.is_postgres() { Dialect::Postgres } else { Dialect::Sqlite };
    for (steps, online) in [(&plan.whole, false), (&plan.online, true)] {
        for step in steps {
            for check in checks(step, dialect) {
                assert_eq!(
                    database.text(&check.replacen("count(*)", "CAST(count(*) AS text)", 1)).await,
                    "0",
                    "{what}"
                );
            }
            for statement in statements(step, dialect, online) {
                let done = database.connection.execute_unprepared(&statement).await;
                done.unwrap_or_else(|problem| panic!("{what}\n{statement}: {problem}"));
            }
        }
    }
}
