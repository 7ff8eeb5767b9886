//! Pool of SQLite connections that read records, on blocking threads.
//!
//! SeaORM's driver sends every row over a channel, from the connection's thread to the waiting task. Here, one
//! blocking task runs the whole statement and returns all rows at once, in a buffer that several tasks can read.

use std::borrow::Cow;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use deadpool::managed;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, Error, OpenFlags};
use sea_orm::sqlx::error::{DatabaseError, ErrorKind};
use sea_orm::{DbErr, SqlxError};
use tracing::Span;

use super::read_pool::{self, FairPool, query_error};
use super::row_buffer::RowBufferBuilder;
use super::sqlite_bind::to_sqlite;
use super::statement_timeout::STEPS_BETWEEN_CHECKS;
use super::{ACQUIRE_TIMEOUT, Rows, STATEMENT_CACHE_CAPACITY, Sql, sqlite_functions};
use crate::error::is_schema_changing;
use crate::metrics;

/// Retries of a statement while another connection changes the schema (`SQLITE_SCHEMA`), for example by creating
/// indexes.
const SCHEMA_RETRIES: usize = 5;
const RETRY_DELAY: Duration = Duration::from_millis(2);

/// Bytes that are not escaped in the path of an SQLite URI.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.');

#[derive(Debug, Clone)]
pub(super) struct SqliteReader {
    pool: FairPool<Opener>,
    limit: Option<Duration>,
    metrics: metrics::Database,
}

#[derive(Debug, Clone)]
struct Opener {
    path: PathBuf,
    /// Interrupts the running statements, because a process waits for its blocking threads when it ends.
    closing: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Reader {
    connection: Connection,
    deadline: Arc<Deadline>,
}

/// Time at which the running statement is interrupted, in microseconds since `opened`.
#[derive(Debug)]
struct Deadline {
    opened: Instant,
    micros: AtomicU64,
}

impl Deadline {
    fn set(&self, limit: Option<Duration>) {
        let micros = limit.map_or(u64::MAX, |limit| micros(self.opened.elapsed().saturating_add(limit)));
        self.micros.store(micros, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        micros(self.opened.elapsed()) > self.micros.load(Ordering::Relaxed)
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

impl managed::Manager for Opener {
    type Type = Reader;
    type Error = DbErr;

    async fn create(&self) -> Result<Reader, DbErr> {
        let (path, closing) = (self.path.clone(), self.closing.clone());
        on_blocking_thread(move || Reader::open(&path, closing).map_err(driver_error)).await
    }

    async fn recycle(&self, _: &mut Reader, _: &managed::Metrics) -> managed::RecycleResult<DbErr> {
        Ok(())
    }
}

async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, DbErr> + Send + 'static,
) -> Result<T, DbErr> {
    tokio::task::spawn_blocking(work).await.map_err(|error| DbErr::Custom(error.to_string()))?
}

impl SqliteReader {
    /// A pool of at most `size` connections. `path` is a file or an SQLite URI. Statements are interrupted after
    /// `limit`.
    ///
    /// # Errors
    /// When the pool cannot be built.
    pub(super) fn new(
        path: PathBuf,
        size: u32,
        limit: Option<Duration>,
        metrics: &metrics::Database,
    ) -> Result<SqliteReader, DbErr> {
        let pool = FairPool::new(Opener { path, closing: Arc::default() }, size)?;
        Ok(SqliteReader { pool, limit, metrics: metrics.of_pool() })
    }

    /// All rows of a statement.
    pub(super) async fn rows(&self, sql: Sql) -> Result<Rows, DbErr> {
        let (metrics, span) = (self.metrics.clone(), Span::current());
        let guard = self.metrics.time_statement(sql.text.clone());
        let result = self.with(move |reader| {
            let (started, mut retries) = (Instant::now(), 0);
            let result = loop {
                match reader.read(&sql) {
                    Err(error) if is_schema_changing(&error) && retries < SCHEMA_RETRIES => thread::sleep(RETRY_DELAY),
                    result => break result,
                }
                retries += 1;
            };
            span.in_scope(|| metrics.statement(&sql.text, started.elapsed()));
            result
        });
        let result = result.await;
        guard.end();
        result
    }

    /// True if the file is read-only.
    pub(super) async fn is_read_only(&self) -> Result<bool, DbErr> {
        self.with(|reader| reader.connection.is_readonly("main").map_err(driver_error)).await
    }

    /// Runs `work` on a blocking thread with an exclusive connection.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Reader) -> Result<T, DbErr> + Send + 'static,
    ) -> Result<T, DbErr> {
        let demand = self.metrics.count_demand();
        let (lent, limit) = (self.pool.get().await?, self.limit);
        let work = move || {
            let _guard = demand;
            lent.connection.deadline.set(limit);
            let result = work(&lent.connection);
            if result.is_err() {
                // An interrupted statement can leave the connection with a partly loaded schema.
                lent.discard();
            }
            result
        };
        on_blocking_thread(work).await
    }

    pub(super) fn state(&self) -> metrics::PoolState {
        read_pool::state(&self.pool, self.metrics.demand())
    }

    /// Closes the idle connections and interrupts the statements of the others.
    pub(super) fn close(&self) {
        self.pool.manager().closing.store(true, Ordering::Relaxed);
        self.pool.close();
    }
}

impl Reader {
    fn open(path: &Path, closing: Arc<AtomicBool>) -> Result<Reader, Error> {
        // The writer has created the file. NO_MUTEX: no two threads use the connection at once.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.pragma_update(None, "query_only", true)?;
        connection.busy_timeout(ACQUIRE_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_CAPACITY);
        sqlite_functions::register_on(&connection)?;
        let deadline = Arc::new(Deadline { opened: Instant::now(), micros: AtomicU64::new(u64::MAX) });
        let running = deadline.clone();
        connection.progress_handler(
            STEPS_BETWEEN_CHECKS,
            Some(move || running.is_over() || closing.load(Ordering::Relaxed)),
        )?;
        Ok(Reader { connection, deadline })
    }

