//! Random expressions over random rows: SQLite, PostgreSQL and Rust give the same values.

mod columns;
mod formula;
mod random;

use charter_runtime::db::Sql;
use charter_runtime::expression::{self, Field, Node, Request};
use charter_runtime::meta::FieldMeta;
use charter_runtime::principal::Principal;
use charter_runtime::query::RowExpression;
use chrono_tz::Tz;
use sea_orm::Value;

use crate::support::{Server, on_both};
use columns::{Column, Rows};
use formula::Formula;
use random::Random;

on_both!(expression_has_one_value_in_the_database_and_in_rust);

const SCHEMAS: u64 = 20;
const EXPRESSIONS_OF_A_SCHEMA: usize = 10;
const ROWS: usize = 1_000;

/// The same expressions and rows on both databases, so that all three agree. `CHARTER_TEST_SEED` chooses others.
async fn expression_has_one_value_in_the_database_and_in_rust(server: Server) {
    let seed = std::env::var("CHARTER_TEST_SEED").map_or(1, |seed| seed.parse().expect("the seed is a number"));
    let caller = Principal { user_id: Some(3), permissions: ["tickets.all".to_owned()].into(), ..Principal::default() };
    let now = "2026-02-28T23:30:00.250Z".parse().expect("a time");
    let request = Request { caller: &caller, now, zone: Tz::Europe__Berlin };
    for number in 0..SCHEMAS {
        let mut random = Random::new(seed * SCHEMAS + number);
        let rows = Rows::create(&server, &format!("expression_{number}"), &mut random, ROWS).await;
        let mut tried = 0;
        while tried < EXPRESSIONS_OF_A_SCHEMA {
            let formula = Formula::any(&mut random, rows.columns(), 4);
            // The checker refuses numbers that can be too large.
            let Some((node, kind)) = rows.check(&formula.text()) else { continue };
            tried += 1;
            if let Some(row) = first_difference(&server, &rows, &node, &kind, &request).await {
                panic!("seed {seed}, schema {number}:\n{}", smallest(&server, &rows, &formula, row, &request).await);
            }
        }
    }
}

/// The first row for which the database and Rust differ.
async fn first_difference(
    server: &Server,
    rows: &Rows,
    node: &Node,
    kind: &expression::Type,
    request: &Request<'_>,
) -> Option<usize> {
    let found = in_database(server, rows, node, kind, request).await;
    assert_eq!(found.len(), ROWS);
    (0..ROWS).find(|row| found[*row] != in_rust(rows, node, *row, request))
}

/// The value of each row as text, in the order of the rows.
async fn in_database(
    server: &Server,
    rows: &Rows,
    node: &Node,
    kind: &expression::Type,
    request: &Request<'_>,
) -> Vec<Option<String>> {
    let dialect = server.state.db.dialect();
    let mut sql = Sql::new(dialect, "SELECT ");
    let (before, after) = columns::as_text(dialect, kind);
    sql.push(&before);
    RowExpression::new("", node, dialect, request, &|_| None).write(&mut sql, "t");
    sql.push(&after).push(" FROM ").name(rows.table()).push(" AS t ORDER BY t.\"id\"");
    let text = sql.text.clone();
    let found = sql.all(server.state.db.reader()).await.unwrap_or_else(|error| panic!("{text}: {error:?}"));
    found.iter().map(|row| row.try_get_by_index(0).unwrap_or_else(|error| panic!("{text}: {error:?}"))).collect()
}

fn in_rust(rows: &Rows, node: &Node, row: usize, request: &Request<'_>) -> Option<String> {
    let current = |field: &Field| Ok(rows.value(row, &field.name));
    expression::value(node, request, &current).expect("a row is readable").map(|value| columns::text(&value))
}

/// The smallest part of the formula that still differs, with the values that it needs and the two results.
async fn smallest(server: &Server, rows: &Rows, formula: &Formula, row: usize, request: &Request<'_>) -> String {
    let (mut formula, mut row) = (formula.clone(), row);
    'smaller: loop {
        for part in formula.parts() {
            let Some((node, kind)) = rows.check(&part.text()) else { continue };
            if let Some(at) = first_difference(server, rows, &node, &kind, request).await {
                (formula, row) = (part.clone(), at);
                continue 'smaller;
            }
        }
        break;
    }
    let (node, kind) = rows.check(&formula.text()).expect("it was checked");
    let found = in_database(server, rows, &node, &kind, request).await;
    let values: Vec<String> =
        node.fields().into_iter().map(|name| format!("{name} = {:?}", rows.value(row, name))).collect();
    format!(
        "{}\nwith {}\ndatabase: {:?}\nRust:     {:?}",
        formula.text(),
        values.join(", "),
        found[row],
        in_rust(rows, &node, row, request)
    )
}

/// A value of a row; none for NULL.
type Cell = Option<Value>;

/// The metadata of the columns, which lives as long as the process.
fn leaked(columns: &[Column]) -> &'static [FieldMeta] {
    Box::leak(columns.iter().map(|column| FieldMeta { nullable: true, ..column.field }).collect())
}
