//! Computed columns of existing rows: a new one, a changed expression, and a changed column that it names, by the steps and by
//! the SQL of `--dry-run`.

use charter_codegen::migration::Plan;
use charter_codegen::migration::sql::{Dialect, statements};
use charter_codegen::snapshot::Snapshot;
use charter_codegen::{Sources, snapshot};
use charter_migrations::prelude::*;

use crate::database::{Database, on_both};
use crate::steps;

on_both! {
    existing_rows_get_the_values_of_a_computed_column
}

fn parse(table: &str, fields: &[&str]) -> Snapshot {
    let head = format!("# resources/line.yaml\nresource: line\ntable: {table}\nfields:\n");
    let fields: String = fields.iter().map(|field| format!("  {field}\n")).collect();
    snapshot(Sources::from_example(&format!("{head}{fields}"))).unwrap_or_else(|report| panic!("{}", report.render()))
}

/// Runs a plan by its steps, or by its SQL.
pub async fn apply(database: &Database, plan: &Plan, as_sql: bool) {
    assert!(plan.unsupported.is_empty(), "{:?}", plan.unsupported);
    if !as_sql {
        return steps::up(&SchemaManager::new(&database.connection), plan).await.unwrap();
    }
    let dialect = if database.is_postgres() { Dialect::Postgres } else { Dialect::Sqlite };
    for (steps, online) in [(&plan.whole, false), (&plan.online, true)] {
        for statement in steps.iter().flat_map(|step| statements(step, dialect, online)) {
            database.run(&statement).await.unwrap();
        }
    }
}

const COUNT: &str = "count: { type: integer, nullable: true, max: 1000, min: 0 }";
const PRICE: &str = "price: { type: 'decimal(8, 2)', required: true }";
const DUE: &str = "due_on: { type: date, required: true }";

/// The fields of one state after the other, with the values of the computed column in the rows with the lowest and the
/// highest id.
const STATES: &[(&[&str], [&str; 2])] = &[
    (
        &[COUNT, PRICE, DUE, "total: { type: 'decimal(14, 3)', nullable: true, value: count * price }"],
        ["7.500", "null"],
    ),
    (
        &[COUNT, PRICE, DUE, "total: { type: 'decimal(14, 3)', value: 'coalesce(count, 1) * price' }"],
        ["7.500", "0.100"],
    ),
    (
        // The expression stays, and one of its fields gets values.
        &[
            "count: { type: integer, required: true, backfill: 4, max: 1000, min: 0 }",
            PRICE,
            DUE,
            "total: { type: 'decimal(14, 3)', value: 'coalesce(count, 1) * price' }",
        ],
        ["7.500", "0.400"],
    ),
    (
        &[
            "pieces: { type: integer, required: true, max: 1000, min: 0, renamed_from: count }",
            PRICE,
            DUE,
            "total: { type: text, value: 'if(pieces * price > 1 and due_on + 1 day > date ''2026-01-01'', ''it''''s'', ''?'')' }",
        ],
        ["it's", "?"],
    ),
];

async fn existing_rows_get_the_values_of_a_computed_column(database: Database) {
    for as_sql in [false, true] {
        let table = format!("lines_{as_sql}");
        let mut before = parse(&table, &[COUNT, PRICE, DUE]);
        apply(&database, &Plan::between(&Snapshot::default(), &before), false).await;
        let prices = if database.is_postgres() { ["2.50", "0.10"] } else { ["250", "10"] };
        for (count, price) in ["3", "NULL"].into_iter().zip(prices) {
            let row = format!("({count}, {price}, '2026-03-01', NOW, NOW)");
            database
                .run(&format!("INSERT INTO {table} (count, price, due_on, created_at, updated_at) VALUES {row}"))
                .await
                .unwrap();
        }
        for (fields, expected) in STATES {
            let after = parse(&table, fields);
            apply(&database, &Plan::between(&before, &after), as_sql).await;
            let found =
                database.texts(&format!("SELECT coalesce(CAST(total AS text), 'null') FROM {table} ORDER BY id")).await;
            let stored = |value: &&str| match (database.is_postgres(), value.replace('.', "").parse::<i64>()) {
                (false, Ok(scaled)) => scaled.to_string(),
                _ => (*value).to_owned(),
            };
            assert_eq!(found, expected.iter().map(stored).collect::<Vec<_>>(), "{fields:?}, as SQL: {as_sql}");
            assert!(Plan::between(&after.kept(), &after).is_empty());
            before = after.kept();
        }
    }
}