    fn read(&self, sql: &Sql) -> Result<Rows, DbErr> {
        let mut statement = self.connection.prepare_cached(&sql.text).map_err(driver_error)?;
        // SQLite numbers parameters by their first occurrence in the text; `$2` is the second value wherever it
        // occurs.
        for index in 1..=statement.parameter_count() {
            let number = statement.parameter_name(index).and_then(|name| name.strip_prefix('$')?.parse::<usize>().ok());
            let value = number.and_then(|number| sql.values.get(number.checked_sub(1)?));
            let mut text = String::new();
            let bound = value.and_then(|value| to_sqlite(value, &mut text));
            let bound =
                bound.ok_or_else(|| DbErr::Type(format!("parameter {index} has no value that SQLite stores")))?;
            statement.raw_bind_parameter(index, ToSqlOutput::Borrowed(bound)).map_err(driver_error)?;
        }
        let columns = statement.column_count();
        let mut buffer = RowBufferBuilder::new(columns);
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(driver_error)? {
            for column in 0..columns {
                buffer.add(row.get_ref(column).map_err(driver_error)?);
            }
        }
        buffer.finish().map(Rows::from).ok_or_else(|| DbErr::Custom("the rows have more than 4 GiB".into()))
    }
}

/// The file for rusqlite connections: a URI if the URL has options for opening it.
pub(super) fn location(path: &Path, url: &str) -> PathBuf {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let options =
        query.split('&').filter(|option| ["vfs=", "immutable=", "mode=ro"].iter().any(|name| option.starts_with(name)));
    let options: Vec<&str> = options.collect();
    if options.is_empty() {
        return path.to_path_buf();
    }
    let path = percent_encode(path.as_os_str().as_bytes(), PATH);
    format!("file:{path}?{}", options.join("&")).into()
}

/// Converts an error of rusqlite into the driver's error, which the rest of the server classifies.
fn driver_error(error: Error) -> DbErr {
    match error.sqlite_error() {
        Some(_) => query_error(SqlxError::Database(Box::new(RusqliteError(error)))),
        None => DbErr::Custom(error.to_string()),
    }
}

#[derive(Debug)]
struct RusqliteError(Error);

impl fmt::Display for RusqliteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for RusqliteError {}

impl DatabaseError for RusqliteError {
    fn message(&self) -> &str {
        match &self.0 {
            Error::SqliteFailure(_, Some(message)) => message,
            _ => "the statement failed",
        }
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        self.0.sqlite_error().map(|error| error.extended_code.to_string().into())
    }

    fn as_error(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn std::error::Error + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn std::error::Error + Send + Sync + 'static> {
        self
    }

    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}

#[cfg(test)]
mod tests;
