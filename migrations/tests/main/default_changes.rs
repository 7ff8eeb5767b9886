//! Existing rows keep their values when the default of a column changes, by the steps and by the SQL of `--dry-run`.

use charter_codegen::migration::Plan;
use charter_codegen::migration::sql::{Dialect, statements};
use charter_codegen::snapshot::Snapshot;
use charter_codegen::{Sources, snapshot};
use charter_migrations::prelude::*;
use sea_orm_migration::sea_orm::ConnectionTrait;

use crate::database::{Database, on_both};
use crate::steps;

on_both! {
    existing_rows_keep_their_values_when_a_default_changes
    undone_not_null_column_gets_a_value_of_its_former_type
    boolean_is_filled_in_a_table_with_columns_named_true_and_false
}

/// The declarations of a field, one after the other, added to a table that contains a row; and the stored value of the row
/// on SQLite and on PostgreSQL.
const DECLARATIONS: &[(&[&str], &str, &str)] = &[
    (&["type: integer, default: 0, backfill: 5"], "5", "5"),
    (&["type: integer, default: 5", "type: integer, default: 7"], "5", "5"),
    (&["type: decimal(9, 2), default: 1.5", "type: decimal(12, 4), default: 1.5"], "15000", "1.5000"),
    (&["type: decimal(9, 2), default: 1.5", "type: decimal(9, 1), default: 2.5"], "15", "1.5"),
    (&["type: integer, default: 2", "type: decimal(9, 2), default: 3"], "200", "2.00"),
    (&["type: string(9), default: old", "type: string(9), required: true"], "old", "old"),
    (&["type: string(9), nullable: true", "type: string(9), nullable: true, default: fresh"], "", ""),
    (&["type: string(9), nullable: true", "type: string(9), default: fresh, backfill: stale"], "stale", "stale"),
    (&["type: string(9), default: old", "type: string(9), nullable: true"], "old", "old"),
    (&["type: boolean, default: true", "type: boolean, default: false"], "1", "true"),
    (&["type: json, nullable: true", "type: json"], "{}", "{}"),
];

const HEAD: &str = "# resources/thing.yaml\nresource: thing\n";

fn parse(yaml: &str) -> Snapshot {
    snapshot(Sources::from_example(yaml)).unwrap_or_else(|report| panic!("{}", report.render()))
}

async fn existing_rows_keep_their_values_when_a_default_changes(database: Database) {
    for (number, (declared, on_sqlite, on_postgres)) in DECLARATIONS.iter().enumerate() {
        for as_sql in [false, true] {
            let table = format!("things_{number}_{as_sql}");
            let thing = |keys: Option<&&str>| {
                let value = keys.map(|keys| format!("  value: {{ {keys} }}\n")).unwrap_or_default();
                parse(&format!("{HEAD}table: {table}\nfields:\n  name: {{ type: string(9), required: true }}\n{value}"))
            };
            let mut before = thing(None);
            apply(&database, &Plan::between(&Snapshot::default(), &before), false).await;
            let insert = format!("INSERT INTO {table} (name, created_at, updated_at) VALUES ('x', NOW, NOW)");
            database.run(&insert).await.unwrap();
            for keys in *declared {
                let after = thing(Some(keys));
                apply(&database, &Plan::between(&before, &after), as_sql).await;
                before = after.kept();
            }
            let expected = if database.is_postgres() { on_postgres } else { on_sqlite };
            let found = database.text(&format!("SELECT coalesce(CAST(value AS text), '') FROM {table}")).await;
            assert_eq!(found, *expected, "{declared:?}, as SQL: {as_sql}");
        }
    }
    if !database.is_postgres() {
        assert_eq!(database.texts("PRAGMA integrity_check").await, ["ok"]);
    }
}

/// A field that is not nullable, its change, and the value of a row without one on both databases after `down`.
const UNDONE_CHANGES: &[(&str, &str, &str, &str)] = &[
    ("type: decimal(9, 2), default: 1.5", "type: integer, nullable: true", "150", "1.50"),
    ("type: decimal(12, 4), default: 0.1234", "type: decimal(9, 2), nullable: true", "1234", "0.1234"),
    ("type: string(80), default: many letters", "type: string(9), nullable: true", "many letters", "many letters"),
    ("type: enum, values: [a], required: true", "type: text, nullable: true", "", ""),
];

async fn undone_not_null_column_gets_a_value_of_its_former_type(database: Database) {
    let manager = SchemaManager::new(&database.connection);
    for (number, (then, now, on_sqlite, on_postgres)) in UNDONE_CHANGES.iter().enumerate() {
        let table = format!("things_{number}");
        let thing = |keys: &str| parse(&format!("{HEAD}table: {table}\nfields:\n  value: {{ {keys} }}\n"));
        let (before, after) = (thing(then), thing(now));
        apply(&database, &Plan::between(&Snapshot::default(), &before), false).await;
        let tables = database.tables().await;
        let plan = Plan::between(&before.kept(), &after);
        apply(&database, &plan, false).await;
        database.run(&format!("INSERT INTO {table} (created_at, updated_at) VALUES (NOW, NOW)")).await.unwrap();
        steps::down(&manager, &plan).await.unwrap();
        assert_eq!(database.tables().await, tables, "{then}");
        let expected = if database.is_postgres() { on_postgres } else { on_sqlite };
        assert_eq!(database.text(&format!("SELECT CAST(value AS text) FROM {table}")).await, *expected, "{then}");
    }
}

/// SQLite resolves TRUE to the column of that name.
async fn boolean_is_filled_in_a_table_with_columns_named_true_and_false(database: Database) {
    for as_sql in [false, true] {
        let table = format!("things_{as_sql}");
        let thing = |more: &str| {
            let fields = ["true", "false"].map(|name| format!("  \"{name}\": {{ type: integer, nullable: true }}\n"));
            parse(&format!("{HEAD}table: {table}\nfields:\n{}{more}", fields.concat()))
        };
        let (before, after) = (thing(""), thing("  a: { type: boolean, backfill: true, nullable: true }\n"));
        apply(&database, &Plan::between(&Snapshot::default(), &before), false).await;
        let insert = "(\"true\", \"false\", created_at, updated_at) VALUES (7, 8, NOW, NOW)";
        database.run(&format!("INSERT INTO {table} {insert}")).await.unwrap();
        apply(&database, &Plan::between(&before, &after), as_sql).await;
        let expected = if database.is_postgres() { "true" } else { "1" };
        assert_eq!(database.text(&format!("SELECT CAST(a AS text) FROM {table}")).await, expected, "as SQL: {as_sql}");
    }
}

/// Runs the steps of a plan, or the SQL of `--dry-run`.
async fn apply(database: &Database, plan: &Plan, as_sql: bool) {
    assert!(plan.unsupported.is_empty(), "{:?}", plan.unsupported);
    if !as_sql {
        return steps::up(&SchemaManager::new(&database.connection), plan).await.unwrap();
    }
    let dialect = if database.is_postgres() { Dialect::Postgres } else { Dialect::Sqlite };
    for statement in plan.whole.iter().chain(&plan.online).flat_map(|step| statements(step, dialect, false)) {
        let done = database.connection.execute_unprepared(&statement).await;
        done.unwrap_or_else(|problem| panic!("{statement}: {problem}"));
    }
}
