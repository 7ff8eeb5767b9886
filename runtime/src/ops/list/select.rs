//! The rows of a page and the exact total, in one statement wherever one tells both.

use std::sync::Arc;

use tokio::sync::OnceCell;

use super::total::{TOTAL_COLUMN, TotalSource, count, count_sql, is_estimated, version_of};
use crate::catalog::{Entry, Source};
use crate::context::Context;
use crate::counts;
use crate::db::{Dialect, Row, Rows, Sql};
use crate::error::{Error, Result};
use crate::query::condition::Target;
use crate::query::{Condition, Cursor, KeysetRange, Plan, Position, write_condition};
use crate::record::{Cell, Shape, write_from};
use crate::trigram;

/// What a list answers of.
pub struct Page {
    /// Its rows, as they were read: one part after another.
    parts: Vec<Arc<Rows>>,
    /// How many rows of these it has.
    shown: usize,
    /// How many records the request finds, or about how many if that is what it asked; none when it did not ask.
    pub total: Option<i64>,
    /// The cursor of the last row, where the page has one and there are more records.
    pub next: Option<String>,
}

/// Which of the records that are found a statement reads.
#[derive(Clone, Copy)]
pub(crate) enum Slice<'p> {
    /// Those of the plan's page.
    Numbered,
    /// All of them.
    All,
    /// At most so many, of those behind a position or else from the first one on; with the values by which they are
    /// ordered.
    After { place: Option<(&'p Position, &'p KeysetRange)>, most: i64 },
}

/// So many rows may be read and skipped before it costs more than to find those of the page anew by their ids.
const MAX_SKIPPED_ROWS: i64 = 500;

/// A statement, and what it reads.
pub struct Statement {
    pub reads: &'static str,
    pub sql: Sql,
}

/// What is read of a list: its records, where they are from, and which page of them.
#[derive(Clone, Copy)]
pub struct Reading<'p> {
    pub entry: &'p Entry,
    pub shape: &'p Shape,
    pub condition: &'p Condition,
    pub plan: &'p Plan,
    /// The cursors of the list, and the place that the request's one names.
    pub cursor: Option<(Cursor<'p>, Option<&'p Position>)>,
    /// The condition as an index of substrings narrows it, once that was asked.
    pub narrowed: &'p OnceCell<Option<Condition>>,
    /// The version of the definitions of custom fields that the plan was made with, if it depends on them.
    pub definitions: Option<i64>,
}

/// The statement that reads all records of a list.
///
/// # Errors
/// When the database fails.
pub async fn all(context: &Context<'_>, reading: Reading<'_>) -> Result<Sql> {
    Ok(select(context, reading.narrowed(context).await?, &TotalSource::Unasked, Slice::All))
}

/// The statements that a page takes when nothing is remembered of it, and none of them finds all that is wanted.
///
/// # Errors
/// When the database fails.
pub async fn statements(context: &Context<'_>, reading: Reading<'_>) -> Result<Vec<Statement>> {
    let basis = TotalSource::of(reading);
    let reading = reading.narrowed(context).await?;
    let parts = reading.stretches();
    let rows = reading.parts(&parts, reading.plan.per_page + 1);
    let mut statements: Vec<Statement> =
        rows.map(|part| Statement { reads: "rows", sql: select(context, reading, &basis, part) }).collect();
    if let (TotalSource::Changes { .. }, false) = (&basis, is_estimated(context, reading)) {
        statements.push(Statement { reads: "total", sql: count_sql(context, reading, &basis) });
    }
    Ok(statements)
}

