//! A random walk: after every change to a model, the migration that is written for it gives the tables that would be
//! made from nothing, loses nothing that was not declared, and can be undone.
//!
//! `WALK=300 cargo test -p charter-migrations walk` walks further; `WALK_SEED` begins elsewhere.

use std::collections::BTreeMap;

use charter_codegen::diff::{fields, resources};
use charter_codegen::migration::checks::checks;
use charter_codegen::migration::sql::{Dialect, statements};
use charter_codegen::migration::table::{Column, ColumnKind, Table};
use charter_codegen::migration::{Plan, Step};
use charter_codegen::snapshot::Snapshot;
use charter_codegen::{Sources, snapshot};
use charter_migrations::prelude::*;
use sea_orm_migration::sea_orm::ConnectionTrait;

use crate::database::Database;
use crate::model::{Dice, Model};
use crate::steps;

/// The changes of a walk that every run of the tests takes.
const SHORT: usize = 25;
/// The most rows that the walk puts into a table.
const ROWS: usize = 4;

#[tokio::test]
async fn each_written_migration_leads_to_the_tables_of_the_model_on_sqlite() {
    walk([Database::sqlite().await, Database::sqlite().await, Database::sqlite().await]).await;
}

#[tokio::test]
async fn each_written_migration_leads_to_the_tables_of_the_model_on_postgres() {
    let (Some(walked), Some(fresh), Some(shown)) =
        (Database::postgres().await, Database::postgres().await, Database::postgres().await)
    else {
        return;
    };
    walk([walked, fresh, shown]).await;
}

