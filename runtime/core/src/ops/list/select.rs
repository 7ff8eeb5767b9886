//! SQL of list pages and exports, and the rows and total of a page.

use std::sync::Arc;

use tokio::sync::OnceCell;

use super::total::{TOTAL_COLUMN, TotalSource, count, count_sql, is_estimated, version_of};
use crate::catalog::Entry;
use crate::counts;
use crate::db::{Dialect, Row, Rows, Sql};
use crate::error::{Error, Result};
use crate::ops::Context;
use crate::query::condition::Target;
use crate::query::{Condition, Cursor, KeysetRange, Plan, Position, PrefixSide, write_condition};
use crate::record::Source;
use crate::record::{Cell, Shape, write_from};
use crate::trigram;

/// Rows and total of a page.
pub struct Page {
    /// The rows, in one part for each statement.
    parts: Vec<Arc<Rows>>,
    /// Number of rows of the page. The parts can have one more, which shows that there is a next page.
    row_count: usize,
    /// The exact or estimated total; `None` if the request asks for none.
    pub total: Option<i64>,
    /// The cursor after the last row, if there are more records.
    pub next: Option<String>,
}

/// The part of a list that a statement reads.
#[derive(Clone, Copy)]
pub enum Slice<'p> {
    /// The page of the plan, by `LIMIT` and `OFFSET`.
    Numbered,
    /// All records.
    All,
    /// At most `limit` records after a cursor position, or from the first record, with the values of the sort keys
    /// (keyset pagination).
    After { position: Option<(&'p Position, &'p KeysetRange)>, limit: i64 },
    /// At most `limit` records of a search on one side of its prefix.
    Side { side: PrefixSide, limit: i64 },
}

/// Offset from which the ids of the page are selected first: from here on, that is cheaper than skipping whole rows.
const MIN_OFFSET_FOR_IDS: i64 = 500;

/// A statement of a query plan, and what it reads: `rows` or `total`.
pub struct Statement {
    pub reads: &'static str,
    pub sql: Sql,
}

/// A planned list query: resource, projection, condition, plan and cursor.
#[derive(Clone, Copy)]
pub struct ListQuery<'p> {
    pub entry: &'p Entry,
    pub shape: &'p Shape,
    pub condition: &'p Condition,
    pub plan: &'p Plan,
    /// The cursor format of the list, and the position in the request's cursor.
    pub cursor: Option<(Cursor<'p>, Option<&'p Position>)>,
    /// The condition narrowed by the trigram index, once it was looked up.
    pub narrowed: &'p OnceCell<Option<Condition>>,
    /// Version of the custom-field definitions of the plan, if it depends on them.
    pub definitions: Option<i64>,
    /// True if the condition depends on the instant of the request, so that its result cannot be cached.
    pub uses_instant: bool,
}

/// The statement that reads all records of a list.
///
/// # Errors
/// When the database fails.
pub async fn all(context: &Context<'_>, query: ListQuery<'_>) -> Result<Sql> {
    Ok(select(context, query.narrowed(context).await?, &TotalSource::None, Slice::All))
}

/// The statements of a page if nothing is cached and every keyset range is needed, for `explain`.
///
/// # Errors
/// When the database fails.
pub async fn statements(context: &Context<'_>, query: ListQuery<'_>) -> Result<Vec<Statement>> {
    let source = TotalSource::of(query);
    let query = query.narrowed(context).await?;
    let ranges = query.keyset_ranges();
    // With a cursor, one more row shows whether there is a next page.
    let slices = query.slices(&ranges, query.plan.per_page + i64::from(query.cursor.is_some()));
    let mut statements: Vec<Statement> = slices
        .into_iter()
        .map(|slice| Statement { reads: "rows", sql: select(context, query, &source, slice) })
        .collect();
    if let (TotalSource::Versioned { .. }, false) = (&source, is_estimated(context, query)) {
        statements.push(Statement { reads: "total", sql: count_sql(context, query, &source) });
    }
    Ok(statements)
}

