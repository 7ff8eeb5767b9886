//! The total of a list: maintained by triggers, cached at the versions of its tables, or counted; or the planner's estimate.

use serde_json::Value;

use super::response_cache::key_of;
use super::select::Reading;
use crate::context::Context;
use crate::counts;
use crate::db::{Dialect, Row, Rows, Sql};
use crate::error::{Error, Result};
use crate::query::{Count, write_condition};
use crate::record::{Cell, write_from};

/// Column that the statement of a page reads for its total, from the same snapshot as the rows.
pub(crate) enum TotalSource {
    /// No column: the request asks for no total.
    Unasked,
    /// The total itself, because the list has no condition.
    Live,
    /// The version of the tables that the condition reads.
    Changes { tables: Vec<&'static str> },
}

/// The name of that column.
pub(crate) const TOTAL_COLUMN: &str = "charter_basis";

impl TotalSource {
    pub(crate) fn of(reading: Reading<'_>) -> TotalSource {
        let Reading { entry, condition, plan, .. } = reading;
        if plan.count == Count::None {
            return TotalSource::Unasked;
        }
        if condition.is_everything() {
            return TotalSource::Live;
        }
        let mut tables = vec![entry.meta.table];
        condition.tables(&mut tables);
        tables.sort_unstable();
        tables.dedup();
        TotalSource::Changes { tables }
    }

    /// The number of columns: 0 or 1.
    pub(crate) fn columns(&self) -> usize {
        usize::from(!matches!(self, TotalSource::Unasked))
    }

    pub(crate) fn write(&self, sql: &mut Sql, table: &str) {
        match self {
            TotalSource::Unasked => {}
            TotalSource::Live => counts::write_live_count(sql, table),
            TotalSource::Changes { tables } => counts::write_versions(sql, tables),
        }
    }
}

/// The value of the column of [`Basis`], after the columns that are shown. `None` for a page without rows.
pub(crate) fn version_of(reading: Reading<'_>, rows: &Rows) -> Result<Option<i64>> {
    rows.first().map_or(Ok(None), |row| Cell::new(row, reading.shape.columns.len())?.integer())
}

/// The total. `told` is the value of the column of [`Basis`], and `shown` the number of rows of the page.
pub(crate) async fn count(
    context: &Context<'_>,
    reading: Reading<'_>,
    basis: &TotalSource,
    (told, shown): (Option<i64>, i64),
) -> Result<i64> {
    if let (TotalSource::Live, Some(total)) = (basis, told) {
        return Ok(total);
    }
    let sql = count_sql(context, reading, basis);
    let TotalSource::Changes { .. } = basis else {
        let rows = context.read(sql).await?;
        let Some(row) = rows.first() else { return Ok(0) };
        return Ok(Cell::new(row, 0)?.integer()?.unwrap_or(0));
    };
    let cache = &context.state().responses;
    // A transaction sees its own changes, which nobody else does.
    let key = context.transaction().is_none().then(|| key_of(&sql));
    if let (Some(key), Some(version)) = (key, told)
        && let Some(total) = cache.total(key, version)
    {
        return Ok(total);
    }
    if is_estimated(context, reading) {
        return estimate(context, reading, shown).await;
    }
    let rows = context.read(count_sql(context, reading.narrowed(context).await?, basis)).await?;
    let Some(row) = rows.first() else { return Ok(0) };
    let total = integer(row, 1)?;
    if let Some(key) = key {
        cache.put_total(key, integer(row, 0)?, total);
    }
    Ok(total)
}

/// Whether an unknown total is estimated by the planner: SQLite's planner has no estimate.
pub(crate) fn is_estimated(context: &Context<'_>, reading: Reading<'_>) -> bool {
    reading.plan.count == Count::Estimate && context.state().db.dialect() == Dialect::Postgres
}

/// How many records PostgreSQL's planner believes that the condition finds; at least those that are there to be seen.
async fn estimate(context: &Context<'_>, reading: Reading<'_>, shown: i64) -> Result<i64> {
    let mut sql = Sql::new(context.state().db.dialect(), "EXPLAIN (FORMAT JSON) SELECT t.\"id\"");
    write_found(&mut sql, reading);
    let rows = context.read(sql).await?;
    let told = rows.first().map_or(Ok(None), |row| Cell::new(row, 0)?.json())?;
    let told: Value = serde_json::from_str(told.unwrap_or("null")).map_err(Error::internal)?;
    let believed = told[0]["Plan"]["Plan Rows"].as_f64().unwrap_or_default();
    let before = if shown == 0 || reading.cursor.is_some() { 0 } else { reading.plan.offset() };
    Ok((believed as i64).max(before.saturating_add(shown)))
}

/// `SELECT` the basis alone where that is the total, and else with what is counted in the same snapshot.
pub(crate) fn count_sql(context: &Context<'_>, reading: Reading<'_>, basis: &TotalSource) -> Sql {
    let mut sql = Sql::new(context.state().db.dialect(), "SELECT ");
    basis.write(&mut sql, reading.entry.meta.table);
    sql.push(" AS ").name(TOTAL_COLUMN);
    if let TotalSource::Changes { .. } = basis {
        sql.push(", COUNT(*) AS \"total\"");
        write_found(&mut sql, reading);
        return sql.with_custom_plan();
    }
    sql
}

fn integer(row: Row<'_>, position: usize) -> Result<i64> {
    Cell::new(row, position)?.integer()?.ok_or_else(|| Error::internal("a total that is none"))
}

/// ` FROM` the records that the condition finds.
fn write_found(sql: &mut Sql, reading: Reading<'_>) {
    let Reading { entry, condition, .. } = reading;
    let mut sources = Vec::new();
    condition.sources(&mut sources);
    write_from(sql, entry.meta.table, &sources);
    sql.push(" WHERE ");
    write_condition(sql, condition);
}
