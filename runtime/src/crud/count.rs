//! The total of a list: exact, and counted only where nothing that is known leads to it; or, where that will do, about how
//! many.

use sea_orm::QueryResult;
use serde_json::Value;

use super::page::{Reading, length};
use crate::context::Context;
use crate::db::{Dialect, Sql};
use crate::error::Result;
use crate::query::{Count, write_condition};
use crate::record::write_from;
use crate::total::{self, Found, Matches, Question, Recent};

/// What the statement that reads the rows is to tell of the total, as one more column.
pub(super) enum Basis {
    /// Nothing.
    Unasked,
    /// The total itself: every record of the table is found.
    Live,
    /// How often these tables have changed, because the total depends on them.
    Changes {
        tables: Vec<&'static str>,
        /// Whether a record is found or not by what is in it alone. Another of the same table is another.
        alone: bool,
    },
}

/// The name of that column.
pub(super) const BASIS: &str = "charter_basis";

impl Basis {
    pub(super) fn of(reading: Reading<'_>) -> Basis {
        let Reading { entry, condition, plan, .. } = reading;
        if plan.count == Count::Nothing {
            return Basis::Unasked;
        }
        if condition.is_everything() {
            return Basis::Live;
        }
        let mut tables = vec![entry.meta.table];
        condition.tables(&mut tables);
        let alone = tables.len() == 1;
        tables.sort_unstable();
        tables.dedup();
        Basis::Changes { tables, alone }
    }

    pub(super) fn write(&self, sql: &mut Sql, table: &str) {
        match self {
            Basis::Unasked => {}
            Basis::Live => total::write_live(sql, table),
            Basis::Changes { tables, .. } => total::write_changes(sql, tables),
        }
    }
}

/// What the rows tell of their basis.
pub(super) fn told(rows: &[QueryResult]) -> Result<Option<i64>> {
    Ok(rows.first().map(|row| row.try_get("", BASIS)).transpose()?)
}

/// What is remembered of a statement. Nothing within a transaction, as what it has changed and not committed is nobody
/// else's.
pub(super) fn question(context: &Context<'_>, sql: &Sql) -> Option<Question> {
    if context.transaction().is_none() { Question::of(sql) } else { None }
}

/// The total, from what a row told of it, or else by asking.
pub(super) async fn count(
    context: &Context<'_>,
    reading: Reading<'_>,
    basis: &Basis,
    rows: &[QueryResult],
) -> Result<i64> {
    let told = told(rows)?;
    if let (Basis::Live, Some(total)) = (basis, told) {
        return Ok(total);
    }
    let sql = counting(context, reading, basis);
    let Basis::Changes { alone, .. } = basis else {
        let rows = context.read(sql).await?;
        return Ok(rows.first().map(|row| row.try_get("", BASIS)).transpose()?.unwrap_or(0));
    };
    let question = question(context, &sql);
    let known = &context.state().totals;
    if let (Some(question), Some(changes)) = (&question, told) {
        let matches = match known.find(question, changes) {
            Found::Total(total) => return Ok(total),
            // Whatever else is known of it has to be asked for.
            _ if is_estimated(context, reading) => None,
            // What another record changed, the ids of those that are found do not tell.
            _ if !alone => None,
            Found::Matches(matches) => {
                let carried = carry(context, reading, basis, &matches).await?;
                if carried.is_none() {
                    known.forget(question);
                }
                carried
            }
            Found::Asked => gather(context, reading, basis).await?,
            Found::Nothing => None,
        };
        if let Some(matches) = matches {
            let total = matches.total();
            known.keep(question.clone(), matches);
            return Ok(total);
        }
    }
    if is_estimated(context, reading) {
        return estimate(context, reading, rows).await;
    }
    let rows = context.read(counting(context, reading.narrowed(context).await?, basis)).await?;
    let Some(row) = rows.first() else { return Ok(0) };
    let total = row.try_get("", "total")?;
    if let Some(question) = question {
        known.put(question, row.try_get("", BASIS)?, total);
    }
    Ok(total)
}

/// Whether the total is what the planner believes, when nobody knows it: SQLite's planner tells none.
pub(super) fn is_estimated(context: &Context<'_>, reading: Reading<'_>) -> bool {
    reading.plan.count == Count::Estimate && context.state().db.dialect() == Dialect::Postgres
}

