//! SQL of a summary, with exact sums on both databases.
//!
//! The columns are the keys of the group, the count, then those of each aggregate.

use charter_model::Storage;
use chrono_tz::Tz;

use super::condition::{Condition, Target};
use super::order_by::{compared, value_expression};
use super::plan::Order;
use super::sql::write_condition;
use super::summary::{Aggregate, Function, GroupKey, MAX_GROUPS, Operand, Summary};
use crate::calendar::Offsets;
use crate::custom_field::CustomKind;
use crate::db::{Dialect, Row, Sql};
use crate::error::{Error, Result};
use crate::meta::{ResourceMeta, UniqueMeta};
use crate::number::scale_wide;
use crate::record::{Cell, RECORD, Source, write_from};

/// SQLite: bits of the low part of a number. The sums of both parts fit 64 bits for a billion records.
const LOW_BITS: u32 = 32;

/// Writes the statement. It returns at most one group more than [`MAX_GROUPS`], in the order of the keys. Times are in
/// this zone.
pub fn write_summary(sql: &mut Sql, meta: &ResourceMeta, summary: &Summary, condition: &Condition, zone: Tz) {
    if summary.keys.is_empty() {
        return write_groups(sql, meta, summary, condition, zone);
    }
    // The groups are ordered outside of their statement: PostgreSQL does not recognize an expression with bound values
    // as the grouped one.
    sql.push("SELECT ");
    for (index, key) in summary.keys.iter().enumerate() {
        let text = if is_custom_number(&key.operand) { as_text(sql.dialect) } else { "" };
        sql.push(&format!("s.\"key_{index}\"{text}, "));
    }
    sql.push("s.\"count\"");
    for index in 0..aggregate_columns(sql.dialect, &summary.aggregates) {
        sql.push(&format!(", s.\"value_{index}\""));
    }
    sql.push(" FROM (");
    write_groups(sql, meta, summary, condition, zone);
    let positions: Vec<String> = (1..=summary.keys.len()).map(|position| position.to_string()).collect();
    sql.push(&format!(" GROUP BY {} LIMIT {}) AS s ORDER BY ", positions.join(", "), MAX_GROUPS + 1));
    let nulls = if sql.dialect == Dialect::Postgres { " NULLS FIRST" } else { "" };
    for (index, key) in summary.keys.iter().enumerate() {
        let value = format!("s.\"key_{index}\"");
        let order = Order { target: key.operand.target.clone(), descending: false, prefix: None };
        let keys = if key.period.is_some() { vec![value] } else { compared(sql.dialect, &order, &value) };
        for (part, key) in keys.into_iter().enumerate() {
            sql.push(if index + part > 0 { ", " } else { "" }).push(&key).push(nulls);
        }
    }
}

/// Writes `SELECT ... FROM ... WHERE ...`.
fn write_groups(sql: &mut Sql, meta: &ResourceMeta, summary: &Summary, condition: &Condition, zone: Tz) {
    sql.push("SELECT ");
    for (index, key) in summary.keys.iter().enumerate() {
        write_key(sql, key, zone);
        sql.push(&format!(" AS \"key_{index}\", "));
    }
    sql.push("COUNT(*) AS \"count\"");
    let mut column = 0;
    for Aggregate { function, operand } in &summary.aggregates {
        for expression in aggregate(sql, *function, operand) {
            sql.push(", ").push(&expression).push(&format!(" AS \"value_{column}\""));
            column += 1;
        }
    }
    let mut sources: Vec<_> = summary.sources().cloned().collect();
    condition.sources(&mut sources);
    if sql.dialect == Dialect::Sqlite && condition.is_everything() && !is_covered(meta, summary) {
        write_from_whole_table(sql, meta.table, &sources);
    } else {
        write_from(sql, meta.table, &sources);
    }
    sql.push(" WHERE ");
    write_condition(sql, condition);
}

/// True if an index may have every column that the summary reads.
fn is_covered(meta: &ResourceMeta, summary: &Summary) -> bool {
    let has = |columns: &[&str], key: &GroupKey| match &key.operand.target {
        Target::Column(source) => columns.iter().any(|column| source.is_own(column)),
        Target::Custom { .. } => false,
    };
    let mut indexes =
        meta.indexes.iter().copied().chain(meta.unique_sets().filter(UniqueMeta::is_plain).map(|set| set.fields));
    summary.aggregates.is_empty()
        && (summary.keys.is_empty() || indexes.any(|columns| summary.keys.iter().all(|key| has(columns, key))))
}