/// Reads the page of a plan.
///
/// # Errors
/// When the database fails.
pub async fn read(context: &Context<'_>, query: ListQuery<'_>) -> Result<Page> {
    let (plan, source) = (query.plan, TotalSource::of(query));
    let Some((cursor, position)) = query.cursor else {
        let (parts, total) = numbered(context, query, &source).await?;
        return Ok(Page { row_count: parts.iter().map(|rows| rows.len()).sum(), parts, total, next: None });
    };
    // One more row than the page has shows whether there is a next page.
    let limit = plan.per_page + 1;
    let (mut parts, mut found): (Vec<Arc<Rows>>, i64) = (Vec::new(), 0);
    let ranges = query.keyset_ranges();
    for slice in query.slices(&ranges, limit) {
        let (missing, query) = (limit - found, query.narrowed(context).await?);
        let rows = context.read(select(context, query, &source, slice.limited(missing))).await?;
        found += length(&rows);
        parts.push(rows);
        if found == limit {
            break;
        }
    }
    let total = match &source {
        TotalSource::None => None,
        _ if position.is_none() && found < limit => Some(found),
        source => {
            let with_rows = parts.iter().find(|rows| !rows.is_empty());
            let version = with_rows.map_or(Ok(None), |rows| version_of(query, rows))?;
            Some(count(context, query, source, (version, found)).await?)
        }
    };
    let mut page = Page { row_count: found.min(plan.per_page) as usize, parts, total, next: None };
    if found == limit
        && let Some(last) = page.rows().last().copied()
    {
        let first_key = query.shape.columns.len() + source.columns();
        page.next = Some(cursor.write(last, query.id(last)?, first_key)?);
    }
    Ok(page)
}

/// Reads the rows and the total of a numbered page.
async fn numbered(
    context: &Context<'_>,
    query: ListQuery<'_>,
    source: &TotalSource,
) -> Result<(Vec<Arc<Rows>>, Option<i64>)> {
    let (narrowed, plan) = (query.narrowed(context).await?, query.plan);
    let (mut parts, mut found): (Vec<Arc<Rows>>, i64) = (Vec::new(), 0);
    for slice in query.slices(&[], plan.per_page) {
        let slice = slice.limited(plan.per_page - found);
        let rows = context.read(select(context, narrowed, source, slice)).await?;
        found += length(&rows);
        parts.push(rows);
        if found >= plan.per_page {
            break;
        }
    }
    // A page that is not full is the last one, and determines the total.
    let is_last = found < plan.per_page && (found > 0 || plan.page == 1);
    let total = match source {
        TotalSource::None => None,
        _ if is_last => Some(plan.offset() + found),
        source => {
            let with_rows = parts.iter().find(|rows| !rows.is_empty());
            let version = with_rows.map_or(Ok(None), |rows| version_of(query, rows))?;
            Some(count(context, query, source, (version, found)).await?)
        }
    };
    Ok((parts, total))
}

impl Slice<'_> {
    /// The same slice with at most this many records. A numbered page has its own limit.
    fn limited(self, limit: i64) -> Self {
        match self {
            Slice::After { position, .. } => Slice::After { position, limit },
            Slice::Side { side, .. } => Slice::Side { side, limit },
            Slice::Numbered | Slice::All => self,
        }
    }
}

impl Page {
    pub fn rows(&self) -> Vec<Row<'_>> {
        self.parts.iter().flat_map(|rows| rows.iter()).take(self.row_count).collect()
    }
}

pub fn length(rows: &Rows) -> i64 {
    i64::try_from(rows.len()).unwrap_or(i64::MAX)
}

impl<'p> ListQuery<'p> {
    /// The id of a row.
    pub fn id(self, row: Row<'_>) -> Result<i64> {
        let position = self.shape.position("id").ok_or_else(|| Error::internal("`id` was not read"))?;
        Cell::new(row, position)?.integer()?.ok_or_else(|| Error::internal("a record has no id"))
    }

    /// The same query, narrowed to candidate ids of the trigram index if these are few.
    pub async fn narrowed(self, context: &Context<'_>) -> Result<ListQuery<'p>> {
        let narrow = || {
            let state = context.state();
            trigram::narrow(&state.substring_indexes, &state.db, context.db(), self.entry, self.condition)
        };
        let narrowed = self.narrowed.get_or_try_init(narrow).await?;
        Ok(ListQuery { condition: narrowed.as_ref().unwrap_or(self.condition), ..self })
    }

    /// The keyset ranges after the position of the cursor; empty without one.
    fn keyset_ranges(self) -> Vec<KeysetRange> {
        match self.cursor {
            Some((_, Some(position))) => self.plan.ranking().after(position),
            _ => Vec::new(),
        }
    }

    /// The slices to read one after another, each of at most `limit` rows. In the order of a search, the records that
    /// begin with its text are one slice and the others another, so that a page of a frequent text needs no sort.
    fn slices<'s>(self, ranges: &'s [KeysetRange], limit: i64) -> Vec<Slice<'s>>
    where
        'p: 's,
    {
        if self.plan.ranking().is_prefix_first() && (self.cursor.is_some() || self.plan.page == 1) {
            let position = self.cursor.and_then(|(_, position)| position);
            let sides = self.plan.ranking().sides_after(position).into_iter();
            return sides.map(|side| Slice::Side { side, limit }).collect();
        }
        let first = match self.cursor {
            None => Some(Slice::Numbered),
            Some((_, None)) => Some(Slice::After { position: None, limit }),
            Some(_) => None,
        };
        let position = self.cursor.and_then(|(_, position)| position);
        let after = move |range| Some(Slice::After { position: Some((position?, range)), limit });
        first.into_iter().chain(ranges.iter().filter_map(after)).collect()
    }
}