/// Reads the page of a plan, of the records that the condition finds.
///
/// # Errors
/// When the database fails.
pub async fn read(context: &Context<'_>, reading: Reading<'_>) -> Result<Page> {
    let (plan, basis) = (reading.plan, TotalSource::of(reading));
    let Some((cursor, place)) = reading.cursor else {
        let (rows, total) = numbered(context, reading, &basis).await?;
        return Ok(Page { shown: rows.len(), parts: vec![rows], total, next: None });
    };
    // One more than the page holds tells whether there is another.
    let wanted = plan.per_page + 1;
    let (mut parts, mut found): (Vec<Arc<Rows>>, i64) = (Vec::new(), 0);
    let ranges = reading.stretches();
    for part in reading.parts(&ranges, wanted) {
        let (missing, reading) = (wanted - found, reading.narrowed(context).await?);
        let Slice::After { place, .. } = part else { continue };
        let part = Slice::After { place, most: missing };
        let rows = context.read(select(context, reading, &basis, part)).await?;
        found += length(&rows);
        parts.push(rows);
        if found == wanted {
            break;
        }
    }
    let total = match &basis {
        TotalSource::Unasked => None,
        _ if place.is_none() && found < wanted => Some(found),
        basis => {
            let any = parts.iter().find(|rows| !rows.is_empty());
            let told = any.map_or(Ok(None), |rows| version_of(reading, rows))?;
            Some(count(context, reading, basis, (told, found)).await?)
        }
    };
    let mut page = Page { shown: found.min(plan.per_page) as usize, parts, total, next: None };
    if found == wanted
        && let Some(last) = page.rows().last().copied()
    {
        let first = reading.shape.columns.len() + basis.columns();
        page.next = Some(cursor.write(last, reading.id(last)?, first)?);
    }
    Ok(page)
}

/// The rows of a numbered page, and the total if it is asked for.
async fn numbered(
    context: &Context<'_>,
    reading: Reading<'_>,
    basis: &TotalSource,
) -> Result<(Arc<Rows>, Option<i64>)> {
    let narrowed = reading.narrowed(context).await?;
    let rows = context.read(select(context, narrowed, basis, Slice::Numbered)).await?;
    let (found, plan) = (length(&rows), reading.plan);
    // A page that is not full tells the total.
    let is_last = found < plan.per_page && (found > 0 || plan.page == 1);
    let total = match basis {
        TotalSource::Unasked => None,
        _ if is_last => Some(plan.offset() + found),
        basis => Some(count(context, reading, basis, (version_of(reading, &rows)?, found)).await?),
    };
    Ok((rows, total))
}

impl Page {
    pub fn rows(&self) -> Vec<Row<'_>> {
        self.parts.iter().flat_map(|rows| rows.iter()).take(self.shown).collect()
    }
}

pub(crate) fn length(rows: &Rows) -> i64 {
    i64::try_from(rows.len()).unwrap_or(i64::MAX)
}

impl<'p> Reading<'p> {
    /// The id of a row.
    pub(crate) fn id(self, row: Row<'_>) -> Result<i64> {
        let place = self.shape.position("id").ok_or_else(|| Error::internal("`id` was not read"))?;
        Cell::new(row, place)?.integer()?.ok_or_else(|| Error::internal("a record has no id"))
    }

    /// The same, of what an index of substrings finds where that is few.
    pub(crate) async fn narrowed(self, context: &Context<'_>) -> Result<Reading<'p>> {
        let narrow = || trigram::narrow(context, self.entry, self.condition);
        let narrowed = self.narrowed.get_or_try_init(narrow).await?;
        Ok(Reading { condition: narrowed.as_ref().unwrap_or(self.condition), ..self })
    }

    /// The stretches behind the place of the cursor; none without one.
    fn stretches(self) -> Vec<KeysetRange> {
        match self.cursor {
            Some((_, Some(place))) => self.plan.ranking().after(place),
            _ => Vec::new(),
        }
    }

    /// What each statement reads, `most` rows at once.
    fn parts<'s>(self, stretches: &'s [KeysetRange], most: i64) -> impl Iterator<Item = Slice<'s>>
    where
        'p: 's,
    {
        let first = match self.cursor {
            None => Some(Slice::Numbered),
            Some((_, None)) => Some(Slice::After { place: None, most }),
            Some(_) => None,
        };
        let place = self.cursor.and_then(|(_, place)| place);
        let behind = move |stretch| Some(Slice::After { place: Some((place?, stretch)), most });
        first.into_iter().chain(stretches.iter().filter_map(behind))
    }
}

