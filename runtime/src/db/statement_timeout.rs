//! What one statement of a request may take, so that nobody is kept from a connection by those who have given up.
//!
//! PostgreSQL ends a statement by itself, at the `statement_timeout` of its session. On SQLite the connection looks at the clock
//! while a statement runs: one of the driver's has a thread of its own, which knows when its statement began.

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

/// After so many steps of SQLite's machine it is looked whether it shall go on: well under a millisecond.
pub(super) const STEPS_BETWEEN_CHECKS: i32 = 1_000;

thread_local! {
    /// When the statement that this thread runs began.
    static STATEMENT_STARTED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// How PostgreSQL is told, before there is a session.
pub(super) fn with_timeout(options: PgConnectOptions, limit: Duration) -> PgConnectOptions {
    options.options([("statement_timeout", limit.as_millis().to_string())])
}

/// Whether it is a pooler that takes no such word (`protocol_violation`): its sessions are not ours alone.
pub(super) fn is_timeout_refused(error: &SqlxError) -> bool {
    error
        .as_database_error()
        .is_some_and(|e| e.code().as_deref() == Some("08P01") && e.message().contains("startup parameter"))
}

/// An answer is waited for so long beyond its statement's limit: for a connection, and for the way there and back.
pub(super) const ANSWER_GRACE: Duration = ACQUIRE_TIMEOUT.saturating_add(Duration::from_secs(1));

/// Lets a connection go back to the pool once it answers, with everything that it was asked before. One that does not is closed.
pub(super) async fn set_on_connection(connection: &mut PgConnection, limit: Duration) -> Result<bool, SqlxError> {
    match timeout(limit + ANSWER_GRACE, connection.ping()).await {
        Ok(answered) => answered.map(|()| true),
        Err(_) => Err(SqlxError::Io(ErrorKind::TimedOut.into())),
    }
}

/// What comes of a statement that nothing is heard of.
pub(super) fn no_answer() -> DbErr {
    DbErr::Conn(RuntimeErr::Internal("the database does not answer".into()))
}

/// Has a connection to SQLite end each statement that takes longer.
pub(super) async fn install_on_sqlite(connection: &mut SqliteConnection, limit: Duration) -> Result<(), SqlxError> {
    let mut handle = connection.lock_handle().await?;
    trace(handle.as_raw_handle());
    handle.set_progress_handler(STEPS_BETWEEN_CHECKS, move || elapsed() <= limit);
    Ok(())
}

/// How long the statement of this thread has been running. One that SQLite begins again, because the tables have changed,
/// is not told a second time: it counts from here.
fn elapsed() -> Duration {
    let begun = STATEMENT_STARTED.get().unwrap_or_else(Instant::now);
    STATEMENT_STARTED.set(Some(begun));
    begun.elapsed()
}

fn trace(handle: NonNull<ffi::sqlite3>) {
    let events = ffi::SQLITE_TRACE_STMT | ffi::SQLITE_TRACE_PROFILE;
    // SAFETY: sqlx holds the connection locked for the length of this call. The callback is a plain function, and reads
    // none of its pointers.
    unsafe { ffi::sqlite3_trace_v2(handle.as_ptr(), events as c_uint, Some(note), null_mut()) };
}

/// What SQLite calls on the thread of a statement when that begins, and when it has ended.
unsafe extern "C" fn note(event: c_uint, _: *mut c_void, _: *mut c_void, _: *mut c_void) -> c_int {
    STATEMENT_STARTED.set((event == ffi::SQLITE_TRACE_STMT as c_uint).then(Instant::now));
    0
}

impl Db {
    /// Begins a transaction that may take as long as it takes.
    ///
    /// # Errors
    /// When the database is away.
    pub async fn begin_without_timeout(&self) -> Result<Connection> {
        let mut connection = self.begin().await?;
        disable_timeouts(self.dialect, &mut connection).await?;
        Ok(connection)
    }

    /// Begins a transaction that holds what other processes wait for: however little time requests have, each statement of it
    /// has [`UPKEEP`], and a process that stands still loses it.
    ///
    /// # Errors
    /// When the database is away.
    pub async fn begin_maintenance(&self) -> Result<Connection> {
        let mut connection = self.begin().await?;
        if self.dialect == Dialect::Postgres {
            let (limit, idle) = (MAINTENANCE_TIMEOUT.as_millis(), MAINTENANCE_IDLE_TIMEOUT.as_millis());
            let limits = format!(
                "SET LOCAL statement_timeout = {limit}; SET LOCAL idle_in_transaction_session_timeout = {idle}"
            );
            connection.execute_unprepared(&limits).await?;
            set_timeout(&mut connection, Some(MAINTENANCE_TIMEOUT));
        }
        Ok(connection)
    }
}

/// What a statement of upkeep may take.
const MAINTENANCE_TIMEOUT: Duration = Duration::from_secs(60);
/// And what there may be between two of them.
const MAINTENANCE_IDLE_TIMEOUT: Duration = Duration::from_secs(10);

fn set_timeout(transaction: &mut Connection, limit: Option<Duration>) {
    if let Connection::Transaction(unit) = transaction {
        unit.set_timeout(limit);
    }
}

/// What takes every limit of PostgreSQL's from a transaction: on its statements, and on the time between them, in which somebody
/// takes what was read, or another connection does what this one holds the lock for.
pub const WITHOUT_TIMEOUT: &str = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";

/// Takes the limits from a transaction, wherever they came from.
pub(super) async fn disable_timeouts(dialect: Dialect, transaction: &mut Connection) -> Result<(), DbErr> {
    set_timeout(transaction, None);
    match dialect {
        Dialect::Postgres => transaction.execute_unprepared(WITHOUT_TIMEOUT).await.map(drop),
        // What writes has none.
        Dialect::Sqlite => Ok(()),
    }
}