/// The statement that reads a slice of a list, with the column of its total source.
pub fn select(context: &Context<'_>, query: ListQuery<'_>, source: &TotalSource, slice: Slice<'_>) -> Sql {
    let ListQuery { entry, shape, condition, plan, .. } = query;
    let mut condition_sources = Vec::new();
    condition.sources(&mut condition_sources);
    let mut sql = Sql::new(context.state().db.dialect(), String::with_capacity(1024));
    let uses_block_offset = matches!(slice, Slice::Numbered) && can_use_block_offset(condition, plan);
    if uses_block_offset {
        counts::write_block_offset(&mut sql, entry.meta.table, plan.offset());
    }
    shape.write_columns(&mut sql);
    if !matches!(source, TotalSource::None) {
        sql.push(", ");
        source.write(&mut sql, entry.meta.table);
        sql.push(" AS ").name(TOTAL_COLUMN);
    }
    if query.cursor.is_some() && !matches!(slice, Slice::All) {
        plan.ranking().write_values(&mut sql);
    }
    let sources: Vec<Source> = plan.sources().into_iter().chain(condition_sources).collect();
    if is_by_ids(sql.dialect, condition, plan, slice) {
        shape.write_tables(&mut sql, &plan.sources());
        sql.push(" WHERE t.\"id\" IN (SELECT t.\"id\"");
        write_from(&mut sql, entry.meta.table, &sources);
        write_slice(&mut sql, condition, plan, slice, uses_block_offset);
        sql.push(")");
        plan.ranking().write(&mut sql, &Condition::always());
    } else {
        shape.write_tables(&mut sql, &sources);
        write_slice(&mut sql, condition, plan, slice, uses_block_offset);
    }
    sql.with_custom_plan()
}

/// True if a subquery selects the ids of the page first. An index may contain them, so that skipped rows are neither
/// read from the table nor joined.
fn is_by_ids(dialect: Dialect, condition: &Condition, plan: &Plan, slice: Slice<'_>) -> bool {
    let skips = matches!(slice, Slice::Numbered) && plan.offset() >= MIN_OFFSET_FOR_IDS;
    // SQLite reads whole rows before it sorts them, also the many that an index of a custom field may find.
    let sorts = dialect == Dialect::Sqlite && plan.order.is_empty() && condition.is_index_range();
    skips || sorts
}

/// True if the list is sorted by id and the offset is large enough to look up the block of ids in which the page
/// begins.
fn can_use_block_offset(condition: &Condition, plan: &Plan) -> bool {
    let by_id = plan
        .order
        .first()
        .is_none_or(|key| !key.descending && matches!(&key.target, Target::Column(source) if source.is_own("id")));
    by_id && plan.offset() >= counts::BLOCK_IDS && condition.is_everything()
}

/// Writes `WHERE`, `ORDER BY`, `LIMIT` and `OFFSET` of a slice.
fn write_slice(sql: &mut Sql, condition: &Condition, plan: &Plan, slice: Slice<'_>, uses_block_offset: bool) {
    sql.push(" WHERE ");
    write_condition(sql, condition);
    if uses_block_offset {
        sql.push(" AND t.\"id\" >= (SELECT \"first\" FROM charter_block)");
    }
    let ranking = plan.ranking();
    if let Slice::After { position: Some((position, range)), .. } = slice {
        ranking.write_range(sql, position, range);
    }
    match slice {
        Slice::Side { side, .. } => ranking.write_side(sql, side, condition),
        Slice::Numbered | Slice::All | Slice::After { .. } => ranking.write(sql, condition),
    }
    match slice {
        Slice::After { limit, .. } | Slice::Side { limit, .. } => drop(sql.push(" LIMIT ").push(&limit.to_string())),
        Slice::All => {}
        Slice::Numbered => {
            sql.push(" LIMIT ").push(&plan.per_page.to_string());
            // PostgreSQL plans a statement with an OFFSET parameter again on every call, so the first page has none.
            if uses_block_offset {
                sql.push(" OFFSET COALESCE((SELECT \"skipped\" FROM charter_block), 0)");
            } else if plan.page > 1 {
                sql.push(" OFFSET ").bind(plan.offset());
            }
        }
    }
}
