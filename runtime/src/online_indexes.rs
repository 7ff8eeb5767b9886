//! The indexes that no migration makes, but the server beside its requests: one set for each definition of a custom field,
//! dropped when it has gone, and one of the deleted records of each table that keeps them.
//!
//! Nothing is noted anywhere: what should be there follows from the definitions and the metadata, what is there from the
//! database. So a server that starts finds what is missing, whoever was interrupted, and the name of an index holds a
//! fingerprint of its statement, so that another spelling of a later release makes it anew.
//!
//! On SQLite the indexes of texts and decimals depend on functions that the application brings (`db/functions.rs`).

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

/// What the name of an index of deleted records begins with.
const TRASH_INDEX_PREFIX: &str = "deleted_of_";

/// How long another process is given before it is asked again whether it is done.
const LOCK_TIMEOUT: Duration = Duration::from_millis(500);

/// Tells the task that keeps the indexes that a definition has changed, and who remembers definitions how often.
#[derive(Debug, Default)]
pub struct ChangeSignal(Notify, AtomicU64);

impl ChangeSignal {
    pub(crate) fn notify(&self) {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.notify_one();
    }

    /// What was read while this was the same is as it was, but for what other processes do.
    pub fn count(&self) -> u64 {
        self.1.load(Ordering::SeqCst)
    }
}

/// So long it takes until it is looked at again, unless a definition changes: what the database refused is tried again, and
/// what another process left half-done is done.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);

/// Keeps the indexes as the definitions want them, for as long as the server runs.
pub async fn keep_built(state: Arc<State>) {
    loop {
        let settled = reconcile(&state).await;
        state.metrics.tasks.round("indexes", &settled);
        if let Err(error) = settled {
            tracing::error!(%error, "the indexes of custom fields and deleted records are not as they should be; lists are slower");
        }
        let _ = tokio::time::timeout(RETRY_INTERVAL, state.custom_fields_changed.0.notified()).await;
    }
}

/// Makes what is missing and drops what is no longer wanted. Nothing is locked when there is nothing to do.
///
/// # Errors
/// When the database refuses a statement; the others have run.
pub async fn reconcile(state: &State) -> Result<()> {
    if Difference::read(state).await?.is_empty() {
        return Ok(());
    }
    match state.db.dialect() {
        // One connection writes, and IF EXISTS takes another process for done.
        Dialect::Sqlite => {
            let difference = Difference::read(state).await?;
            let mut refused = Ok(());
            for statement in difference.statements("") {
                if let Err(error) = state.db.writer().execute_unprepared(&statement).await {
                    refused = Err(error.into());
                }
            }
            refused
        }
        Dialect::Postgres => reconcile_postgres(state).await,
    }
}

/// Without stopping those who write: `CONCURRENTLY`, on connections of its own, because it takes as long as it takes.
async fn reconcile_postgres(state: &State) -> Result<()> {
    let options = state.db.postgres_options().ok_or_else(|| Error::internal("PostgreSQL without options"))?;
    // The lock is a transaction's, because a session may be somebody else's in a moment: a pooler stands between.
    let mut holder = options.connect().await.map_err(refused)?;
    let ask = Lock::Index.try_lock_sql();
    // Asked, not waited for: who waits in a statement holds a snapshot, for whose end CONCURRENTLY waits.
    let lock = loop {
        let mut lock = holder.begin().await.map_err(refused)?;
        let answer = lock.fetch_one(AssertSqlSafe(ask.clone())).await.map_err(refused)?;
        if answer.try_get(0).map_err(refused)? {
            lock.execute(AssertSqlSafe(WITHOUT_TIMEOUT)).await.map_err(refused)?;
            break lock;
        }
        lock.rollback().await.map_err(refused)?;
        tokio::time::sleep(LOCK_TIMEOUT).await;
    };
    let mut connection = options.connect().await.map_err(refused)?;
    // Another process may have been at it meanwhile.
    let difference = Difference::read(state).await?;
    let mut done = Ok(());
    for statement in difference.statements(" CONCURRENTLY") {
        if let Err(error) = run(&mut connection, &statement).await {
            done = Err(error);
        }
    }
    // What the planner knows of an expression comes from its index.
    for table in difference.missing.values().map(|index| index.table).collect::<BTreeSet<_>>() {
        if let Err(error) = run(&mut connection, &format!("ANALYZE \"{table}\"")).await {
            done = Err(error);
        }
    }
    connection.close().await.map_err(refused)?;
    lock.commit().await.map_err(refused)?;
    holder.close().await.map_err(refused)?;
    done
}

async fn run(connection: &mut PgConnection, statement: &str) -> Result<()> {
    connection.execute(AssertSqlSafe(statement.to_string())).await.map(drop).map_err(refused)
}

