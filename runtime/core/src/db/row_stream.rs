//! Streams all rows of one statement in batches, for exports, on connections of their own.
//!
//! Memory holds one batch and the driver's read-ahead. PostgreSQL uses a cursor in a read-only REPEATABLE READ
//! transaction, so that queries for related records see the same snapshot. SQLite steps through the statement, whose
//! rows are of one snapshot; queries for related records see the state at the time of their batch.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use sea_orm::sqlx::{AssertSqlSafe, query_with};
use sea_orm::{
    AccessMode, ConnectionTrait, DatabaseConnection, IsolationLevel, QueryResult, SqlxError, TransactionOptions, Values,
};
use sea_query_sqlx::SqlxValues;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::connection::{TransactionPool, adapt};
use super::statement_timeout::STEPS_BETWEEN_CHECKS;
use super::{Connection, Db, Dialect, LazyTransaction, Pool, Sql, statement_timeout};
use crate::client::{Caller, Client, Lane};
use crate::error::{Error, Result};
use crate::fair_queue::{FairQueue, Limits, Permit};
use crate::metrics;

/// Limit on concurrent exports of a process. Each has a dedicated connection.
pub const MAX_CONCURRENT_EXPORTS: u32 = 4;
/// Limit on concurrent exports of one user.
const MAX_EXPORTS_PER_USER: usize = 2;

/// Maximum wait for a cancelled statement to end.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// The connections of exports, opened on demand.
#[derive(Debug)]
pub(super) struct ExportPool {
    pub(super) pool: TransactionPool,
    slots: FairQueue,
    /// Notified when an export is refused because of those of other users.
    wanted: Notify,
}

/// Consumer of the rows.
#[async_trait]
pub trait RowSink: Send {
    /// Takes the next rows, and returns the size of the next batch. `connection` is for queries of related records.
    async fn accept(&mut self, connection: &Connection, rows: Vec<QueryResult>) -> Result<usize>;
}

impl ExportPool {
    pub(super) fn new(connections: DatabaseConnection, metrics: &metrics::Database) -> ExportPool {
        let all = MAX_CONCURRENT_EXPORTS as usize;
        let per_client = MAX_EXPORTS_PER_USER;
        let limits = Limits { all, ordinary: all, writes: all, per_client, writes_per_client: per_client };
        ExportPool {
            pool: TransactionPool { pool: Pool::without_timeout(connections, MAX_CONCURRENT_EXPORTS, metrics) },
            slots: FairQueue::new(limits),
            wanted: Notify::new(),
        }
    }
}

impl Db {
    /// Permit for one export of a user, until it is dropped.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if [`MAX_CONCURRENT_EXPORTS`] run, or as many of the user as one may run.
    pub fn export_slot(&self, user_id: Option<i64>) -> Result<Permit> {
        let caller = Caller { client: user_id.map_or(Client::Server, Client::User), lane: Lane::Read };
        let slots = &self.exports.slots;
        slots.try_acquire(caller).ok_or_else(|| {
            if slots.is_share_used(caller) {
                return Error::Unavailable("Two of your exports are running already. Try again later.".into());
            }
            self.exports.wanted.notify_waiters();
            Error::Unavailable("Too many exports are running. Try again later.".into())
        })
    }

    /// Waits until an export is refused because of those of other users.
    pub async fn export_wanted(&self) {
        self.exports.wanted.notified().await;
    }

    /// Passes all rows of a statement to `sink`, at first `first_batch` of them. When `cancelled` completes, the
    /// statement is cancelled in the database, which may not find a next row for a long time.
    ///
    /// # Errors
    /// When the database or `sink` fails, or when the export is cancelled.
    pub async fn export(
        &self,
        sql: Sql,
        first_batch: usize,
        sink: &mut dyn RowSink,
        cancelled: impl Future<Output = ()> + Send,
    ) -> Result<()> {
        match self.dialect {
            Dialect::Postgres => self.stream_postgres(sql, first_batch, sink, cancelled).await,
            Dialect::Sqlite => self.stream_sqlite(sql, first_batch, sink, cancelled).await,
        }
    }

