//! A random walk: after every migration of a model, what is written for it gives the tables that would be made from
//! nothing, loses and changes nothing that was not declared, and can be undone.
//!
//! `WALK=300 cargo test -p charter-migrations walk` walks further; `WALK_SEED` begins elsewhere.

use std::time::{Duration, Instant};

use charter_codegen::diff::{fields, resources};
use charter_codegen::migration::checks::checks;
use charter_codegen::migration::sql::{Dialect, statements};
use charter_codegen::migration::table::{Column, ColumnKind, IndexKind, Table};
use charter_codegen::migration::{Plan, Step};
use charter_codegen::snapshot::{Kind, Snapshot};
use charter_codegen::{Sources, snapshot};
use charter_migrations::prelude::*;
use sea_orm_migration::sea_orm::ConnectionTrait;

use crate::database::Database;
use crate::model::{Dice, Model};
use crate::rows::{Way, compare, insert, values};
use crate::{kept, steps};

/// The migrations of a walk that every run of the tests takes, and after how long it stops where the machine is slow.
const SHORT: usize = 40;
const LONGEST: Duration = Duration::from_secs(20);

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

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}

/// `walked` is migrated with rows in it, `fresh` made from nothing each time, and `shown` migrated by the SQL that
/// `--dry-run` prints.
async fn walk([walked, fresh, shown]: [Database; 3]) {
    let (asked, seed) = (number("WALK"), number("WALK_SEED").unwrap_or(1));
    let (length, begun) = (asked.unwrap_or(SHORT), Instant::now());
    for database in [&walked, &fresh, &shown] {
        let manager = SchemaManager::new(&database.connection);
        // What folds text on PostgreSQL, on which indexes stand, and somebody to refer to.
        for migration in charter_migrations::platform().into_iter().take(2) {
            migration.up(&manager).await.unwrap();
        }
        database.user("a@example.com").await.unwrap();
    }
    let mut dice = Dice::new(seed as u64);
    let mut model = Model::default();
    let mut before = Snapshot::default();
    let mut step = 0;
    while step < length && (asked.is_some() || begun.elapsed() < LONGEST) {
        let mut next = model.clone();
        let what = format!("seed {seed}, migration {}: {}", step + 1, next.change(&mut dice));
        let after = taken(&next.yaml());
        let plan = Plan::between(&before, &after);
        let is_circle = |message: &str| message.contains("rename them in two migrations");
        if next.takes_a_name() || plan.refused.iter().any(|refusal| is_circle(&refusal.message)) {
            // What is refused is left out.
            assert!(!plan.refused.is_empty(), "{what}\n{plan:#?}");
            continue;
        }
        step += 1;
        assert!(plan.refused.is_empty(), "{what}: {:?}\n{}", plan.refused, next.yaml());
        refer(&walked, &before, &after).await;
        check(&walked, &plan, &before, &after, &what).await;

        make_anew(&fresh, &after).await;
        let wanted = fresh.tables().await;
        same(&walked.tables().await, &wanted, &what, &plan);
        show(&shown, &plan, &what).await;
        same(&shown.tables().await, &wanted, &format!("as SQL, {what}"), &plan);

        insert(&walked, &after, step, &what).await;
        // What is kept in files is what the next migration starts from.
        (before, model) = (after.kept(), next);
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
    kept::keep(database, before).await;
    steps::up(&manager, plan).await.unwrap_or_else(|problem| stop("up", problem));
    let way = Way { database, plan, before, after, what };
    compare(&way, &rows, &values(database, after).await);
    match steps::down(&manager, plan).await {
        Ok(()) => {
            same(&kept::without(database.tables().await), &tables, &format!("down again, {what}"), plan);
            let back = values(database, before).await;
            let again = after_undo(plan);
            for (place, value) in &rows {
                // A removed column and a dropped table come back empty.
                let lost = again.iter().any(|(table, column)| {
                    place.0 == *table && column.as_ref().is_none_or(|column| place.1 == *column)
                });
                assert!(lost || back.get(place) == Some(value) || value.is_none(), "{place:?} after down, {what}");
            }
            steps::up(&manager, plan).await.unwrap_or_else(|problem| stop("up again", problem));
            compare(&way, &back, &values(database, after).await);
        }
        // Nothing can stand in for a record or for what no two rows share, and nothing was undone that is not online.
        Err(problem) => {
            assert!(cannot_come_back(plan, before), "{what}, down: {problem}\n{plan:#?}");
            steps::online(&manager, plan).await.unwrap_or_else(|problem| stop("up again online", problem));
            compare(&way, &rows, &values(database, after).await);
        }
    }
    kept::clear(database).await;
    if !database.is_postgres() {
        // Every row is in every index, and every reference leads somewhere.
        assert_eq!(database.texts("PRAGMA integrity_check").await, ["ok"], "{what}\n{plan:#?}");
        assert_eq!(database.texts("PRAGMA foreign_key_check").await, Vec::<String>::new(), "{what}\n{plan:#?}");
    }
}

/// Whether a column goes of which each row had a value that is not known any more: a record, or one of its own. Or the
/// records go that a number still names, or a number got what only the new type can hold.
fn cannot_come_back(plan: &Plan, before: &Snapshot) -> bool {
    let is_decimal = |column: &Column| matches!(column.kind, ColumnKind::Decimal(..));
    let goes = |name: &str| plan.whole.iter().any(|step| matches!(step, Step::Drop(table) if table.name == name));
    plan.whole.iter().any(|step| {
        let (table, column) = match step {
            Step::Remove { table, column } => (table, column),
            Step::Change { from, to, .. } => {
                // The ids stay, and lead nowhere; or rows without a value were given a half.
                let leads = from.reference.as_ref().filter(|_| to.reference.is_none());
                let fills = |step: &Step| matches!(step, Step::Fill { column, .. } if column.name == to.name);
                let is_half = !is_decimal(from) && is_decimal(to) && plan.online.iter().any(fills);
                return is_half || leads.is_some_and(|reference| goes(&reference.table));
            }
            _ => return false,
        };
        let tables = before.resources.values().map(|resource| Table::of(before, resource));
        let is_own = tables
            .filter(|one| one.name == *table)
            .flat_map(|one| one.indexes)
            .any(|index| index.kind == IndexKind::Unique && index.columns.contains(&column.name));
        !column.nullable && (column.reference.is_some() || is_own)
    })
}

/// Numbers that are to refer lead to records: one that does not stops a migration.
async fn refer(database: &Database, before: &Snapshot, after: &Snapshot) {
    for pair in resources(before, after) {
        let (Some(old), Some(new)) = (pair.before, pair.after) else { continue };
        for field in fields(&old.fields, &new.fields) {
            let (Some(from), Some(to)) = (field.before, field.after) else { continue };
            let (Kind::BigInt, Kind::Ref(target)) = (&from.kind, &to.kind) else { continue };
            let former = after.resources.get(target).and_then(|target| target.renamed_from.as_ref()).unwrap_or(target);
            let leads = format!("(SELECT max(id) FROM \"{}\")", before.table_of(former));
            database.run(&format!("UPDATE \"{}\" SET \"{}\" = {leads}", old.table, from.name)).await.unwrap();
        }
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

/// What a migration removes, by table, or by table and column, as they were called before.
fn after_undo(plan: &Plan) -> Vec<(String, Option<String>)> {
    // Marks of deleted records go last, from a table that may be called otherwise by then.
    let former = |name: &String| {
        let renamed = plan.whole.iter().find_map(|step| match step {
            Step::RenameTable { from, to, .. } if to == name => Some(from),
            _ => None,
        });
        renamed.unwrap_or(name).clone()
    };
    let removed = plan.whole.iter().filter_map(|step| match step {
        Step::Drop(table) => Some((table.name.clone(), None)),
        Step::Remove { table, column } if column.name == "deleted_at" => {
            Some((former(table), Some(column.name.clone())))
        }
        Step::Remove { table, column } => Some((table.clone(), Some(column.name.clone()))),
        _ => None,
    });
    removed.collect()
}

/// Every table of a snapshot, made from nothing.
async fn make_anew(database: &Database, snapshot: &Snapshot) {
    let drop = if database.is_postgres() { " CASCADE" } else { "" };
    database.run_quietly("PRAGMA foreign_keys = OFF").await;
    for line in database.tables().await {
        if let Some(name) = line.strip_prefix("table ").filter(|name| *name != "users") {
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