/// Writes ` FROM ...` so that SQLite scans the table. It would rather scan an index of the records that are not deleted, or
/// one in the order of the groups, and look up one record after another, which takes twice as long.
fn write_from_whole_table(sql: &mut Sql, table: &str, sources: &[Source]) {
    sql.push(" FROM ").name(table).push(" AS ").push(RECORD).push(" NOT INDEXED");
    let mut joined = Vec::new();
    for source in sources {
        source.write_join(&mut sql.text, RECORD, &mut joined);
    }
}

/// Writes the expression that records are grouped by. A period is the number of its first day.
fn write_key(sql: &mut Sql, key: &GroupKey, zone: Tz) {
    let value = value_expression(sql, &key.operand.target);
    let Some(period) = key.period else {
        sql.push(&value);
        return;
    };
    if sql.dialect == Dialect::Sqlite {
        sql.push("charter_period(").push(&value).push(", ").bind(period.name()).push(", ").bind(zone.name()).push(")");
        return;
    }
    sql.push(&format!("(date_trunc('{}', ", period.name()));
    if key.operand.kind.storage() == Some(Storage::Timestamp) {
        write_local_time(sql, &value, zone);
    } else {
        sql.push(&value).push("::timestamp");
    }
    sql.push(")::date - DATE '1970-01-01')");
}

/// Writes a PostgreSQL expression of the local time. The offsets are ours, because the database can know other zones or
/// other rules than the server.
fn write_local_time(sql: &mut Sql, value: &str, zone: Tz) {
    let offsets = Offsets::of(zone);
    sql.push("(").push(value).push(" AT TIME ZONE 'UTC'");
    if offsets.transitions.is_empty() {
        let seconds = offsets.seconds.first().copied().unwrap_or_default();
        if seconds != 0 {
            sql.push(" + INTERVAL '1 second' * ").bind(seconds);
        }
    } else {
        sql.push(" + INTERVAL '1 second' * (").bind(offsets.seconds.clone()).push("::bigint[])[1 + width_bucket(");
        sql.push(value).push(", (SELECT array_agg(to_timestamp(e)) FROM unnest(");
        sql.bind(offsets.transitions.clone()).push("::bigint[]) AS e))]");
    }
    sql.push(")");
}

/// The expressions of an aggregate.
fn aggregate(sql: &mut Sql, function: Function, operand: &Operand) -> Vec<String> {
    let value = value_expression(sql, &operand.target);
    let text = as_text(sql.dialect);
    if let Function::Min | Function::Max = function {
        let text = if is_custom_number(operand) { text } else { "" };
        return vec![format!("{}({value}){text}", function.name().to_uppercase())];
    }
    let mut columns = match sql.dialect {
        Dialect::Postgres => vec![format!("SUM({value}){text}")],
        // SUM fails beyond 64 bits. A shift rounds down, thus the low part is never negative.
        Dialect::Sqlite => {
            vec![format!("SUM({value} >> {LOW_BITS})"), format!("SUM({value} & {})", (1_u64 << LOW_BITS) - 1)]
        }
    };
    if function == Function::Avg {
        columns.push(format!("COUNT({value})"));
    }
    columns
}

/// Number of columns of a sum.
pub fn total_columns(dialect: Dialect) -> usize {
    if dialect == Dialect::Postgres { 1 } else { 2 }
}

fn aggregate_columns(dialect: Dialect, aggregates: &[Aggregate]) -> usize {
    let columns = |aggregate: &Aggregate| match aggregate.function {
        Function::Sum => total_columns(dialect),
        Function::Avg => total_columns(dialect) + 1,
        Function::Min | Function::Max => 1,
    };
    aggregates.iter().map(columns).sum()
}

/// Reads a sum multiplied by 10^places, whose columns begin at `position`. `None` without values.
///
/// # Errors
/// If the sum exceeds 128 bits, or is not a number.
pub fn read_total(dialect: Dialect, row: Row<'_>, position: usize, places: u32) -> Result<Option<i128>> {
    let first = Cell::new(row, position)?;
    if dialect == Dialect::Postgres {
        let total = first.text()?.map(|text| scale_wide(text, places).ok_or_else(|| Error::internal("not a sum")));
        return total.transpose();
    }
    let (Some(high), Some(low)) = (first.integer()?, Cell::new(row, position + 1)?.integer()?) else { return Ok(None) };
    Ok(Some((i128::from(high) << LOW_BITS) + i128::from(low)))
}

/// True for a number that PostgreSQL reads from JSON, with any scale.
fn is_custom_number(operand: &Operand) -> bool {
    matches!(operand.target, Target::Custom { kind: CustomKind::Integer | CustomKind::Decimal, .. })
}

fn as_text(dialect: Dialect) -> &'static str {
    if dialect == Dialect::Postgres { "::text" } else { "" }
}