fn number(variable: &str, otherwise: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// `walked` is migrated with rows in it, `fresh` made from nothing each time, and `shown` migrated by the SQL that
/// `--dry-run` prints.
async fn walk([walked, fresh, shown]: [Database; 3]) {
    let (length, seed) = (number("WALK", SHORT), number("WALK_SEED", 1));
    for database in [&walked, &fresh, &shown] {
        // What folds text on PostgreSQL, on which indexes stand.
        let platform = charter_migrations::platform().remove(0);
        platform.up(&SchemaManager::new(&database.connection)).await.unwrap();
    }
    let mut dice = Dice::new(seed as u64);
    let mut model = Model::default();
    let mut before = Snapshot::default();
    for step in 1..=length {
        let what = format!("seed {seed}, change {step}: {}", model.change(&mut dice));
        let after = taken(&model.yaml());
        let plan = Plan::between(&before, &after);
        assert!(plan.refused.is_empty(), "{what}: {:?}\n{}", plan.refused, model.yaml());
        check(&walked, &plan, &before, &after, &what).await;

        make_anew(&fresh, &after).await;
        let wanted = fresh.tables().await;
        same(&walked.tables().await, &wanted, &what, &plan);
        show(&shown, &plan, &what).await;
        same(&shown.tables().await, &wanted, &format!("as SQL, {what}"), &plan);

        insert(&walked, &after, step).await;
        // What is kept in files is what the next migration starts from.
        before = after.kept();
    }
}

fn taken(yaml: &str) -> Snapshot {
    snapshot(Sources::from_example(yaml)).unwrap_or_else(|report| panic!("{}\n{yaml}", report.render()))
}

/// Up, down and up again, looking at the rows and the tables in between.
async fn check(database: &Database, plan: &Plan, before: &Snapshot, after: &Snapshot, what: &str) {
    let manager = SchemaManager::new(&database.connection);
    let stop = |way: &str, problem: DbErr| -> ! { panic!("{what}, {way}: {problem}\n{plan:#?}") };
    let (tables, rows) = (database.tables().await, values(database, before).await);
    steps::up(&manager, plan).await.unwrap_or_else(|problem| stop("up", problem));
    compare(before, after, plan, &rows, &values(database, after).await, what);
    steps::down(&manager, plan).await.unwrap_or_else(|problem| stop("down", problem));
    same(&database.tables().await, &tables, &format!("down again, {what}"), plan);
    let back = values(database, before).await;
    let again = after_undo(plan);
    for (place, value) in &rows {
        // A removed column and a dropped table come back empty.
        let lost = again
            .iter()
            .any(|(table, column)| place.0 == *table && column.as_ref().is_none_or(|column| place.1 == *column));
        assert!(lost || back.get(place) == Some(value) || value.is_none(), "{place:?} after down, {what}");
    }
    steps::up(&manager, plan).await.unwrap_or_else(|problem| stop("up again", problem));
    if !database.is_postgres() {
        // Every row is in every index, and every reference leads somewhere.
        assert_eq!(database.texts("PRAGMA integrity_check").await, ["ok"], "{what}\n{plan:#?}");
        assert_eq!(database.texts("PRAGMA foreign_key_check").await, Vec::<String>::new(), "{what}\n{plan:#?}");
    }
}

/// Compares tables, and tells what one side alone has.
fn same(found: &[String], wanted: &[String], what: &str, plan: &Plan) {
    let lacking = |these: &[String], those: &[String]| -> Vec<String> {
        these.iter().filter(|line| !those.contains(line)).cloned().collect()
    };
    let (more, less) = (lacking(found, wanted), lacking(wanted, found));
    assert!(found == wanted, "{what}\nfound only: {more:#?}\nwanted only: {less:#?}\n{plan:#?}");
}

/// What a migration removes, by table, or by table and column.
fn after_undo(plan: &Plan) -> Vec<(String, Option<String>)> {
    let removed = plan.whole.iter().filter_map(|step| match step {
        Step::Drop(table) => Some((table.name.clone(), None)),
        Step::Remove { table, column } => Some((table.clone(), Some(column.name.clone()))),
        _ => None,
    });
    removed.collect()
}

/// The values of all columns, by table, column and id; numbers in one form, whatever their type.
type Values = BTreeMap<(String, String, i64), Option<String>>;

async fn values(database: &Database, snapshot: &Snapshot) -> Values {
    let mut found = Values::new();
    for resource in snapshot.resources.values() {
        let table = Table::of(snapshot, resource);
        for column in &table.columns {
            let text = as_text(column, database.is_postgres());
            let query = format!("SELECT id || '|' || coalesce('=' || {text}, '') FROM \"{}\"", table.name);
            for line in database.texts(&query).await {
                let (id, value) = line.split_once('|').unwrap();
                let place = (table.name.clone(), column.name.clone(), id.parse().unwrap());
                found.insert(place, value.strip_prefix('=').map(str::to_owned));
            }
        }
    }
    found
}

fn as_text(column: &Column, postgres: bool) -> String {
    let name = format!("\"{}\"", column.name);
    let unit = match column.kind {
        ColumnKind::Decimal(_, places) => 10i64.pow(places.into()),
        ColumnKind::Id | ColumnKind::Integer | ColumnKind::BigInt => 1,
        ColumnKind::Uuid if !postgres => return format!("hex({name})"),
        _ => return format!("CAST({name} AS text)"),
    };
    match postgres {
        true => format!("round({name}::numeric, 4)::text"),
        // Null stays null, which printf would make a 0.
        false => format!("CASE WHEN {name} IS NOT NULL THEN printf('%.4f', {name} / {unit}.0) END"),
    }
}

/// Every value of a column that goes on is what it was.
fn compare(before: &Snapshot, after: &Snapshot, plan: &Plan, then: &Values, now: &Values, what: &str) {
    let removed: Vec<(&str, &str)> = plan
        .whole
        .iter()
        .filter_map(|step| match step {
            Step::Remove { table, column } => Some((table.as_str(), column.name.as_str())),
            _ => None,
        })
        .collect();
    for pair in resources(before, after) {
        let (Some(old), Some(new)) = (pair.before, pair.after) else { continue };
        for field in fields(&old.fields, &new.fields) {
            let (Some(from), Some(to)) = (field.before, field.after) else { continue };
            if removed.contains(&(old.table.as_str(), from.name.as_str())) {
                continue;
            }
            let is_it = |(table, column, _): &&(String, String, i64)| *table == old.table && *column == from.name;
            for place in then.keys().filter(is_it) {
                let arrived = now.get(&(new.table.clone(), to.name.clone(), place.2));
                let value = &then[place];
                assert!(
                    arrived == Some(value) || value.is_none() && arrived.is_some(),
                    "{place:?} is {arrived:?}, {what}"
                );
            }
        }
    }
}

/// Every table of a snapshot, made from nothing.
async fn make_anew(database: &Database, snapshot: &Snapshot) {
    let drop = if database.is_postgres() { " CASCADE" } else { "" };
    database.run_quietly("PRAGMA foreign_keys = OFF").await;
    for line in database.tables().await {
        if let Some(name) = line.strip_prefix("table ") {
            database.run(&format!("DROP TABLE \"{name}\"{drop}")).await.unwrap();
        }
    }
    database.run_quietly("PRAGMA foreign_keys = ON").await;
    let plan = Plan::between(&Snapshot::default(), snapshot);
    steps::up(&SchemaManager::new(&database.connection), &plan).await.unwrap();
}

/// Takes a plan by the SQL that is shown for it, on tables without rows.
async fn show(database: &Database, plan: &Plan, what: &str) {
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

/// One row more in each table that has room, with values that no other row of it has.
async fn insert(database: &Database, snapshot: &Snapshot, step: usize) {
    for resource in snapshot.resources.values() {
        let table = Table::of(snapshot, resource);
        let count: usize =
            database.text(&format!("SELECT CAST(count(*) AS text) FROM \"{}\"", table.name)).await.parse().unwrap();
        let columns: Vec<&Column> = table.columns.iter().filter(|column| column.name != "id").collect();
        let names: Vec<String> = columns.iter().map(|column| format!("\"{}\"", column.name)).collect();
        let values: Vec<String> = columns.iter().map(|column| literal(column, step, database.is_postgres())).collect();
        if count < ROWS {
            let (names, values) = (names.join(", "), values.join(", "));
            database.run(&format!("INSERT INTO \"{}\" ({names}) VALUES ({values})", table.name)).await.unwrap();
        }
    }
}

fn literal(column: &Column, step: usize, postgres: bool) -> String {
    if let Some(reference) = &column.reference {
        return format!("(SELECT max(id) FROM \"{}\")", reference.table);
    }
    match &column.kind {
        _ if column.name == "deleted_at" => "NULL".to_owned(),
        _ if column.nullable && step.is_multiple_of(3) => "NULL".to_owned(),
        ColumnKind::String(_) | ColumnKind::Text | ColumnKind::Word => format!("'it''s {step} ä'"),
        ColumnKind::Boolean => ["TRUE", "FALSE"][step % 2].to_owned(),
        // Whole, so that one with other places or none can hold it.
        ColumnKind::Decimal(_, places) if !postgres => format!("{step} * {}", 10i64.pow((*places).into())),
        ColumnKind::Timestamp => format!("'{}T10:00:00+00:00'", day(step)),
        ColumnKind::Date => format!("'{}'", day(step)),
        ColumnKind::Uuid if postgres => format!("'00000000-0000-0000-0000-{step:012}'"),
        ColumnKind::Uuid => format!("X'{step:032}'"),
        ColumnKind::Json => format!("'{{\"step\": {step}}}'"),
        ColumnKind::List => format!("'[\"{step}\"]'"),
        _ => step.to_string(),
    }
}

/// A day of its own for each step.
fn day(step: usize) -> String {
    format!("{}-{:02}-{:02}", 2000 + step / 300, 1 + step / 25 % 12, 1 + step % 25)
}
