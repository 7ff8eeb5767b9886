//! Builder of the trigram indexes on SQLite, one transaction per index, while the server runs.
//!
//! There is no stored state: a transaction leaves a complete index or none. During a build, writes wait and lists do
//! without the index.

use std::time::{Duration, Instant};

use super::ReadyIndexes;
use super::index::{Index, drop_index, names};
use crate::catalog::Catalog;
use crate::db::{Connection, Db, Dialect};
use crate::error::Result;
use crate::metrics::Tasks;

/// Pause before a failed build is tried again, for example one that timed out waiting for the write lock.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// Keeps the indexes up to date while the server runs. Lists do without an index that is not complete.
pub async fn build_in_background(ready: &ReadyIndexes, db: &Db, catalog: &Catalog, tasks: &Tasks) {
    if let Err(error) = drop_unused(db, catalog).await {
        tracing::warn!(%error, "could not drop unused FTS index");
    }
    let mut others = OtherIndex::Replace;
    loop {
        let result = build_all(ready, db, catalog, others).await;
        tasks.round("search", &result);
        match result {
            Ok(()) => {
                others = OtherIndex::Keep;
                ready.stale.notified().await;
            }
            Err(error) => {
                tracing::warn!(%error, "could not build a trigram index; retrying, searches are slower until it succeeds");
                tokio::time::sleep(RETRY_INTERVAL).await;
            }
        }
    }
}

/// Policy for an index on the same table from another release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OtherIndex {
    /// Replace it: the process that starts last is the newer release.
    Replace,
    /// Keep it and search without an index of this release.
    Keep,
}

/// Drops the indexes of tables that no longer have `search`.
async fn drop_unused(db: &Db, catalog: &Catalog) -> Result<()> {
    if db.dialect() == Dialect::Postgres {
        return Ok(());
    }
    let desired: Vec<Index> = catalog.entries().iter().filter_map(Index::of).collect();
    for name in names(db.reader(), None).await? {
        if !desired.iter().any(|index| index.is_same_table(&name)) {
            drop_alone(db, &name).await?;
        }
    }
    Ok(())
}

async fn drop_alone(db: &Db, name: &str) -> Result<()> {
    let transaction = db.begin_without_timeout().await?;
    drop_index(&transaction, name).await?;
    transaction.commit().await
}

/// Builds the missing indexes on SQLite and replaces those of other releases.
///
/// # Errors
/// The last error of a build. The other builds have run.
pub async fn build_missing(ready: &ReadyIndexes, db: &Db, catalog: &Catalog) -> Result<()> {
    build_all(ready, db, catalog, OtherIndex::Replace).await
}

async fn build_all(ready: &ReadyIndexes, db: &Db, catalog: &Catalog, others: OtherIndex) -> Result<()> {
    let mut result = Ok(());
    if db.dialect() == Dialect::Postgres {
        return result;
    }
    for index in catalog.entries().iter().filter_map(Index::of) {
        match index.build(ready, db, others).await {
            Ok(true) => ready.insert(index.table, &index.name),
            Ok(false) => {}
            Err(error) => result = Err(error),
        }
    }
    result
}

/// Drops the indexes of all tables, or of the resource with this plural name. Running servers search without them,
/// and the next start rebuilds them.
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
    /// Builds the index unless it is complete. Returns false if another release has its own index instead.
    async fn build(&self, ready: &ReadyIndexes, db: &Db, others: OtherIndex) -> Result<bool> {
        if let Some(is_ready) = self.is_built(db.reader(), others).await? {
            return Ok(is_ready);
        }
        ready.remove(self.table);
        let transaction = db.begin_without_timeout().await?;
        // Another process may have built it while this one waited for the write lock.
        if let Some(is_ready) = self.is_built(&transaction, others).await? {
            return Ok(is_ready);
        }
        let started = Instant::now();
        // If another program dropped only the table, the triggers are left and make every write fail.
        drop_index(&transaction, &self.name).await?;
        for name in names(&transaction, Some(self.table)).await? {
            drop_index(&transaction, &name).await?;
        }
        self.create(&transaction).await?;
        transaction.commit().await?;
        let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        tracing::info!(table = self.table, millis, "built trigram index");
        Ok(true)
    }

    /// True if the index is complete, false if another release's index stays, `None` if it must be built.
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
