//! Indexes that the server creates in the background instead of a migration: those of each custom field, dropped with
//! its definition, and one of the soft-deleted records of each table.
//!
//! There is no bookkeeping: the desired indexes follow from the definitions and the metadata, the existing ones from
//! the database, and every start reconciles them. The name of an index has a hash of its statement, which makes a
//! release with another statement recreate it.
//!
//! On SQLite, indexes of texts and decimals use functions of the application (`db/functions.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sea_orm::ConnectionTrait;
use sea_orm::sqlx::{AssertSqlSafe, ConnectOptions, Connection as _, Executor, PgConnection, Row};
use tokio::sync::Notify;

use crate::catalog::{Catalog, Entry};
use crate::custom_field::{self, CustomFieldType, Definition};
use crate::db::{Db, Dialect, Lock, Sql, WITHOUT_TIMEOUT};
use crate::error::{Error, Result};
use crate::hash::fnv1a;
use crate::metrics::Tasks;
use crate::query::indexes;

/// Name prefix of the indexes of soft-deleted records.
const DELETED_PREFIX: &str = "deleted_of_";

/// Pause between two tries to get the lock from another process.
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Signals that a definition of a custom field has changed, and counts the changes for caches.
#[derive(Debug, Default)]
pub struct ChangeSignal(Notify, AtomicU64);

impl ChangeSignal {
    pub fn notify(&self) {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.notify_one();
    }

    /// The current version. Changes by other processes do not increase it.
    pub fn version(&self) -> u64 {
        self.1.load(Ordering::SeqCst)
    }
}

/// Interval between two runs, unless a definition changes: it retries failed statements and finishes the work of other
/// processes.
const RECONCILE_INTERVAL: Duration = Duration::from_secs(60);

/// Reconciles the indexes for as long as the server runs.
pub async fn run(db: &Db, catalog: &Catalog, definitions: &ChangeSignal, tasks: &Tasks) {
    loop {
        let reconciled = reconcile(db, catalog).await;
        tasks.round("indexes", &reconciled);
        if let Err(error) = reconciled {
            tracing::error!(%error, "could not create or drop indexes of custom fields and deleted records; lists may be slower");
        }
        let _ = tokio::time::timeout(RECONCILE_INTERVAL, definitions.0.notified()).await;
    }
}

/// Creates missing indexes and drops obsolete ones. Takes no lock if there is nothing to do.
///
/// # Errors
/// If the database rejects a statement; the others were executed.
pub async fn reconcile(db: &Db, catalog: &Catalog) -> Result<()> {
    if IndexDiff::read(db, catalog).await?.is_empty() {
        return Ok(());
    }
    match db.dialect() {
        // SQLite has a single writer, and IF EXISTS covers another process.
        Dialect::Sqlite => {
            let diff = IndexDiff::read(db, catalog).await?;
            let mut result = Ok(());
            for statement in diff.statements("") {
                if let Err(error) = db.writer().execute_unprepared(&statement).await {
                    result = Err(error.into());
                }
            }
            result
        }
        Dialect::Postgres => reconcile_postgres(db, catalog).await,
    }
}

/// Uses `CONCURRENTLY`, which does not block writes, on separate connections, because it may take long.
async fn reconcile_postgres(db: &Db, catalog: &Catalog) -> Result<()> {
    let options = db.postgres_options().ok_or_else(|| Error::internal("PostgreSQL without options"))?;
    // A transaction-level lock, because a pooler may give the session to another client.
    let mut holder = options.connect().await.map_err(sqlx_error)?;
    let try_lock = Lock::Index.try_lock_sql();
    // Polled: a statement that waits for the lock would hold a snapshot, for which CONCURRENTLY waits.
    let lock = loop {
        let mut lock = holder.begin().await.map_err(sqlx_error)?;
        let answer = lock.fetch_one(AssertSqlSafe(try_lock.clone())).await.map_err(sqlx_error)?;
        if answer.try_get(0).map_err(sqlx_error)? {
            lock.execute(AssertSqlSafe(WITHOUT_TIMEOUT)).await.map_err(sqlx_error)?;
            break lock;
        }
        lock.rollback().await.map_err(sqlx_error)?;
        tokio::time::sleep(LOCK_POLL_INTERVAL).await;
    };
    let mut connection = options.connect().await.map_err(sqlx_error)?;
    // Another process may have created indexes in the meantime.
    let diff = IndexDiff::read(db, catalog).await?;
    let mut result = Ok(());
    for statement in diff.statements(" CONCURRENTLY") {
        if let Err(error) = execute(&mut connection, &statement).await {
            result = Err(error);
        }
    }
    // PostgreSQL keeps the statistics of an expression with its index.
    for table in diff.missing.values().map(|index| index.table).collect::<BTreeSet<_>>() {
        if let Err(error) = execute(&mut connection, &format!("ANALYZE \"{table}\"")).await {
            result = Err(error);
        }
    }
    connection.close().await.map_err(sqlx_error)?;
    lock.commit().await.map_err(sqlx_error)?;
    holder.close().await.map_err(sqlx_error)?;
    result
}

async fn execute(connection: &mut PgConnection, statement: &str) -> Result<()> {
    connection.execute(AssertSqlSafe(statement.to_string())).await.map(drop).map_err(sqlx_error)
}

fn sqlx_error(error: sea_orm::SqlxError) -> Error {
    Error::internal(error)
}

