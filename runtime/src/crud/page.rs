//! The rows of a page and the exact total, in one statement wherever one tells both.

use sea_orm::QueryResult;

use crate::catalog::{Entry, Source};
use crate::context::Context;
use crate::db::{Dialect, Sql};
use crate::error::Result;
use crate::query::condition::Target;
use crate::query::{Condition, Plan, write_condition, write_order};
use crate::record::{Shape, write_from};
use crate::total::{self, Question};

/// What a list answers of.
pub struct Page {
    pub rows: Vec<QueryResult>,
    /// How many records the request finds; none when it did not ask.
    pub total: Option<i64>,
}

/// What the statement that reads the rows is to tell of the total, as one more column.
enum Basis {
    /// Nothing.
    Unasked,
    /// The total itself: every record of the table is found.
    Live,
    /// How often these tables have changed, because the total depends on them.
    Changes(Vec<&'static str>),
}

/// The name of that column.
const BASIS: &str = "charter_basis";

/// A statement, and what it reads.
pub struct Statement {
    pub reads: &'static str,
    pub sql: Sql,
}

/// The statements that a page takes when nothing is remembered of it.
pub fn statements(
    context: &Context<'_>,
    entry: &Entry,
    shape: &Shape,
    condition: &Condition,
    plan: &Plan,
) -> Vec<Statement> {
    let basis = Basis::of(entry, condition, plan);
    let rows = select(context, entry, shape, condition, plan, &basis);
    let mut statements = vec![Statement { reads: "rows", sql: rows }];
    if let Basis::Changes(_) = basis {
        statements.push(Statement { reads: "total", sql: counting(context, entry, condition, &basis) });
    }
    statements
}

/// Reads the page of a plan, of the records that the condition finds.
///
/// # Errors
/// When the database fails.
pub async fn read(
    context: &Context<'_>,
    entry: &Entry,
    shape: &Shape,
    condition: &Condition,
    plan: &Plan,
) -> Result<Page> {
    let basis = Basis::of(entry, condition, plan);
    let rows = select(context, entry, shape, condition, plan, &basis).all(context.db()).await?;
    let found = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    let total = match &basis {
        Basis::Unasked => None,
        // A page that is not full tells it.
        _ if found < plan.per_page && (found > 0 || plan.page == 1) => Some(plan.offset() + found),
        basis => {
            let told = rows.first().map(|row| row.try_get("", BASIS)).transpose()?;
            Some(count(context, entry, condition, basis, told).await?)
        }
    };
    Ok(Page { rows, total })
}

impl Basis {
    fn of(entry: &Entry, condition: &Condition, plan: &Plan) -> Basis {
        if !plan.counts {
            return Basis::Unasked;
        }
        if condition.is_everything() {
            return Basis::Live;
        }
        let mut tables = vec![entry.meta.table];
        condition.tables(&mut tables);
        tables.sort_unstable();
        tables.dedup();
        Basis::Changes(tables)
    }

    fn write(&self, sql: &mut Sql, table: &str) {
        match self {
            Basis::Unasked => {}
            Basis::Live => total::write_live(sql, table),
            Basis::Changes(tables) => total::write_changes(sql, tables),
        }
    }
}

fn select(
    context: &Context<'_>,
    entry: &Entry,
    shape: &Shape,
    condition: &Condition,
    plan: &Plan,
    basis: &Basis,
) -> Sql {
    let mut asked = Vec::new();
    condition.sources(&mut asked);
    let mut sql = Sql::new(context.state().db.dialect(), String::with_capacity(1024));
    let deep = is_deep(condition, plan);
    if deep {
        total::write_place(&mut sql, entry.meta.table, plan.offset());
    }
    shape.write_columns(&mut sql);
    if !matches!(basis, Basis::Unasked) {
        sql.push(", ");
        basis.write(&mut sql, entry.meta.table);
        sql.push(" AS ").name(BASIS);
    }
    // SQLite reads whole rows before it sorts them. Of the many that the index of a custom field may find it takes the
    // ids first, which are in the index.
    if sql.dialect == Dialect::Sqlite && plan.order.is_empty() && condition.is_stretch() {
        shape.write_tables(&mut sql, &[]);
        sql.push(" WHERE t.\"id\" IN (SELECT t.\"id\"");
        write_from(&mut sql, entry.meta.table, &asked);
        write_stretch(&mut sql, condition, plan, deep);
        sql.push(") ORDER BY t.\"id\"");
    } else {
        let sources: Vec<Source> = plan.sources().into_iter().chain(asked).collect();
        shape.write_tables(&mut sql, &sources);
        write_stretch(&mut sql, condition, plan, deep);
    }
    sql
}

/// Whether the page is so far from the first record, by id, that it is worth finding the block in which it begins.
fn is_deep(condition: &Condition, plan: &Plan) -> bool {
    let by_id = plan
        .order
        .first()
        .is_none_or(|key| !key.descending && matches!(&key.target, Target::Column(source) if source.is_own("id")));
    by_id && plan.offset() >= total::BLOCK && condition.is_everything()
}

/// Which records, in which order.
fn write_stretch(sql: &mut Sql, condition: &Condition, plan: &Plan, deep: bool) {
    sql.push(" WHERE ");
    write_condition(sql, condition);
    if deep {
        sql.push(" AND t.\"id\" >= (SELECT \"first\" FROM place)");
    }
    write_order(sql, &plan.order, condition);
    sql.push(" LIMIT ").push(&plan.per_page.to_string());
    // PostgreSQL plans a statement with an OFFSET parameter anew on every call: the first page does without.
    if deep {
        sql.push(" OFFSET COALESCE((SELECT \"skipped\" FROM place), 0)");
    } else if plan.page > 1 {
        sql.push(" OFFSET ").bind(plan.offset());
    }
}

/// The exact total, from what a row told of it, or else by asking.
async fn count(
    context: &Context<'_>,
    entry: &Entry,
    condition: &Condition,
    basis: &Basis,
    told: Option<i64>,
) -> Result<i64> {
    if let (Basis::Live, Some(total)) = (basis, told) {
        return Ok(total);
    }
    let sql = counting(context, entry, condition, basis);
    if let Basis::Live = basis {
        let row = sql.one(context.db()).await?;
        return Ok(row.map(|row| row.try_get("", BASIS)).transpose()?.unwrap_or(0));
    }
    // What a transaction has changed and not committed is nobody else's.
    let question = if context.transaction().is_none() { Question::of(&sql) } else { None };
    let known = &context.state().totals;
    if let (Some(question), Some(changes)) = (&question, told)
        && let Some(total) = known.find(question, changes)
    {
        return Ok(total);
    }
    let Some(row) = sql.one(context.db()).await? else { return Ok(0) };
    let total = row.try_get("", "total")?;
    if let Some(question) = question {
        known.put(question, row.try_get("", BASIS)?, total);
    }
    Ok(total)
}

/// `SELECT` the basis alone where that is the total, and else with what is counted in the same snapshot.
fn counting(context: &Context<'_>, entry: &Entry, condition: &Condition, basis: &Basis) -> Sql {
    let mut sql = Sql::new(context.state().db.dialect(), "SELECT ");
    basis.write(&mut sql, entry.meta.table);
    sql.push(" AS ").name(BASIS);
    if let Basis::Changes(_) = basis {
        let mut sources = Vec::new();
        condition.sources(&mut sources);
        sql.push(", COUNT(*) AS \"total\"");
        write_from(&mut sql, entry.meta.table, &sources);
        sql.push(" WHERE ");
        write_condition(&mut sql, condition);
    }
    sql
}
