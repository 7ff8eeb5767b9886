//! Totals of lists: maintained by triggers, cached by table versions, counted, or estimated by the planner.

use serde_json::Value;

use super::response_cache::key_of;
use super::select::ListQuery;
use crate::counts;
use crate::db::{Dialect, Row, Rows, Sql};
use crate::error::{Error, Result};
use crate::ops::Context;
use crate::query::{Count, write_condition};
use crate::record::{Cell, write_from};

/// Source of a total: a column in the statement of the page, read from the same snapshot as the rows.
pub enum TotalSource {
    /// No column: the request asks for no total.
    None,
    /// The total itself, maintained by triggers: the list has no condition.
    Maintained,
    /// The version of the tables that the condition reads: key of the cached total.
    Versioned { tables: Vec<&'static str> },
}

/// The name of that column.
pub const TOTAL_COLUMN: &str = "charter_total";

impl TotalSource {
    pub fn of(query: ListQuery<'_>) -> TotalSource {
        let ListQuery { entry, condition, plan, .. } = query;
        if plan.count == Count::None {
            return TotalSource::None;
        }
        if condition.is_everything() {
            return TotalSource::Maintained;
        }
        let mut tables = vec![entry.meta.table];
        condition.tables(&mut tables);
        tables.sort_unstable();
        tables.dedup();
        TotalSource::Versioned { tables }
    }

    /// The number of columns: 0 or 1.
    pub fn columns(&self) -> usize {
        usize::from(!matches!(self, TotalSource::None))
    }

    pub fn write(&self, sql: &mut Sql, table: &str) {
        match self {
            TotalSource::None => {}
            TotalSource::Maintained => counts::write_live_count(sql, table),
            TotalSource::Versioned { tables } => counts::write_versions(sql, tables),
        }
    }
}

/// The value of the column of [`TotalSource`], after the columns of the projection. `None` for a page without rows.
pub fn version_of(query: ListQuery<'_>, rows: &Rows) -> Result<Option<i64>> {
    rows.first().map_or(Ok(None), |row| Cell::new(row, query.shape.columns.len())?.integer())
}

/// The total. `version` is the value of the column of [`TotalSource`], `found` the number of rows of the page.
pub async fn count(
    context: &Context<'_>,
    query: ListQuery<'_>,
    source: &TotalSource,
    (version, found): (Option<i64>, i64),
) -> Result<i64> {
    if let (TotalSource::Maintained, Some(total)) = (source, version) {
        return Ok(total);
    }
    let sql = count_sql(context, query, source);
    let TotalSource::Versioned { .. } = source else {
        let rows = context.read(sql).await?;
        let Some(row) = rows.first() else { return Ok(0) };
        return Ok(Cell::new(row, 0)?.integer()?.unwrap_or(0));
    };
    let cache = &context.state().responses;
    // A transaction sees its own changes, which other requests do not see. No later request has the same instant.
    let key = (context.transaction().is_none() && !query.uses_instant).then(|| key_of(&sql));
    if let (Some(key), Some(version)) = (key, version)
        && let Some(total) = cache.total(key, version)
    {
        return Ok(total);
    }
    if is_estimated(context, query) {
        return estimate(context, query, found).await;
    }
    let narrowed = query.narrowed(context).await?;
    let rows = context.read(count_sql(context, narrowed, source)).await?;
    let Some(row) = rows.first() else { return Ok(0) };
    let total = integer(row, 1)?;
    // On PostgreSQL candidate ids are from an earlier snapshot than the version: a write may have been between them.
    let is_one_snapshot =
        context.state().db.dialect() == Dialect::Sqlite || std::ptr::eq(narrowed.condition, query.condition);
    if let (Some(key), true) = (key, is_one_snapshot) {
        cache.put_total(key, integer(row, 0)?, total);
    }
    Ok(total)
}

/// True if an unknown total is estimated by the planner. SQLite's planner has no estimate.
pub fn is_estimated(context: &Context<'_>, query: ListQuery<'_>) -> bool {
    query.plan.count == Count::Estimate && context.state().db.dialect() == Dialect::Postgres
}

/// The row estimate of PostgreSQL's planner, at least the records known from this page.
async fn estimate(context: &Context<'_>, query: ListQuery<'_>, found: i64) -> Result<i64> {
    let mut sql = Sql::new(context.state().db.dialect(), "EXPLAIN (FORMAT JSON) SELECT t.\"id\"");
    write_records(&mut sql, query);
    let rows = context.read(sql).await?;
    let json = rows.first().map_or(Ok(None), |row| Cell::new(row, 0)?.json())?;
    let explained: Value = serde_json::from_str(json.unwrap_or("null")).map_err(Error::internal)?;
    let estimated = explained[0]["Plan"]["Plan Rows"].as_f64().unwrap_or_default();
    let before = if found == 0 || query.cursor.is_some() { 0 } else { query.plan.offset() };
    Ok((estimated as i64).max(before.saturating_add(found)))
}

/// `SELECT` of the column of the total source; for [`TotalSource::Versioned`] also `COUNT(*)` from the same snapshot.
pub fn count_sql(context: &Context<'_>, query: ListQuery<'_>, source: &TotalSource) -> Sql {
    let mut sql = Sql::new(context.state().db.dialect(), "SELECT ");
    source.write(&mut sql, query.entry.meta.table);
    sql.push(" AS ").name(TOTAL_COLUMN);
    if let TotalSource::Versioned { .. } = source {
        sql.push(", COUNT(*) AS \"total\"");
        write_records(&mut sql, query);
        return sql.with_custom_plan();
    }
    sql
}

fn integer(row: Row<'_>, position: usize) -> Result<i64> {
    Cell::new(row, position)?.integer()?.ok_or_else(|| Error::internal("a total is null"))
}

/// Writes `FROM` and `WHERE` of the records of the list.
fn write_records(sql: &mut Sql, query: ListQuery<'_>) {
    let ListQuery { entry, condition, .. } = query;
    let mut sources = Vec::new();
    condition.sources(&mut sources);
    write_from(sql, entry.meta.table, &sources);
    sql.push(" WHERE ");
    write_condition(sql, condition);
}
