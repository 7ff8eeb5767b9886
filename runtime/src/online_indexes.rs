//! Background creation of indexes without a migration: a set per custom field definition, dropped with the
//! definition, and one index of the deleted records of each table with soft delete.
//!
//! There is no stored state: the desired indexes follow from the definitions and the metadata, the existing ones from
//! the database. A restart therefore completes what was interrupted. Index names contain a hash of their statement,
//! so that a release with another statement replaces them.
//!
//! On SQLite, the indexes of text and decimals use functions that the application registers
//! (`db/sqlite_functions.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sea_orm::sqlx::{AssertSqlSafe, ConnectOptions, Connection as _, Executor, PgConnection, Row};
use sea_orm::{ConnectionTrait, EntityTrait};
use tokio::sync::Notify;

use crate::catalog::Entry;
use crate::context::State;
use crate::custom_field::{CustomFieldType, Entity, Model};
use crate::db::{Dialect, Lock, Sql, WITHOUT_TIMEOUT};
use crate::error::{Error, Result};
use crate::query::indexes;

/// Name prefix of the indexes of deleted records.
const TRASH_INDEX_PREFIX: &str = "deleted_of_";

/// Pause before the lock of another process is tried again.
const LOCK_TIMEOUT: Duration = Duration::from_millis(500);

/// Wakes the background task after a change of a definition, and counts the changes for caches of definitions.
#[derive(Debug, Default)]
pub struct ChangeSignal(Notify, AtomicU64);

impl ChangeSignal {
    pub(crate) fn notify(&self) {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.notify_one();
    }

    /// Number of changes in this process. Cached definitions are current while it stays the same, except for changes
    /// by other processes.
    pub fn count(&self) -> u64 {
        self.1.load(Ordering::SeqCst)
    }
}

/// Interval for retrying rejected statements and completing what another process left, if no definition changes.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);

/// Keeps the indexes up to date until the task is aborted.
pub async fn keep_built(state: Arc<State>) {
    loop {
        let result = reconcile(&state).await;
        state.metrics.tasks.round("indexes", &result);
        if let Err(error) = result {
            tracing::error!(%error, "could not update the indexes of custom fields and deleted records; lists are slower until the retry succeeds");
        }
        let _ = tokio::time::timeout(RETRY_INTERVAL, state.custom_fields_changed.0.notified()).await;
    }
}

/// Creates missing indexes and drops unused ones. Takes no lock if there is nothing to do.
///
/// # Errors
/// The last error of a statement. The other statements have run.
pub async fn reconcile(state: &State) -> Result<()> {
    if Difference::read(state).await?.is_empty() {
        return Ok(());
    }
    match state.db.dialect() {
        // The process has one writing connection, and IF EXISTS tolerates another process.
        Dialect::Sqlite => {
            let difference = Difference::read(state).await?;
            let mut result = Ok(());
            for statement in difference.statements("") {
                if let Err(error) = state.db.writer().execute_unprepared(&statement).await {
                    result = Err(error.into());
                }
            }
            result
        }
        Dialect::Postgres => reconcile_postgres(state).await,
    }
}

/// Uses `CONCURRENTLY`, which does not block writers, on connections outside the pool and without a timeout.
async fn reconcile_postgres(state: &State) -> Result<()> {
    let options = state.db.postgres_options().ok_or_else(|| Error::internal("PostgreSQL without options"))?;
    // The lock is transaction-level, because behind a pooler a session can be handed to another client.
    let mut holder = options.connect().await.map_err(query_error)?;
    let try_lock = Lock::Index.try_lock_sql();
    // Polled, because a statement that waits holds a snapshot, and CONCURRENTLY waits for older snapshots.
    let lock = loop {
        let mut lock = holder.begin().await.map_err(query_error)?;
        let row = lock.fetch_one(AssertSqlSafe(try_lock.clone())).await.map_err(query_error)?;
        if row.try_get(0).map_err(query_error)? {
            lock.execute(AssertSqlSafe(WITHOUT_TIMEOUT)).await.map_err(query_error)?;
            break lock;
        }
        lock.rollback().await.map_err(query_error)?;
        tokio::time::sleep(LOCK_TIMEOUT).await;
    };
    let mut connection = options.connect().await.map_err(query_error)?;
    // Another process may have completed the work in the meantime.
    let difference = Difference::read(state).await?;
    let mut result = Ok(());
    for statement in difference.statements(" CONCURRENTLY") {
        if let Err(error) = run(&mut connection, &statement).await {
            result = Err(error);
        }
    }
    // The planner gets statistics of an expression from its index.
    for table in difference.missing.values().map(|index| index.table).collect::<BTreeSet<_>>() {
        if let Err(error) = run(&mut connection, &format!("ANALYZE \"{table}\"")).await {
            result = Err(error);
        }
    }
    connection.close().await.map_err(query_error)?;
    lock.commit().await.map_err(query_error)?;
    holder.close().await.map_err(query_error)?;
    result
}

async fn run(connection: &mut PgConnection, statement: &str) -> Result<()> {
    connection.execute(AssertSqlSafe(statement.to_string())).await.map(drop).map_err(query_error)
}

fn query_error(error: sea_orm::SqlxError) -> Error {
    Error::internal(error)
}

/// The indexes to create and to drop.
#[derive(Debug)]
struct Difference {
    missing: BTreeMap<String, Index>,
    unused: Vec<String>,
}

#[derive(Debug)]
struct Index {
    table: &'static str,
    /// The statement after the name: `ON "products" (…)`.
    body: String,
}