/// Indexes to create and to drop.
#[derive(Debug)]
struct IndexDiff {
    missing: BTreeMap<String, Index>,
    obsolete: Vec<String>,
}

#[derive(Debug)]
struct Index {
    table: &'static str,
    /// The statement after the name: `ON "products" (…)`.
    rest: String,
}

impl IndexDiff {
    async fn read(db: &Db, catalog: &Catalog) -> Result<IndexDiff> {
        let definitions = custom_field::load_all(db.reader()).await?;
        let mut missing = desired_indexes(db, catalog, &definitions);
        let mut obsolete = Vec::new();
        for name in existing_indexes(db).await? {
            // An invalid index was left by an interrupted creation.
            match name.strip_prefix('!') {
                Some(broken) => obsolete.push(broken.to_string()),
                None if missing.remove(&name).is_some() => {}
                None => obsolete.push(name),
            }
        }
        Ok(IndexDiff { missing, obsolete })
    }

    fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.obsolete.is_empty()
    }

    fn statements(&self, how: &str) -> Vec<String> {
        let drops = self.obsolete.iter().map(|name| format!("DROP INDEX{how} IF EXISTS \"{name}\""));
        let makes = self.missing.iter();
        drops.chain(makes.map(|(name, i)| format!("CREATE INDEX{how} IF NOT EXISTS \"{name}\" {}", i.rest))).collect()
    }
}

/// The indexes by name that the metadata and the definitions require.
fn desired_indexes(db: &Db, catalog: &Catalog, definitions: &[Definition]) -> BTreeMap<String, Index> {
    let mut desired = BTreeMap::new();
    for table in catalog.entries().iter().filter(|e| e.meta.keeps_deleted()).map(|e| e.meta.table) {
        // SQLite detects by its columns which indexes depend on `deleted_at`.
        let rest = format!("ON \"{table}\" (\"id\", \"deleted_at\") WHERE \"deleted_at\" IS NOT NULL");
        desired.insert(format!("{DELETED_PREFIX}{table:.40}_{:08x}", fnv1a(&rest)), Index { table, rest });
    }
    for definition in definitions {
        let Some(entry) = catalog.by_plural(&definition.entity_type).filter(|e| e.meta.custom_fields) else {
            continue;
        };
        let Some(kind) = CustomFieldType::from_name(&definition.field_type) else { continue };
        for index in indexes(db.dialect(), &definition.name, kind.comparison_type()) {
            let rest = format!("ON \"{}\" ({}){}", entry.meta.table, index.keys, row_filter(db.dialect(), entry));
            let name = format!("cf_{}_{}_{:08x}", definition.id, index.letter, fingerprint(&rest));
            desired.insert(name, Index { table: entry.meta.table, rest });
        }
    }
    desired
}

/// With deleted rows excluded, SQLite answers from the index alone. PostgreSQL never does that with expressions, and keeps
/// their statistics only for an index of all rows.
fn row_filter(dialect: Dialect, entry: &Entry) -> &'static str {
    if dialect == Dialect::Sqlite && entry.meta.soft_delete { " WHERE \"deleted_at\" IS NULL" } else { "" }
}

/// FNV-1a hash of a statement and of the Unicode version, which determines case folding.
fn fingerprint(statement: &str) -> u32 {
    let (major, minor, update) = char::UNICODE_VERSION;
    fnv1a(&format!("{statement} {major}.{minor}.{update}"))
}

/// Names of the existing managed indexes, with the prefix `!` for an invalid one.
async fn existing_indexes(db: &Db) -> Result<Vec<String>> {
    let text = match db.dialect() {
        Dialect::Sqlite => "SELECT name AS \"name\" FROM sqlite_master WHERE type = 'index'",
        Dialect::Postgres => {
            "SELECT CASE WHEN i.indisvalid THEN '' ELSE '!' END || c.relname AS \"name\"
             FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE pg_table_is_visible(c.oid)"
        }
    };
    let rows = Sql::new(db.dialect(), text).all(db.reader()).await?;
    let names: Vec<String> = rows.iter().map(|row| row.try_get("", "name")).collect::<Result<_, _>>()?;
    Ok(names.into_iter().filter(|name| is_managed(name.trim_start_matches('!'))).collect())
}

/// Reports whether the server manages this index: `cf_17_a_1f3c9a2b`, `deleted_of_products_1f3c9a2b`.
pub fn is_managed(name: &str) -> bool {
    let is_hash = |hash_text: &str| hash_text.len() == 8 && u32::from_str_radix(hash_text, 16).is_ok();
    if let Some((_, hash_text)) = name.strip_prefix(DELETED_PREFIX).and_then(|rest| rest.rsplit_once('_')) {
        return is_hash(hash_text);
    }
    let parts: Vec<&str> = name.split('_').collect();
    matches!(parts[..], ["cf", id, letter, hash_text] if id.parse::<i64>().is_ok() && letter.len() == 1
        && is_hash(hash_text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::custom_field::TYPES;

    #[test]
    fn managed_indexes_are_recognized_by_name() {
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
        for (kind, word, ..) in TYPES {
            for dialect in [Dialect::Sqlite, Dialect::Postgres] {
                let letters: Vec<char> =
                    indexes(dialect, "x", kind.comparison_type()).iter().map(|index| index.letter).collect();
                assert!(letters.contains(&'a') && letters.contains(&'d'), "{word}");
            }
        }
    }
}