    async fn stream_postgres(
        &self,
        sql: Sql,
        first_batch: usize,
        sink: &mut dyn RowSink,
        cancelled: impl Future<Output = ()>,
    ) -> Result<()> {
        let options = TransactionOptions {
            isolation_level: Some(IsolationLevel::RepeatableRead),
            access_mode: Some(AccessMode::ReadOnly),
            ..TransactionOptions::default()
        };
        let open = self.exports.pool.begin(options).await?;
        let mut connection = Connection::Transaction(LazyTransaction::from_open(
            self.exports.pool.clone(),
            open,
            self.commit_notifier(),
        ));
        statement_timeout::disable_timeouts(self.dialect, &mut connection).await?;
        // Plans for the whole result instead of fast first rows.
        connection.execute_unprepared("SET LOCAL cursor_tuple_fraction = 1").await?;
        let process = Sql::new(self.dialect, "SELECT pg_backend_pid()").one(&connection).await?;
        let process: i32 = process.map_or(Ok(0), |row| row.try_get_by_index(0)).map_err(Error::internal)?;
        // Also behind a pooler the backend stays the same while the transaction is open.
        let stop = async {
            let cancel = Sql::new(self.dialect, format!("SELECT pg_cancel_backend({process})"));
            if let Err(error) = cancel.one(&self.reader).await {
                tracing::warn!(%error, "could not cancel the statement of an export");
            }
        };
        run_until(fetch(connection, sql, first_batch, sink), cancelled, stop).await
    }

    async fn stream_sqlite(
        &self,
        sql: Sql,
        first_batch: usize,
        sink: &mut dyn RowSink,
        cancelled: impl Future<Output = ()>,
    ) -> Result<()> {
        let pool = self.exports.pool.pool.connections.get_sqlite_connection_pool();
        let mut connection = pool.acquire().await.map_err(query_error)?;
        let is_stopped = Arc::new(AtomicBool::new(false));
        let stop_flag = is_stopped.clone();
        let mut handle = connection.lock_handle().await.map_err(query_error)?;
        // Replaces the handler of an earlier export.
        handle.set_progress_handler(STEPS_BETWEEN_CHECKS, move || !stop_flag.load(Ordering::Relaxed));
        drop(handle);
        let mut values = Values(sql.values);
        adapt(&mut values);
        let send_rows = async {
            let query = query_with(AssertSqlSafe(sql.text), SqlxValues(values));
            let mut stream = query.fetch(&mut *connection);
            let (mut batch_size, mut rows) = (first_batch, Vec::new());
            loop {
                let row = stream.next().await.transpose().map_err(query_error)?;
                let last = row.is_none();
                rows.extend(row.map(QueryResult::from));
                if !rows.is_empty() && (last || rows.len() >= batch_size) {
                    batch_size = sink.accept(&self.reader, std::mem::take(&mut rows)).await?.max(1);
                }
                if last {
                    return Ok(());
                }
            }
        };
        run_until(send_rows, cancelled, async { is_stopped.store(true, Ordering::Relaxed) }).await
    }
}

/// Runs `work` until it ends or `cancelled` completes. Then calls `stop` and waits for `work` to end before its
/// connection is released.
async fn run_until(
    work: impl Future<Output = Result<()>>,
    cancelled: impl Future<Output = ()>,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let mut work = pin!(work);
    tokio::select! {
        result = &mut work => return result,
        () = cancelled => {}
    }
    stop.await;
    let _ = timeout(END_TIMEOUT, work).await;
    Err(Error::Unavailable("the client disconnected".into()))
}

/// Fetches all rows of a statement by a cursor in its transaction.
async fn fetch(connection: Connection, mut sql: Sql, first_batch: usize, sink: &mut dyn RowSink) -> Result<()> {
    let dialect = sql.dialect;
    // The driver and poolers cache FETCH by its text with the columns of its result. A unique cursor name prevents a
    // wrong cache hit.
    let mut name = [0; 8];
    getrandom::fill(&mut name).map_err(Error::internal)?;
    let cursor = format!("charter_export_{:016x}", u64::from_ne_bytes(name));
    sql.text.insert_str(0, &format!("DECLARE {cursor} NO SCROLL CURSOR FOR "));
    sql.run(&connection).await?;
    let mut batch_size = first_batch;
    loop {
        let fetch = Sql::new(dialect, format!("FETCH FORWARD {batch_size} FROM {cursor}"));
        let rows = fetch.all(&connection).await?;
        let last = rows.len() < batch_size;
        if !rows.is_empty() {
            batch_size = sink.accept(&connection, rows).await?.max(1);
        }
        if last {
            return connection.commit().await;
        }
    }
}

fn query_error(error: SqlxError) -> Error {
    sea_orm::DbErr::Query(sea_orm::RuntimeErr::SqlxError(error.into())).into()
}
