//! Builds the trigram indexes, one transaction an index, while the server serves.
//!
//! Nothing is noted anywhere: a transaction leaves a complete index or none. Writes wait meanwhile, and lists are read without the
//! index.

use std::time::{Duration, Instant};

use super::index::{Index, drop_index, names};
use crate::catalog::Catalog;
use crate::context::State;
use crate::db::{Connection, Db, Dialect};
use crate::error::Result;

/// Pause before a build that the database refused is tried again, such as one that waited too long for another process to write.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// Keeps the indexes for as long as the server runs. Until one is complete, lists do without.
pub async fn keep_built(state: &State) {
    if let Err(error) = drop_unused(state).await {
        tracing::warn!(%error, "an index of substrings that nobody asks stays");
    }
    let mut others = OtherIndex::Replace;
    loop {
        let settled = build_all(state, others).await;
        state.metrics.tasks.round("search", &settled);
        match settled {
            Ok(()) => {
                others = OtherIndex::Keep;
                state.substring_indexes.stale.notified().await;
            }
            Err(error) => {
                tracing::warn!(%error, "a trigram index is not built and is tried again; searches are slower meanwhile");
                tokio::time::sleep(RETRY_INTERVAL).await;
            }
        }
    }
}

/// What becomes of an index that another release made of the same table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OtherIndex {
    /// This one takes its place: who starts last is the later release.
    Replace,
    /// This one does without.
    Keep,
}

/// Drops the indexes of tables that nobody searches any more.
async fn drop_unused(state: &State) -> Result<()> {
    if state.db.dialect() == Dialect::Postgres {
        return Ok(());
    }
    let wanted: Vec<Index> = state.catalog.entries().iter().filter_map(Index::of).collect();
    for name in names(state.db.reader(), None).await? {
        if !wanted.iter().any(|index| index.is_same_table(&name)) {
            drop_alone(&state.db, &name).await?;
        }
    }
    Ok(())
}

async fn drop_alone(db: &Db, name: &str) -> Result<()> {
    let transaction = db.begin_without_timeout().await?;
    drop_index(&transaction, name).await?;
    transaction.commit().await
}

/// Makes the indexes that are missing on SQLite, in place of those of another release.
///
/// # Errors
/// When the database refuses a statement; the others have run.
pub async fn build_missing(state: &State) -> Result<()> {
    build_all(state, OtherIndex::Replace).await
}

async fn build_all(state: &State, others: OtherIndex) -> Result<()> {
    let mut done = Ok(());
    if state.db.dialect() == Dialect::Postgres {
        return done;
    }
    for index in state.catalog.entries().iter().filter_map(Index::of) {
        match index.build(state, others).await {
            Ok(true) => state.substring_indexes.insert(index.table, &index.name),
            Ok(false) => {}
            Err(error) => done = Err(error),
        }
    }
    done
}

/// Drops the indexes of all tables, or of the resource with this plural name: servers that run do without, and the next
/// one that starts makes them anew.
///
/// # Errors
/// When the database fails.
pub async fn drop_all(db: &Db, catalog: &Catalog, plural: Option<&str>) -> Result<()> {
    if db.dialect() == Dialect::Postgres {
        return Ok(());
    }
    let entries = catalog.entries().iter().filter(|entry| plural.is_none_or(|plural| entry.meta.plural == plural));
    for table in entries.map(|entry| entry.meta.table) {
        for name in names(db.reader(), Some(table)).await? {
            drop_alone(db, &name).await?;
        }
    }
    Ok(())
}

impl Index {
    /// Builds the index unless it is complete. Returns whether it is there: a later release may have put its own in its place.
    async fn build(&self, state: &State, others: OtherIndex) -> Result<bool> {
        if let Some(is_there) = self.is_built(state.db.reader(), others).await? {
            return Ok(is_there);
        }
        state.substring_indexes.remove(self.table);
        let transaction = state.db.begin_without_timeout().await?;
        // Another process may have built it while this one waited for its turn to write.
        if let Some(is_there) = self.is_built(&transaction, others).await? {
            return Ok(is_there);
        }
        let begun = Instant::now();
        // Its triggers are still there where another program dropped the table alone, and then refuse every write.
        drop_index(&transaction, &self.name).await?;
        for name in names(&transaction, Some(self.table)).await? {
            drop_index(&transaction, &name).await?;
        }
        self.create(&transaction).await?;
        transaction.commit().await?;
        let millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        tracing::info!(table = self.table, millis, "a trigram index was built");
        Ok(true)
    }

    /// Whether the index is there, where nothing is left to do; `None` where it must be built.
    async fn is_built(&self, connection: &Connection, others: OtherIndex) -> Result<Option<bool>> {
        let names = names(connection, Some(self.table)).await?;
        let (own, foreign): (Vec<_>, Vec<_>) = names.iter().partition(|name| **name == self.name);
        let is_complete = !own.is_empty() && self.is_complete(connection).await?;
        Ok(match others {
            OtherIndex::Replace if is_complete && foreign.is_empty() => Some(true),
            OtherIndex::Keep if is_complete => Some(true),
            OtherIndex::Keep if own.is_empty() && !foreign.is_empty() => Some(false),
            _ => None,
        })
    }
}
