//! `GET /<path>/summary`: count, sums, minima, maxima and averages of the records of a list, by group.

use std::io::Write as _;

use bytes::Bytes;
use chrono_tz::Tz;

use super::render::MAX_PAGE_BYTES;
use super::response_cache::{CacheKey, CacheKeyBuilder};
use super::select::{ListQuery, Statement};
use crate::calendar::numbered_day;
use crate::custom_field::CustomKind;
use crate::db::{Dialect, Row, Sql};
use crate::error::{Error, Result};
use crate::meta::Kind;
use crate::number::{divide_half_even, scale_wide, write_wide};
use crate::ops::{Context, company_zone};
use crate::query::condition::{Condition, Target};
use crate::query::{
    Aggregate, Function, GroupKey, MAX_GROUPS, Operand, SavedView, Summary, read_total, total_columns, write_summary,
};
use crate::record::{Cell, Column, write_text, write_value};

/// Decimal places of an average beyond those of its field.
const MORE_PLACES: u32 = 4;

/// A planned summary of the records of a list.
pub struct SummaryQuery<'p> {
    query: ListQuery<'p>,
    summary: &'p Summary,
    view: Option<&'p SavedView>,
    /// The company's time zone, if a key depends on it.
    zone: Option<Tz>,
}

impl<'p> SummaryQuery<'p> {
    pub async fn of(
        context: &Context<'_>,
        query: ListQuery<'p>,
        summary: &'p Summary,
        view: Option<&'p SavedView>,
    ) -> Result<SummaryQuery<'p>> {
        let zone = if summary.needs_zone() { Some(company_zone(context.state()).await?) } else { None };
        Ok(SummaryQuery { query, summary, view, zone })
    }

    /// The names of the keys, by which groups are ordered.
    pub fn order(&self) -> Vec<String> {
        self.summary.keys.iter().map(|key| key.name.clone()).collect()
    }

    /// The statement, for `explain`.
    pub async fn statement(&self, context: &Context<'_>) -> Result<Statement> {
        let narrowed = self.query.narrowed(context).await?;
        Ok(Statement { reads: "groups", sql: self.sql(context, narrowed.condition) })
    }

    fn sql(&self, context: &Context<'_>, condition: &Condition) -> Sql {
        let mut sql = Sql::new(context.state().db.dialect(), "");
        write_summary(&mut sql, self.query.entry.meta, self.summary, condition, self.zone.unwrap_or_default());
        sql.with_custom_plan()
    }

    /// `None` if the response cannot be cached.
    pub fn cache_key(&self, context: &Context<'_>) -> Option<CacheKey> {
        let mut builder = CacheKeyBuilder::of(context, self.query)?;
        self.summary.sources().for_each(|source| builder.depends_on_source(source));
        builder.add("summary");
        builder.add(self.sql(context, self.query.condition).with_literals());
        for GroupKey { name, .. } in &self.summary.keys {
            builder.add(name);
        }
        for Aggregate { function, operand } in &self.summary.aggregates {
            builder.add(function.name());
            builder.add(&operand.name);
        }
        builder.add(self.zone.map_or("", |zone| zone.name()));
        builder.add(self.view.map(|view| view.meta().to_string()).unwrap_or_default());
        Some(builder.finish())
    }

    /// `{"summary": [{"group": {...}, "count": 1, "sum": {...}}], "meta": {...}}`
    ///
    /// # Errors
    /// 422 for too many groups. When the database fails.
    pub async fn read(&self, context: &Context<'_>) -> Result<Bytes> {
        let narrowed = self.query.narrowed(context).await?;
        let sql = self.sql(context, narrowed.condition);
        let dialect = sql.dialect;
        let rows = context.read(sql).await?;
        if rows.len() > MAX_GROUPS {
            let problem =
                format!("leads to more than {MAX_GROUPS} groups; use fewer keys, a longer period or a filter");
            return Err(Error::invalid("group", problem));
        }
        let mut out = Vec::with_capacity(64 + rows.len() * 128);
        out.extend_from_slice(b"{\"summary\":[");
        for (index, row) in rows.iter().enumerate() {
            out.extend_from_slice(if index > 0 { b"," } else { b"" });
            self.write_group(&mut out, dialect, row)?;
            if out.len() > MAX_PAGE_BYTES {
                return Err(Error::invalid("group", "leads to a response of more than 32 MiB"));
            }
        }
        out.extend_from_slice(b"],\"meta\":{");
        if let Some(zone) = self.zone {
            let _ = write!(out, "\"timezone\":\"{}\"", zone.name());
        }
        if let Some(view) = self.view {
            let _ = write!(out, "{}\"view\":{}", if self.zone.is_some() { "," } else { "" }, view.meta());
        }
        out.extend_from_slice(b"}}");
        Ok(out.into())
    }

    fn write_group(&self, out: &mut Vec<u8>, dialect: Dialect, row: Row<'_>) -> Result<()> {
        out.extend_from_slice(b"{\"group\":{");
        for (position, key) in self.summary.keys.iter().enumerate() {
            out.extend_from_slice(if position > 0 { b"," } else { b"" });
            write_text(out, &key.name);
            out.push(b':');
            write_key(out, key, dialect, row, position)?;
        }
        let mut position = self.summary.keys.len();
        let _ = write!(out, "}},\"count\":{}", integer(row, position)?);
        position += 1;
        let mut open: Option<Function> = None;
        for Aggregate { function, operand } in &self.summary.aggregates {
            if open == Some(*function) {
                out.push(b',');
            } else {
                out.extend_from_slice(if open.is_some() { b"}," } else { b"," });
                let _ = write!(out, "\"{}\":{{", function.name());
                open = Some(*function);
            }
            write_text(out, &operand.name);
            out.push(b':');
            position += write_aggregate(out, *function, operand, dialect, row, position)?;
        }
        out.extend_from_slice(if open.is_some() { b"}}" } else { b"}" });
        Ok(())
    }
}

