//! Statement timeouts, so that abandoned requests do not occupy connections.
//!
//! PostgreSQL enforces the `statement_timeout` of the session. On SQLite, a progress handler checks the clock while a
//! statement runs. Each connection of the driver has its own thread, whose thread-local holds the start of the
//! statement.

use std::cell::Cell;
use std::ffi::{c_int, c_uint, c_void};
use std::io::ErrorKind;
use std::ptr::{NonNull, null_mut};
use std::time::{Duration, Instant};

use rusqlite::ffi;
use sea_orm::sqlx::Connection as _;
use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection};
use sea_orm::sqlx::sqlite::SqliteConnection;
use sea_orm::{ConnectionTrait, DbErr, RuntimeErr, SqlxError};
use tokio::time::timeout;

use super::{ACQUIRE_TIMEOUT, Connection, Db, Dialect};
use crate::error::Result;

/// Steps of SQLite's virtual machine between two checks of the clock: well under a millisecond.
pub(super) const STEPS_BETWEEN_CHECKS: i32 = 1_000;

thread_local! {
    /// Start of the statement that this thread runs.
    static STATEMENT_STARTED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Maximum wait of a request for a lock, such as that of a row that another program changes. A request that waits holds a
/// connection, which others need.
const LOCK_TIMEOUT: Duration = Duration::from_secs(3);

/// Sets the timeouts of statements and locks as startup options.
pub(super) fn with_timeout(options: PgConnectOptions, limit: Duration) -> PgConnectOptions {
    let timeouts = [("statement_timeout", limit), ("lock_timeout", LOCK_TIMEOUT.min(limit))];
    options.options(timeouts.map(|(name, limit)| (name, limit.as_millis().to_string())))
}

/// True if a pooler rejected the startup option (`protocol_violation`).
pub(super) fn is_timeout_refused(error: &SqlxError) -> bool {
    error
        .as_database_error()
        .is_some_and(|e| e.code().as_deref() == Some("08P01") && e.message().contains("startup parameter"))
}

/// Time beyond the statement timeout until an answer counts as lost. It covers the wait for a connection and the
/// network.
pub(super) const ANSWER_GRACE: Duration = ACQUIRE_TIMEOUT.saturating_add(Duration::from_secs(1));

/// Checks a released connection with a ping, which also waits for earlier statements. If it does not answer in time,
/// the pool closes it.
pub(super) async fn is_responsive(connection: &mut PgConnection, limit: Duration) -> Result<bool, SqlxError> {
    match timeout(limit + ANSWER_GRACE, connection.ping()).await {
        Ok(answered) => answered.map(|()| true),
        Err(_) => Err(SqlxError::Io(ErrorKind::TimedOut.into())),
    }
}

/// Error for a statement without an answer.
pub(super) fn no_response() -> DbErr {
    DbErr::Conn(RuntimeErr::Internal("the database does not answer".into()))
}

/// Makes a connection of SQLite end each statement after `limit`.
pub(super) async fn install_on_sqlite(connection: &mut SqliteConnection, limit: Duration) -> Result<(), SqlxError> {
    let mut handle = connection.lock_handle().await?;
    trace(handle.as_raw_handle());
    handle.set_progress_handler(STEPS_BETWEEN_CHECKS, move || elapsed() <= limit);
    Ok(())
}

/// Running time of this thread's statement. If SQLite restarts a statement after a schema change, the trace callback
/// is not called again, thus the time counts from here.
fn elapsed() -> Duration {
    let started = STATEMENT_STARTED.get().unwrap_or_else(Instant::now);
    STATEMENT_STARTED.set(Some(started));
    started.elapsed()
}

fn trace(handle: NonNull<ffi::sqlite3>) {
    let events = ffi::SQLITE_TRACE_STMT | ffi::SQLITE_TRACE_PROFILE;
    // SAFETY: sqlx holds the connection locked for the length of this call. The callback is a plain function, and
    // reads none of its pointers.
    unsafe { ffi::sqlite3_trace_v2(handle.as_ptr(), events as c_uint, Some(on_trace_event), null_mut()) };
}

/// Trace callback, which SQLite calls on the statement's thread at its start and end.
unsafe extern "C" fn on_trace_event(event: c_uint, _: *mut c_void, _: *mut c_void, _: *mut c_void) -> c_int {
    STATEMENT_STARTED.set((event == ffi::SQLITE_TRACE_STMT as c_uint).then(Instant::now));
    0
}

impl Db {
    /// Begins a transaction without timeouts.
    ///
    /// # Errors
    /// When the database is away.
    pub async fn begin_without_timeout(&self) -> Result<Connection> {
        let mut connection = self.begin().await?;
        disable_timeouts(self.dialect, &mut connection).await?;
        Ok(connection)
    }

    /// Begins a transaction that blocks other processes. Its statements may take `MAINTENANCE_TIMEOUT`, regardless
    /// of the timeout of requests. PostgreSQL ends the session of a stalled process after `MAINTENANCE_IDLE_TIMEOUT`.
    ///
    /// # Errors
    /// When the database is away.
    pub async fn begin_maintenance(&self) -> Result<Connection> {
        let mut connection = self.begin().await?;
        if self.dialect == Dialect::Postgres {
            let (limit, idle) = (MAINTENANCE_TIMEOUT.as_millis(), MAINTENANCE_IDLE_TIMEOUT.as_millis());
            let limits = format!(
                "SET LOCAL statement_timeout = {limit}; SET LOCAL lock_timeout = 0; \
                 SET LOCAL idle_in_transaction_session_timeout = {idle}"
            );
            connection.execute_unprepared(&limits).await?;
            set_timeout(&mut connection, Some(MAINTENANCE_TIMEOUT));
        }
        Ok(connection)
    }
}

/// Timeout of a statement of maintenance.
const MAINTENANCE_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum time between two of its statements.
const MAINTENANCE_IDLE_TIMEOUT: Duration = Duration::from_secs(10);

fn set_timeout(connection: &mut Connection, limit: Option<Duration>) {
    if let Connection::Transaction(transaction) = connection {
        transaction.set_timeout(limit);
    }
}

/// Removes the timeouts of a transaction on PostgreSQL: of its statements and locks, and between statements, because a
/// consumer or another connection can take long meanwhile.
pub const WITHOUT_TIMEOUT: &str = "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; \
                                   SET LOCAL idle_in_transaction_session_timeout = 0";

/// Removes the timeouts from a transaction.
pub(super) async fn disable_timeouts(dialect: Dialect, transaction: &mut Connection) -> Result<(), DbErr> {
    set_timeout(transaction, None);
    match dialect {
        Dialect::Postgres => transaction.execute_unprepared(WITHOUT_TIMEOUT).await.map(drop),
        // The writing connection has no timeout.
        Dialect::Sqlite => Ok(()),
    }
}