/// The statement that reads a part of a list, with what its basis tells of the total.
pub(crate) fn select(context: &Context<'_>, reading: Reading<'_>, basis: &TotalSource, part: Slice<'_>) -> Sql {
    let Reading { entry, shape, condition, plan, .. } = reading;
    let mut asked = Vec::new();
    condition.sources(&mut asked);
    let mut sql = Sql::new(context.state().db.dialect(), String::with_capacity(1024));
    let deep = matches!(part, Slice::Numbered) && is_deep(condition, plan);
    if deep {
        counts::write_block_offset(&mut sql, entry.meta.table, plan.offset());
    }
    shape.write_columns(&mut sql);
    if !matches!(basis, TotalSource::Unasked) {
        sql.push(", ");
        basis.write(&mut sql, entry.meta.table);
        sql.push(" AS ").name(TOTAL_COLUMN);
    }
    if let Slice::After { .. } = part {
        plan.ranking().write_values(&mut sql);
    }
    let sources: Vec<Source> = plan.sources().into_iter().chain(asked).collect();
    if is_by_ids(sql.dialect, condition, plan, part) {
        shape.write_tables(&mut sql, &plan.sources());
        sql.push(" WHERE t.\"id\" IN (SELECT t.\"id\"");
        write_from(&mut sql, entry.meta.table, &sources);
        write_part(&mut sql, condition, plan, part, deep);
        sql.push(")");
        plan.ranking().write(&mut sql, &Condition::always());
    } else {
        shape.write_tables(&mut sql, &sources);
        write_part(&mut sql, condition, plan, part, deep);
    }
    sql.with_custom_plan()
}

/// Whether the ids of the page are found first, and then its rows. They may stand in an index, where what is skipped is not
/// read from the table nor joined with others.
fn is_by_ids(dialect: Dialect, condition: &Condition, plan: &Plan, part: Slice<'_>) -> bool {
    let skips = matches!(part, Slice::Numbered) && plan.offset() >= MAX_SKIPPED_ROWS;
    // SQLite reads whole rows before it sorts them: of the many that the index of a custom field may find, too.
    let sorts = dialect == Dialect::Sqlite && plan.order.is_empty() && condition.is_index_range();
    skips || sorts
}

/// Whether the page is so far from the first record, by id, that it is worth finding the block in which it begins.
fn is_deep(condition: &Condition, plan: &Plan) -> bool {
    let by_id = plan
        .order
        .first()
        .is_none_or(|key| !key.descending && matches!(&key.target, Target::Column(source) if source.is_own("id")));
    by_id && plan.offset() >= counts::BLOCK_IDS && condition.is_everything()
}

/// Which records, in which order.
fn write_part(sql: &mut Sql, condition: &Condition, plan: &Plan, part: Slice<'_>, deep: bool) {
    sql.push(" WHERE ");
    write_condition(sql, condition);
    if deep {
        sql.push(" AND t.\"id\" >= (SELECT \"first\" FROM charter_block)");
    }
    let ranking = plan.ranking();
    if let Slice::After { place: Some((place, stretch)), .. } = part {
        ranking.write_range(sql, place, stretch);
    }
    ranking.write(sql, condition);
    match part {
        Slice::After { most, .. } => drop(sql.push(" LIMIT ").push(&most.to_string())),
        Slice::All => {}
        Slice::Numbered => {
            sql.push(" LIMIT ").push(&plan.per_page.to_string());
            // PostgreSQL plans a statement with an OFFSET parameter anew on every call: the first page does without.
            if deep {
                sql.push(" OFFSET COALESCE((SELECT \"skipped\" FROM charter_block), 0)");
            } else if plan.page > 1 {
                sql.push(" OFFSET ").bind(plan.offset());
            }
        }
    }
}
