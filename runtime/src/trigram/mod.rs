//! Substrings on SQLite: for each resource with `search` an index of trigrams (FTS5) beside its table, which the server
//! makes and triggers keep; and what a list asks of it.
//!
//! On PostgreSQL migrations create the trigram indexes (`pg_trgm`). Its planner does not know how many rows hold a text: for a rare
//! one it may walk a million rows in the order of the list. A list therefore reads the ids of the candidates first, if they are few.

mod build;
mod index;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

pub use build::{build_missing, drop_all, keep_built};
use tokio::sync::Notify;

use sea_orm::DbErr;

use crate::catalog::Entry;
use crate::context::Context;
use crate::counts;
use crate::db::{Dialect, Sql};
use crate::error::{Error, INDEX_REBUILDING, Result};
use crate::query::{Condition, indexed_condition, match_expression, write_condition, write_has_triggers};
use crate::record::write_from;

/// On PostgreSQL, a list of at most this many candidates is read by their ids.
const MAX_CANDIDATE_IDS: usize = 1_000;

/// An index that finds more is not asked: to look up each of them would take as long as to look at all.
const MAX_CANDIDATES: i64 = 20_000;

/// Nor one that finds more than one in so many.
const MIN_ROWS_PER_CANDIDATE: i64 = 16;

/// The indexes that are complete, by the table whose texts they hold.
#[derive(Debug, Default)]
pub struct ReadyIndexes {
    indexes: RwLock<BTreeMap<&'static str, Arc<str>>>,
    /// Told when one is not any more.
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

    /// Somebody else changed or dropped it.
    fn mark_stale(&self, table: &str) {
        self.remove(table);
        self.stale.notify_one();
    }
}

/// The condition, narrowed to what the index of its table finds, where that is few: what meets it is the same. Nothing
/// where it is not, or where there is no index.
///
/// How many that are is asked first, since SQLite's planner does not know: a page of what nearly every record meets is
/// found sooner in the order of the list.
///
/// # Errors
/// [`Error::Unavailable`] when the database is away, or was asked for too long. What else the index cannot answer is read without it.
pub async fn narrow(context: &Context<'_>, entry: &Entry, condition: &Condition) -> Result<Option<Condition>> {
    if context.state().db.dialect() == Dialect::Postgres {
        return narrow_by_ids(context, entry, condition).await;
    }
    let (table, complete) = (entry.meta.table, &context.state().substring_indexes);
    let Some(index) = complete.find(table) else { return Ok(None) };
    let Some(expression) = match_expression(condition, entry.meta.search) else { return Ok(None) };
    let mut sql = Sql::new(Dialect::Sqlite, format!("WITH charter_most(n) AS (SELECT MIN({MAX_CANDIDATES}, COALESCE("));
    counts::write_live_count(&mut sql, table);
    sql.push(&format!(", 0) / {MIN_ROWS_PER_CANDIDATE})) SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM "));
    sql.name(&index).push(" WHERE ").name(&index).push(" MATCH ").bind(expression.as_str());
    sql.push(" LIMIT (SELECT n + 1 FROM charter_most))) <= (SELECT n FROM charter_most) AS \"few\", ");
    write_has_triggers(&mut sql, &index);
    sql.push(" AS \"kept\"");
    let told = match context.read(sql).await {
        Ok(rows) => rows.first().map(|row| Ok::<_, DbErr>((row.integer(0)? != 0, row.integer(1)? != 0))).transpose()?,
        Err(Error::Unavailable(what)) if what != INDEX_REBUILDING => return Err(Error::Unavailable(what)),
        Err(error) => {
            tracing::error!(%error, index = &*index, "an index of substrings does not answer");
            None
        }
    };
    match told {
        Some((true, true)) => Ok(Some(Condition::Candidates { index, expression }.and(condition.clone()))),
        Some((false, true)) => Ok(None),
        Some((_, false)) | None => {
            complete.mark_stale(table);
            Ok(None)
        }
    }
}

/// The condition with the ids of the candidates on PostgreSQL, if they are at most [`MAX_CANDIDATE_IDS`].
///
/// The limit is a subquery, for which the planner assumes that it reads a tenth of what it finds: for a constant it might read the
/// table from its beginning, in the hope to find enough soon.
async fn narrow_by_ids(context: &Context<'_>, entry: &Entry, condition: &Condition) -> Result<Option<Condition>> {
    let Some(part) = indexed_condition(condition, entry.meta.search) else { return Ok(None) };
    let mut sql = Sql::new(Dialect::Postgres, "SELECT t.\"id\"");
    write_from(&mut sql, entry.meta.table, &[]);
    write_condition(sql.push(" WHERE "), &part);
    sql.push(&format!(" LIMIT (SELECT {})", MAX_CANDIDATE_IDS + 1));
    let rows = context.read(sql.with_custom_plan()).await?;
    if rows.len() > MAX_CANDIDATE_IDS {
        return Ok(None);
    }
    let ids = rows.iter().map(|row| row.integer(0)).collect::<Result<Vec<i64>, DbErr>>()?;
    Ok(Some(Condition::Ids(ids).and(condition.clone())))
}
