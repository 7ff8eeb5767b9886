//! Queries for rows that would stop a step. `charter_migrations::Table` runs the same queries before the step, or the
//! database refuses it.

use charter_model::Storage;

use super::sql::Dialect;
use super::step::Step;
use super::table::{Column, Index, IndexKind};

/// Queries whose counts must be zero.
pub fn checks(step: &Step, dialect: Dialect) -> Vec<String> {
    let (table, conditions) = match step {
        Step::CheckUnique { table, index } => return vec![repeated(table, index, dialect)],
        Step::AddIndex { table, index } if index.kind == IndexKind::Unique => {
            return vec![repeated(table, index, dialect)];
        }
        Step::Require { table, column } => (table, conditions(&column.nullable(), column, dialect)),
        Step::Change { table, from, to } => (table, conditions(from, to, dialect)),
        _ => return Vec::new(),
    };
    conditions.iter().map(|condition| format!("SELECT count(*) FROM \"{table}\" WHERE {condition}")).collect()
}

fn conditions(from: &Column, to: &Column, dialect: Dialect) -> Vec<String> {
    let null = (from.nullable && !to.nullable).then(|| format!("\"{}\" IS NULL", to.name));
    let reference = to.reference.as_ref().filter(|reference| from.reference.as_ref() != Some(reference));
    let dangling = reference.map(|reference| {
        format!("\"{0}\" IS NOT NULL AND \"{0}\" NOT IN (SELECT id FROM \"{1}\")", to.name, reference.table)
    });
    [null, misfits(from, to, dialect), dangling].into_iter().flatten().collect()
}

/// Counts value sets that several rows of a unique index share. Nulls are distinct.
fn repeated(table: &str, index: &Index, dialect: Dialect) -> String {
    // The index of SQLite folds ASCII letters, as its `lower` does.
    let key = |column: &String| match (index.folded.contains(column), dialect) {
        (true, Dialect::Sqlite) => format!("lower(\"{column}\")"),
        (true, Dialect::Postgres) => format!("charter_fold(\"{column}\")"),
        (false, _) => format!("\"{column}\""),
    };
    let columns: Vec<String> = index.columns.iter().map(key).collect();
    let mut conditions: Vec<String> = index.columns.iter().map(|column| format!("\"{column}\" IS NOT NULL")).collect();
    conditions.extend(index.conditions(dialect));
    format!(
        "SELECT count(*) FROM (SELECT 1 FROM \"{table}\" WHERE {} GROUP BY {} HAVING count(*) > 1) AS r",
        conditions.join(" AND "),
        columns.join(", ")
    )
}

/// The condition for rows that hold a value which does not fit the changed column.
fn misfits(from: &Column, to: &Column, dialect: Dialect) -> Option<String> {
    use Storage::{BigInt, Decimal, Integer, String, Text, Word};
    let name = format!("\"{}\"", to.name);
    // SQLite stores a decimal as an integer, scaled by its places.
    let unit = |places: u8| if dialect == Dialect::Sqlite { 10i128.pow(places.into()) } else { 1 };
    let finer = |then: u8, now: u8| match dialect {
        Dialect::Sqlite => format!("{name} % {} <> 0", 10i64.pow((then - now).into())),
        Dialect::Postgres => format!("{name} <> round({name}, {now})"),
    };
    match (from.storage, to.storage) {
        (String(_) | Word | Text, String(_) | Word) => {
            let (then, now) = (from.storage.max_length(), to.storage.max_length()?);
            then.is_none_or(|then| then > now).then(|| format!("length({name}) > {now}"))
        }
        (BigInt, Integer) => Some(format!("{name} NOT BETWEEN {} AND {}", i32::MIN, i32::MAX)),
        (Integer | BigInt, Decimal(precision, places)) => {
            let most = 10i64.pow((precision - places).into());
            Some(format!("{name} <= -{most} OR {name} >= {most}"))
        }
        (Decimal(_, places), Integer | BigInt) => {
            let (least, most) = match to.storage {
                Integer => (i32::MIN.into(), i32::MAX.into()),
                _ => (i64::MIN, i64::MAX),
            };
            let (least, most) = (i128::from(least) * unit(places), i128::from(most) * unit(places));
            // No row holds a value beyond 64 bits.
            match i64::try_from(most) {
                Ok(_) => Some(format!("{name} < {least} OR {name} > {most} OR {}", finer(places, 0))),
                Err(_) => Some(finer(places, 0)),
            }
        }
        (Decimal(then, then_places), Decimal(now, places)) => {
            let most = 10i128.pow((now - places).into()) * unit(then_places);
            let larger = (then - then_places > now - places).then(|| format!("{name} <= -{most} OR {name} >= {most}"));
            let finer = (then_places > places).then(|| finer(then_places, places));
            let all: Vec<_> = larger.into_iter().chain(finer).collect();
            (!all.is_empty()).then(|| all.join(" OR "))
        }
        _ => None,
    }
}
