//! Lock timeout and retry of migrations on PostgreSQL, and the write lock of SQLite.
//!
//! A statement that waits for a table lock blocks all later statements on that table, and can deadlock with transactions
//! that write. A migration therefore waits 500 ms for a lock, which is less than `deadlock_timeout` (one second), then
//! rolls back and starts again.

use sea_orm_migration::SchemaManager;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbErr, RuntimeErr};

const LOCK_TIMEOUT_MS: u32 = 500;
/// With the waits between them, about five minutes.
const MAX_ATTEMPTS: u32 = 100;
/// The wait after attempt `n` is `n` times as long, up to [`MAX_BACKOFF_MS`].
const BACKOFF_STEP_MS: u32 = 50;
const MAX_BACKOFF_MS: u32 = 2500;

/// The attempts to run one transaction or savepoint.
#[derive(Default)]
pub struct LockRetry {
    attempts: u32,
}

impl LockRetry {
    /// Sets the lock timeout of a transaction, and lifts a statement timeout that the role may have.
    pub async fn set_timeouts(&self, connection: &impl ConnectionTrait) -> Result<(), DbErr> {
        let timeouts = format!("SET LOCAL lock_timeout = {LOCK_TIMEOUT_MS}; SET LOCAL statement_timeout = 0");
        connection.execute_unprepared(&timeouts).await.map(|_| ())
    }

    /// Waits before the next attempt. The caller has rolled back the transaction.
    ///
    /// # Errors
    /// Returns `error` if it is no lock conflict, or if this was the last attempt.
    pub async fn back_off(&mut self, connection: &impl ConnectionTrait, error: DbErr) -> Result<(), DbErr> {
        self.attempts += 1;
        if !is_lock_conflict(&error) || self.attempts == MAX_ATTEMPTS {
            return Err(error);
        }
        let wait = (self.attempts * BACKOFF_STEP_MS).min(MAX_BACKOFF_MS);
        // The server sleeps, because this crate does not depend on an async runtime.
        let sleep = format!("SELECT pg_sleep({}.{:03})", wait / 1000, wait % 1000);
        connection.execute_unprepared(&sleep).await.map(|_| ())
    }
}

/// Acquires the write lock of SQLite at the start of a transaction, waiting for the current writer.
///
/// A transaction that starts with a read fails with `SQLITE_BUSY` at its first write if another connection has written
/// since. This pragma acquires the lock without naming a table, and changes nothing: the databases of Charter do not use
/// incremental vacuum.
pub async fn acquire_write_lock(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    manager.get_connection().execute_unprepared("PRAGMA incremental_vacuum(1)").await.map(|_| ())
}

/// Returns true for the SQLSTATEs of `lock_not_available` and `deadlock_detected`.
fn is_lock_conflict(error: &DbErr) -> bool {
    let (DbErr::Exec(RuntimeErr::SqlxError(error)) | DbErr::Query(RuntimeErr::SqlxError(error))) = error else {
        return false;
    };
    let code = error.as_database_error().and_then(|error| error.code());
    code.is_some_and(|code| code == "55P03" || code == "40P01")
}