/// How many records PostgreSQL's planner believes that the condition finds; at least those that are there to be seen.
async fn estimate(context: &Context<'_>, reading: Reading<'_>, rows: &[QueryResult]) -> Result<i64> {
    let mut sql = Sql::new(context.state().db.dialect(), "EXPLAIN (FORMAT JSON) SELECT t.\"id\"");
    write_found(&mut sql, reading);
    let told: Option<Value> = context.read(sql).await?.first().map(|row| row.try_get_by_index(0)).transpose()?;
    let believed = told.and_then(|told| told[0]["Plan"]["Plan Rows"].as_f64()).unwrap_or_default();
    let before = if rows.is_empty() || reading.cursor.is_some() { 0 } else { reading.plan.offset() };
    Ok((believed as i64).max(before.saturating_add(length(rows))))
}

/// `SELECT` the basis alone where that is the total, and else with what is counted in the same snapshot.
pub(super) fn counting(context: &Context<'_>, reading: Reading<'_>, basis: &Basis) -> Sql {
    let mut sql = Sql::new(context.state().db.dialect(), "SELECT ");
    basis.write(&mut sql, reading.entry.meta.table);
    sql.push(" AS ").name(BASIS);
    if let Basis::Changes { .. } = basis {
        sql.push(", COUNT(*) AS \"total\"");
        write_found(&mut sql, reading);
    }
    sql
}

/// Reads the ids of every record that the condition finds. Nothing when they are too many, or could not be carried on
/// from here.
async fn gather(context: &Context<'_>, reading: Reading<'_>, basis: &Basis) -> Result<Option<Matches>> {
    let mut sql = stating(Sql::new(context.state().db.dialect(), ""), reading, basis);
    sql.push(", ");
    total::write_lasting(&mut sql, reading.entry.meta.table);
    sql.push(" AS \"lasting\", COUNT(*) AS \"total\", ");
    total::write_ids(&mut sql, "m.\"id\"");
    sql.push(" AS \"found\" FROM (SELECT t.\"id\"");
    write_found(&mut sql, reading.narrowed(context).await?);
    sql.push(&format!(" LIMIT {}) AS m", total::MOST_MATCHES + 1));
    let rows = context.read(sql).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let lasting: Option<bool> = row.try_get("", "lasting")?;
    if !lasting.unwrap_or(false) || row.try_get::<i64>("", "total")? > total::MOST_MATCHES {
        return Ok(None);
    }
    let (snapshot, found): (String, Option<String>) = (row.try_get("", "snapshot")?, row.try_get("", "found")?);
    Ok(Matches::read(row.try_get("", BASIS)?, &snapshot, found.as_deref()))
}

/// The matches of now, from those of before and from what changed since. Nothing when that is too much, or not known any
/// more.
async fn carry(
    context: &Context<'_>,
    reading: Reading<'_>,
    basis: &Basis,
    matches: &Matches,
) -> Result<Option<Matches>> {
    let mut sql = Sql::new(context.state().db.dialect(), String::with_capacity(2048));
    total::write_changed(&mut sql, reading.entry.meta.table, matches);
    let mut sql = stating(sql, reading, basis);
    sql.push(", \"complete\", (SELECT ");
    total::write_ids(&mut sql, "\"id\"");
    sql.push(" FROM charter_changed) AS \"changed\", (SELECT ");
    total::write_ids(&mut sql, "t.\"id\"");
    write_found(&mut sql, reading);
    sql.push(match sql.dialect {
        // An array, so that PostgreSQL looks up ids, whatever it believes of the condition.
        Dialect::Postgres => " AND t.\"id\" = ANY(ARRAY(SELECT \"id\" FROM charter_changed))",
        Dialect::Sqlite => " AND t.\"id\" IN (SELECT \"id\" FROM charter_changed)",
    });
    sql.push(") AS \"found\" FROM charter_recent");
    let rows = context.read(sql).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    if !row.try_get::<Option<bool>>("", "complete")?.unwrap_or(false) {
        return Ok(None);
    }
    let carried = matches.carry(&Recent {
        changes: row.try_get("", BASIS)?,
        snapshot: row.try_get("", "snapshot")?,
        changed: row.try_get("", "changed")?,
        found: row.try_get("", "found")?,
    });
    Ok(carried.filter(|matches| matches.total() <= total::MOST_MATCHES))
}

/// `SELECT` the state that the statement sees.
fn stating(mut sql: Sql, reading: Reading<'_>, basis: &Basis) -> Sql {
    sql.push("SELECT ");
    basis.write(&mut sql, reading.entry.meta.table);
    sql.push(" AS ").name(BASIS).push(", ");
    total::write_snapshot(&mut sql);
    sql.push(" AS \"snapshot\"");
    sql
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
