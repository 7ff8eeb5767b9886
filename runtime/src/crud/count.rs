//! The total of a list: exact, and counted only where nothing that is known leads to it; or, where that will do, about how
//! many.

use serde_json::Value;

use super::page::Reading;
use crate::context::Context;
use crate::db::{Dialect, Row, Rows, Sql};
use crate::error::{Error, Result};
use crate::query::{Count, write_condition};
use crate::record::{Cell, write_from};
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

    /// How many columns it is.
    pub(super) fn columns(&self) -> usize {
        usize::from(!matches!(self, Basis::Unasked))
    }

    pub(super) fn write(&self, sql: &mut Sql, table: &str) {
        match self {
            Basis::Unasked => {}
            Basis::Live => total::write_live(sql, table),
            Basis::Changes { tables, .. } => total::write_changes(sql, tables),
        }
    }
}

/// What the rows of a page tell of their basis, behind the columns that are shown.
pub(super) fn told(reading: Reading<'_>, rows: &Rows) -> Result<Option<i64>> {
    rows.first().map_or(Ok(None), |row| Cell::new(row, reading.shape.columns.len())?.integer())
}

/// What is remembered of a statement. Nothing within a transaction, as what it has changed and not committed is nobody
/// else's.
pub(super) fn question(context: &Context<'_>, sql: &Sql) -> Option<Question> {
    if context.transaction().is_none() { Question::of(sql) } else { None }
}

/// The total, from what the page's so many rows told of it, or else by asking.
pub(super) async fn count(
    context: &Context<'_>,
    reading: Reading<'_>,
    basis: &Basis,
    (told, shown): (Option<i64>, i64),
) -> Result<i64> {
    if let (Basis::Live, Some(total)) = (basis, told) {
        return Ok(total);
    }
    let sql = counting(context, reading, basis);
    let Basis::Changes { alone, .. } = basis else {
        let rows = context.read(sql).await?;
        let Some(row) = rows.first() else { return Ok(0) };
        return Ok(Cell::new(row, 0)?.integer()?.unwrap_or(0));
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
        return estimate(context, reading, shown).await;
    }
    let rows = context.read(counting(context, reading.narrowed(context).await?, basis)).await?;
    let Some(row) = rows.first() else { return Ok(0) };
    let total = integer(row, 1)?;
    if let Some(question) = question {
        known.put(question, integer(row, 0)?, total);
    }
    Ok(total)
}

/// Whether the total is what the planner believes, when nobody knows it: SQLite's planner tells none.
pub(super) fn is_estimated(context: &Context<'_>, reading: Reading<'_>) -> bool {
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
pub(super) fn counting(context: &Context<'_>, reading: Reading<'_>, basis: &Basis) -> Sql {
    let mut sql = Sql::new(context.state().db.dialect(), "SELECT ");
    basis.write(&mut sql, reading.entry.meta.table);
    sql.push(" AS ").name(BASIS);
    if let Basis::Changes { .. } = basis {
        sql.push(", COUNT(*) AS \"total\"");
        write_found(&mut sql, reading);
        return sql.of_columns(2).planned_anew();
    }
    sql.of_columns(1)
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
    let rows = context.read(sql.of_columns(5).planned_anew()).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let lasting = Cell::new(row, 2)?.boolean()?.unwrap_or(false);
    if !lasting || integer(row, 3)? > total::MOST_MATCHES {
        return Ok(None);
    }
    Ok(Matches::read(integer(row, 0)?, text(row, 1)?.unwrap_or_default(), text(row, 4)?))
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
    let rows = context.read(sql.of_columns(5).planned_anew()).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    if !Cell::new(row, 2)?.boolean()?.unwrap_or(false) {
        return Ok(None);
    }
    let carried = matches.carry(&Recent {
        changes: integer(row, 0)?,
        snapshot: text(row, 1)?.unwrap_or_default(),
        changed: text(row, 3)?,
        found: text(row, 4)?,
    });
    Ok(carried.filter(|matches| matches.total() <= total::MOST_MATCHES))
}

fn integer(row: Row<'_>, position: usize) -> Result<i64> {
    Cell::new(row, position)?.integer()?.ok_or_else(|| Error::internal("a total that is none"))
}

fn text<'r>(row: Row<'r>, position: usize) -> Result<Option<&'r str>> {
    Cell::new(row, position)?.text()
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