/// Writes the value of a key: the label of a period, or the value as a record has it.
fn write_key(out: &mut Vec<u8>, key: &GroupKey, dialect: Dialect, row: Row<'_>, position: usize) -> Result<()> {
    let Some(period) = key.period else { return write_operand(out, &key.operand, dialect, row, position) };
    match Cell::new(row, position)?.integer()? {
        Some(number) => {
            let start = numbered_day(number).ok_or_else(|| Error::internal("a period is out of range"))?;
            write_text(out, &period.label(start));
        }
        None => out.extend_from_slice(b"null"),
    }
    Ok(())
}

/// Writes an aggregate and returns the number of its columns.
fn write_aggregate(
    out: &mut Vec<u8>,
    function: Function,
    operand: &Operand,
    dialect: Dialect,
    row: Row<'_>,
    position: usize,
) -> Result<usize> {
    if let Function::Min | Function::Max = function {
        write_operand(out, operand, dialect, row, position)?;
        return Ok(1);
    }
    let (places, columns) = (places(operand.kind), total_columns(dialect));
    let total = read_total(dialect, row, position, places)?;
    if function == Function::Sum {
        write_number(out, operand, total.unwrap_or_default(), places);
        return Ok(columns);
    }
    match total {
        Some(total) => {
            let count = i128::from(integer(row, position + columns)?);
            let scaled = total.checked_mul(10_i128.pow(MORE_PLACES));
            let scaled = scaled.ok_or_else(|| Error::internal("a sum exceeds 128 bits"))?;
            write_number(out, operand, divide_half_even(scaled, count.max(1)), places + MORE_PLACES);
        }
        None => out.extend_from_slice(b"null"),
    }
    Ok(columns + 1)
}

/// Writes a value in the format of a record.
fn write_operand(out: &mut Vec<u8>, operand: &Operand, dialect: Dialect, row: Row<'_>, position: usize) -> Result<()> {
    let cell = Cell::new(row, position)?;
    let written = match &operand.target {
        Target::Column(source) if source.labels.is_some() => cell.text()?.map(|text| write_text(out, text)),
        Target::Column(source) => {
            let (name, source) = (source.field.name, source.clone());
            let column = Column { key: String::new(), name, source, hidden: false, only: None, without: None };
            return write_value(out, &column, row, position);
        }
        Target::Custom { kind: CustomKind::Boolean, .. } => cell.boolean()?.map(|value| drop(write!(out, "{value}"))),
        Target::Custom { kind: CustomKind::Integer | CustomKind::Decimal, .. } => {
            let number = match dialect {
                Dialect::Sqlite => cell.integer()?.map(i128::from),
                Dialect::Postgres => {
                    let read =
                        |text| scale_wide(text, places(operand.kind)).ok_or_else(|| Error::internal("not a number"));
                    cell.text()?.map(read).transpose()?
                }
            };
            number.map(|number| match operand.kind {
                Kind::Decimal { .. } => write_number(out, operand, number, places(operand.kind)),
                _ => drop(write!(out, "{number}")),
            })
        }
        Target::Custom { .. } => cell.text()?.map(|text| write_text(out, text)),
    };
    if written.is_none() {
        out.extend_from_slice(b"null");
    }
    Ok(())
}

/// Writes a number as a string, which holds any number of digits. Decimals of custom fields have no trailing zeros.
fn write_number(out: &mut Vec<u8>, operand: &Operand, number: i128, places: u32) {
    let mut text = String::with_capacity(24);
    write_wide(&mut text, number, places);
    let is_trimmed = matches!(operand.target, Target::Custom { .. }) && text.contains('.');
    let text = if is_trimmed { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    write_text(out, text);
}

fn places(kind: Kind) -> u32 {
    if let Kind::Decimal { places, .. } = kind { u32::from(places) } else { 0 }
}

fn integer(row: Row<'_>, position: usize) -> Result<i64> {
    Cell::new(row, position)?.integer()?.ok_or_else(|| Error::internal("a count is null"))
}
