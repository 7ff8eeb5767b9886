//! Substring search: narrows the condition of a list to the candidates of a trigram index.
//!
//! On SQLite, each resource with `search` has an FTS5 trigram index, which the server builds and triggers maintain.
//! On PostgreSQL, migrations create the indexes (`pg_trgm`). Its planner does not know how many rows match a text:
//! for a rare text it may scan a million rows in the order of the list. A list therefore reads the ids of the
//! candidates first, if they are few.

mod build;
mod index;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

pub use build::{build_in_background, build_missing, drop_all};
use tokio::sync::Notify;

use sea_orm::DbErr;

use crate::catalog::Entry;
use crate::counts;
use crate::db::{Connection, Db, Dialect, Sql};
use crate::error::{Error, INDEX_REBUILDING, Result};
use crate::query::{Condition, indexed_condition, match_expression, write_condition, write_has_triggers};
use crate::record::write_from;

/// PostgreSQL: maximum of candidates whose ids are read first.
const MAX_CANDIDATE_IDS: usize = 1_000;

/// SQLite: maximum of candidates. Looking up more would take as long as a scan.
const MAX_CANDIDATES: i64 = 20_000;

/// SQLite: at most one row in this many may be a candidate.
const MIN_ROWS_PER_CANDIDATE: i64 = 16;

/// The complete indexes, by table.
#[derive(Debug, Default)]
pub struct ReadyIndexes {
    indexes: RwLock<BTreeMap<&'static str, Arc<str>>>,
    /// Wakes the builder when an index becomes stale.
    stale: Notify,
}

impl ReadyIndexes {
    fn find(&self, table: &str) -> Option<Arc<str>> {
        self.indexes.read().unwrap_or_else(PoisonError::into_inner).get(table).cloned()
    }

    fn remove(&self, table: &str) {
        self.indexes.write().unwrap_or_else(PoisonError::into_inner).remove(table);
    }

    fn insert(&self, table: &'static str, index: &str) {
        self.indexes.write().unwrap_or_else(PoisonError::into_inner).insert(table, index.into());
    }

    /// Removes an index that another process changed or dropped, and wakes the builder.
    fn mark_stale(&self, table: &str) {
        self.remove(table);
        self.stale.notify_one();
    }
}

/// The condition combined with the candidates of the table's index. `None` if the candidates are too many, or if no
/// index serves the condition.
///
/// On SQLite, the candidates are counted first, because its planner does not estimate them. A page of a condition
/// that most records meet is found faster in the order of the list.
///
/// # Errors
/// [`Error::Unavailable`] if the database is away or the statement timed out. After other errors the list is read
/// without the index.
pub async fn narrow(
    ready: &ReadyIndexes,
    db: &Db,
    connection: &Connection,
    entry: &Entry,
    condition: &Condition,
) -> Result<Option<Condition>> {
    if db.dialect() == Dialect::Postgres {
        return narrow_by_ids(db, connection, entry, condition).await;
    }
    let table = entry.meta.table;
    let Some(index) = ready.find(table) else { return Ok(None) };
    let Some(expression) = match_expression(condition, entry.meta.search) else { return Ok(None) };
    let mut sql =
        Sql::new(Dialect::Sqlite, format!("WITH charter_limit(n) AS (SELECT MIN({MAX_CANDIDATES}, COALESCE("));
    counts::write_live_count(&mut sql, table);
    sql.push(&format!(", 0) / {MIN_ROWS_PER_CANDIDATE})) SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM "));
    sql.name(&index).push(" WHERE ").name(&index).push(" MATCH ").bind(expression.as_str());
    sql.push(" LIMIT (SELECT n + 1 FROM charter_limit))) <= (SELECT n FROM charter_limit) AS \"few\", ");
    write_has_triggers(&mut sql, &index);
    sql.push(" AS \"has_triggers\"");
    let status = match db.rows(connection, sql).await {
        Ok(rows) => rows.first().map(|row| Ok::<_, DbErr>((row.integer(0)? != 0, row.integer(1)? != 0))).transpose()?,
        Err(Error::Unavailable(what)) if what != INDEX_REBUILDING => return Err(Error::Unavailable(what)),
        Err(error) => {
            tracing::error!(%error, index = &*index, "FTS index query failed; searching without the index");
            None
        }
    };
    match status {
        Some((true, true)) => Ok(Some(Condition::Candidates { index, expression }.and(condition.clone()))),
        Some((false, true)) => Ok(None),
        Some((_, false)) | None => {
            ready.mark_stale(table);
            Ok(None)
        }
    }
}

/// The condition combined with the ids of the candidates on PostgreSQL, if they are at most [`MAX_CANDIDATE_IDS`].
///
/// The LIMIT is a subquery, for which the planner assumes a tenth of the rows. For a constant it could choose to scan
/// the table from its beginning.
async fn narrow_by_ids(
    db: &Db,
    connection: &Connection,
    entry: &Entry,
    condition: &Condition,
) -> Result<Option<Condition>> {
    let Some(part) = indexed_condition(condition, entry.meta.search) else { return Ok(None) };
    let mut sql = Sql::new(Dialect::Postgres, "SELECT t.\"id\"");
    write_from(&mut sql, entry.meta.table, &[]);
    write_condition(sql.push(" WHERE "), &part);
    sql.push(&format!(" LIMIT (SELECT {})", MAX_CANDIDATE_IDS + 1));
    let rows = db.rows(connection, sql.with_custom_plan()).await?;
    if rows.len() > MAX_CANDIDATE_IDS {
        return Ok(None);
    }
    let ids = rows.iter().map(|row| row.integer(0)).collect::<Result<Vec<i64>, DbErr>>()?;
    Ok(Some(Condition::Ids(ids).and(condition.clone())))
}