fn refused(error: sea_orm::SqlxError) -> Error {
    Error::internal(error)
}

/// What is to be made and what is to be dropped.
#[derive(Debug)]
struct Difference {
    missing: BTreeMap<String, Index>,
    stray: Vec<String>,
}

#[derive(Debug)]
struct Index {
    table: &'static str,
    /// What stands behind the name: `ON "products" (…)`.
    rest: String,
}

impl Difference {
    async fn read(state: &State) -> Result<Difference> {
        let definitions = Entity::find().all(state.db.reader()).await?;
        let mut missing = desired(state, &definitions);
        let mut stray = Vec::new();
        for name in existing(state).await? {
            // One that is there but not valid was being made when its process ended.
            match name.strip_prefix('!') {
                Some(broken) => stray.push(broken.to_string()),
                None if missing.remove(&name).is_some() => {}
                None => stray.push(name),
            }
        }
        Ok(Difference { missing, stray })
    }

    fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.stray.is_empty()
    }

    fn statements(&self, how: &str) -> Vec<String> {
        let drops = self.stray.iter().map(|name| format!("DROP INDEX{how} IF EXISTS \"{name}\""));
        let makes = self.missing.iter();
        drops.chain(makes.map(|(name, i)| format!("CREATE INDEX{how} IF NOT EXISTS \"{name}\" {}", i.rest))).collect()
    }
}

/// The indexes that the metadata and the definitions want, by name.
fn desired(state: &State, definitions: &[Model]) -> BTreeMap<String, Index> {
    let mut wanted = BTreeMap::new();
    for table in state.catalog.entries().iter().filter(|e| e.meta.keeps_deleted()).map(|e| e.meta.table) {
        // SQLite finds by its columns which indexes go with the mark.
        let rest = format!("ON \"{table}\" (\"id\", \"deleted_at\") WHERE \"deleted_at\" IS NOT NULL");
        wanted.insert(format!("{TRASH_INDEX_PREFIX}{table:.40}_{:08x}", hash(&rest)), Index { table, rest });
    }
    for definition in definitions {
        let Some(entry) = state.catalog.by_plural(&definition.entity_type).filter(|e| e.meta.custom_fields) else {
            continue;
        };
        let Some(kind) = CustomFieldType::from_name(&definition.field_type) else { continue };
        for index in indexes(state.db.dialect(), &definition.name, kind.compared_as()) {
            let rest = format!("ON \"{}\" ({}){}", entry.meta.table, index.keys, rows(state.db.dialect(), entry));
            let name = format!("cf_{}_{}_{:08x}", definition.id, index.letter, fingerprint(&rest));
            wanted.insert(name, Index { table: entry.meta.table, rest });
        }
    }
    wanted
}

/// SQLite answers from an index alone when it holds only what is not deleted. PostgreSQL never does that with
/// expressions, and keeps statistics of them only for an index over all rows.
fn rows(dialect: Dialect, entry: &Entry) -> &'static str {
    if dialect == Dialect::Sqlite && entry.meta.soft_delete { " WHERE \"deleted_at\" IS NULL" } else { "" }
}

/// FNV-1a of a statement, and of the tables by which the application folds text.
fn fingerprint(statement: &str) -> u32 {
    let (major, minor, update) = char::UNICODE_VERSION;
    hash(&format!("{statement} {major}.{minor}.{update}"))
}

/// FNV-1a.
pub(crate) fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The names of the indexes of ours that are there; a `!` stands before one that is not valid.
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
    Ok(names.into_iter().filter(|name| is_ours(name.trim_start_matches('!'))).collect())
}

/// Whether the server keeps this index itself: `cf_17_a_1f3c9a2b`, `deleted_of_products_1f3c9a2b`.
pub(crate) fn is_ours(name: &str) -> bool {
    let is_print = |print: &str| print.len() == 8 && u32::from_str_radix(print, 16).is_ok();
    if let Some((_, print)) = name.strip_prefix(TRASH_INDEX_PREFIX).and_then(|rest| rest.rsplit_once('_')) {
        return is_print(print);
    }
    let parts: Vec<&str> = name.split('_').collect();
    matches!(parts[..], ["cf", id, letter, print] if id.parse::<i64>().is_ok() && letter.len() == 1
        && is_print(print))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::custom_field::TYPES;

    #[test]
    fn the_indexes_that_are_made_here_are_told_from_others_by_their_names() {
        assert!(is_ours("cf_17_a_1f3c9a2b") && is_ours("deleted_of_stock_levels_1f3c9a2b"));
        for other in [
            "products_name_idx",
            "cf_power_a_1f3c9a2b",
            "cf_17_ab_1f3c9a2b",
            "cf_17_a_xyz",
            "cf_17_a",
            "deleted_of_products",
        ] {
            assert!(!is_ours(other), "{other}");
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