impl Difference {
    async fn read(state: &State) -> Result<Difference> {
        let definitions = Entity::find().all(state.db.reader()).await?;
        let mut missing = desired(state, &definitions);
        let mut unused = Vec::new();
        for name in existing(state).await? {
            // An invalid index is the rest of an interrupted CONCURRENTLY.
            match name.strip_prefix('!') {
                Some(invalid) => unused.push(invalid.to_string()),
                None if missing.remove(&name).is_some() => {}
                None => unused.push(name),
            }
        }
        Ok(Difference { missing, unused })
    }

    fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.unused.is_empty()
    }

    fn statements(&self, option: &str) -> Vec<String> {
        let drops = self.unused.iter().map(|name| format!("DROP INDEX{option} IF EXISTS \"{name}\""));
        let creates = self.missing.iter();
        drops
            .chain(creates.map(|(name, i)| format!("CREATE INDEX{option} IF NOT EXISTS \"{name}\" {}", i.body)))
            .collect()
    }
}

/// The indexes for the metadata and the definitions, by name.
fn desired(state: &State, definitions: &[Model]) -> BTreeMap<String, Index> {
    let mut desired = BTreeMap::new();
    for table in state.catalog.entries().iter().filter(|e| e.meta.keeps_deleted()).map(|e| e.meta.table) {
        // With `deleted_at` as a key, a migration that drops this column on SQLite finds the index by its columns.
        let body = format!("ON \"{table}\" (\"id\", \"deleted_at\") WHERE \"deleted_at\" IS NOT NULL");
        desired.insert(format!("{TRASH_INDEX_PREFIX}{table:.40}_{:08x}", hash(&body)), Index { table, body });
    }
    for definition in definitions {
        let Some(entry) = state.catalog.by_plural(&definition.entity_type).filter(|e| e.meta.custom_fields) else {
            continue;
        };
        let Some(kind) = CustomFieldType::from_name(&definition.field_type) else { continue };
        for index in indexes(state.db.dialect(), &definition.name, kind.compared_as()) {
            let body = format!("ON \"{}\" ({}){}", entry.meta.table, index.keys, row_filter(state.db.dialect(), entry));
            let name = format!("cf_{}_{}_{:08x}", definition.id, index.letter, fingerprint(&body));
            desired.insert(name, Index { table: entry.meta.table, body });
        }
    }
    desired
}

/// SQLite can use an index-only scan if the index excludes deleted records. PostgreSQL has no index-only scans on
/// expressions, and keeps statistics of expressions only for indexes without WHERE.
fn row_filter(dialect: Dialect, entry: &Entry) -> &'static str {
    if dialect == Dialect::Sqlite && entry.meta.soft_delete { " WHERE \"deleted_at\" IS NULL" } else { "" }
}

/// FNV-1a hash of a statement and of the Unicode version for case folding.
fn fingerprint(statement: &str) -> u32 {
    let (major, minor, update) = char::UNICODE_VERSION;
    hash(&format!("{statement} {major}.{minor}.{update}"))
}

/// 32-bit FNV-1a hash.
pub(crate) fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Names of the existing managed indexes. A leading `!` marks an invalid one.
async fn existing(state: &State) -> Result<Vec<String>> {
    let text = match state.db.dialect() {
        Dialect::Sqlite => "SELECT name AS \"name\" FROM sqlite_master WHERE type = 'index'",
        Dialect::Postgres => {
            "SELECT CASE WHEN i.indisvalid THEN '' ELSE '!' END || c.relname AS \"name\"
             FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE pg_table_is_visible(c.oid)"
        }
    };
    let rows = Sql::new(state.db.dialect(), text).all(state.db.reader()).await?;
    let names: Vec<String> = rows.iter().map(|row| row.try_get("", "name")).collect::<Result<_, _>>()?;
    Ok(names.into_iter().filter(|name| is_managed(name.trim_start_matches('!'))).collect())
}

/// True for the names of managed indexes: `cf_17_a_1f3c9a2b`, `deleted_of_products_1f3c9a2b`.
pub(crate) fn is_managed(name: &str) -> bool {
    let is_hash = |hash: &str| hash.len() == 8 && u32::from_str_radix(hash, 16).is_ok();
    if let Some((_, hash)) = name.strip_prefix(TRASH_INDEX_PREFIX).and_then(|rest| rest.rsplit_once('_')) {
        return is_hash(hash);
    }
    let parts: Vec<&str> = name.split('_').collect();
    matches!(parts[..], ["cf", id, letter, hash] if id.parse::<i64>().is_ok() && letter.len() == 1
        && is_hash(hash))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::custom_field::TYPES;

    #[test]
    fn managed_indexes_are_recognized_by_their_names() {
        assert!(is_managed("cf_17_a_1f3c9a2b") && is_managed("deleted_of_stock_levels_1f3c9a2b"));
        for other in [
            "products_name_idx",
            "cf_power_a_1f3c9a2b",
            "cf_17_ab_1f3c9a2b",
            "cf_17_a_xyz",
            "cf_17_a",
            "deleted_of_products",
        ] {
            assert!(!is_managed(other), "{other}");
        }
    }

    #[test]
    fn every_type_has_indexes_in_both_directions() {
        for (word, kind) in TYPES {
            for dialect in [Dialect::Sqlite, Dialect::Postgres] {
                let letters: Vec<char> =
                    indexes(dialect, "x", kind.compared_as()).iter().map(|index| index.letter).collect();
                assert!(letters.contains(&'a') && letters.contains(&'d'), "{word}");
            }
        }
    }
}
