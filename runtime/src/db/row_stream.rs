//! All rows of one statement, a block at a time, on connections that no request waits for.
//!
//! The rows are of one moment, and no more of them are in memory than a block and what the driver reads ahead. On
//! PostgreSQL a cursor holds them, in a transaction that only reads, and what is read beside a block is of the same
//! moment. SQLite hands them over while it finds them; what is read beside a block is of the moment of the block.

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
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::connection::{TransactionPool, adapt};
use super::statement_timeout::STEPS_BETWEEN_CHECKS;
use super::{Connection, Db, Dialect, LazyTransaction, Sql, pool_without_timeout, statement_timeout};
use crate::error::{Error, Result};
use crate::metrics;

/// So many exports run at once in a process: each has a connection to itself for as long as it takes.
pub const MAX_CONCURRENT_EXPORTS: u32 = 2;

/// A statement that was told to stop is waited for so long.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// The connections of exports, opened when they are needed.
#[derive(Debug)]
pub(super) struct ExportPool {
    pub(super) pool: TransactionPool,
    slots: Arc<Semaphore>,
}

/// Where the rows go.
#[async_trait]
pub trait RowSink: Send {
    /// Takes the next rows, and answers how many it would take at once from now on. `connection` is for what belongs to
    /// the rows and stands in other tables.
    async fn accept(&mut self, connection: &Connection, rows: Vec<QueryResult>) -> Result<usize>;
}

impl ExportPool {
    pub(super) fn new(connections: DatabaseConnection, metrics: &metrics::Database) -> ExportPool {
        ExportPool {
            pool: TransactionPool::new(pool_without_timeout(connections, metrics), MAX_CONCURRENT_EXPORTS),
            slots: Arc::new(Semaphore::new(MAX_CONCURRENT_EXPORTS as usize)),
        }
    }
}

impl Db {
    /// The right to one export, until it is dropped.
    ///
    /// # Errors
    /// [`Error::Unavailable`] while as many run as may.
    pub fn export_slot(&self) -> Result<OwnedSemaphorePermit> {
        let slot = self.exports.slots.clone().try_acquire_owned();
        slot.map_err(|_| Error::Unavailable("Other exports are under way. Try again when they are done.".into()))
    }

    /// Hands all rows of a statement to `taker`, `first` of them to begin with. Once nobody wants them any more, as `gone` says,
    /// the database is told to stop: it may be at it for long before it finds the next row.
    ///
    /// # Errors
    /// When the database fails, when `taker` does, and when nobody wants the rows any more.
    pub async fn export(
        &self,
        sql: Sql,
        first: usize,
        taker: &mut dyn RowSink,
        gone: impl Future<Output = ()> + Send,
    ) -> Result<()> {
        match self.dialect {
            Dialect::Postgres => self.stream_postgres(sql, first, taker, gone).await,
            Dialect::Sqlite => self.stream_sqlite(sql, first, taker, gone).await,
        }
    }

    async fn stream_postgres(
        &self,
        sql: Sql,
        first: usize,
        taker: &mut dyn RowSink,
        gone: impl Future<Output = ()>,
    ) -> Result<()> {
        let options = TransactionOptions {
            isolation_level: Some(IsolationLevel::RepeatableRead),
            access_mode: Some(AccessMode::ReadOnly),
            ..TransactionOptions::default()
        };
        let begun = self.exports.pool.begin(options).await?;
        let mut connection =
            Connection::Transaction(LazyTransaction::begun(self.exports.pool.clone(), begun, self.commit_notifier()));
        statement_timeout::disable_timeouts(self.dialect, &mut connection).await?;
        // All of it is wanted, not the first rows soon.
        connection.execute_unprepared("SET LOCAL cursor_tuple_fraction = 1").await?;
        let process = Sql::new(self.dialect, "SELECT pg_backend_pid()").one(&connection).await?;
        let process: i32 = process.map_or(Ok(0), |row| row.try_get_by_index(0)).map_err(Error::internal)?;
        // Behind a pooler too it is this transaction's for as long as that is open: nobody ends it meanwhile.
        let stop = async {
            let cancel = Sql::new(self.dialect, format!("SELECT pg_cancel_backend({process})"));
            if let Err(error) = cancel.one(&self.reader).await {
                tracing::warn!(%error, "the statement of an export could not be ended");
            }
        };
        until(fetch(connection, sql, first, taker), gone, stop).await
    }

    async fn stream_sqlite(
        &self,
        sql: Sql,
        first: usize,
        taker: &mut dyn RowSink,
        gone: impl Future<Output = ()>,
    ) -> Result<()> {
        let pool = self.exports.pool.pool.connections.get_sqlite_connection_pool();
        let mut connection = pool.acquire().await.map_err(query_error)?;
        let is_stopped = Arc::new(AtomicBool::new(false));
        let asked = is_stopped.clone();
        let mut handle = connection.lock_handle().await.map_err(query_error)?;
        // One that an earlier export may have left is replaced.
        handle.set_progress_handler(STEPS_BETWEEN_CHECKS, move || !asked.load(Ordering::Relaxed));
        drop(handle);
        let mut values = Values(sql.values);
        adapt(&mut values);
        let hand_over = async {
            let query = query_with(AssertSqlSafe(sql.text), SqlxValues(values));
            let mut found = query.fetch(&mut *connection);
            let (mut wanted, mut rows) = (first, Vec::new());
            loop {
                let row = found.next().await.transpose().map_err(query_error)?;
                let last = row.is_none();
                rows.extend(row.map(QueryResult::from));
                if !rows.is_empty() && (last || rows.len() >= wanted) {
                    wanted = taker.accept(&self.reader, std::mem::take(&mut rows)).await?.max(1);
                }
                if last {
                    return Ok(());
                }
            }
        };
        until(hand_over, gone, async { is_stopped.store(true, Ordering::Relaxed) }).await
    }
}

/// What comes of `work`, which is told to stop once nobody wants it any more, and comes to its end before its connection is
/// anybody else's.
async fn until(
    work: impl Future<Output = Result<()>>,
    gone: impl Future<Output = ()>,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let mut work = pin!(work);
    tokio::select! {
        result = &mut work => return result,
        () = gone => {}
    }
    stop.await;
    let _ = timeout(END_TIMEOUT, work).await;
    Err(Error::Unavailable("the client has gone".into()))
}

/// Fetches all rows of a statement in its transaction.
async fn fetch(connection: Connection, mut sql: Sql, first: usize, taker: &mut dyn RowSink) -> Result<()> {
    let dialect = sql.dialect;
    // What fetches from it is remembered by its text, with the columns that it answers, by the driver as by a pooler that
    // others share. So no two cursors ever have one name.
    let mut name = [0; 8];
    getrandom::fill(&mut name).map_err(Error::internal)?;
    let cursor = format!("charter_export_{:016x}", u64::from_ne_bytes(name));
    sql.text.insert_str(0, &format!("DECLARE {cursor} NO SCROLL CURSOR FOR "));
    sql.run(&connection).await?;
    let mut wanted = first;
    loop {
        let fetch = Sql::new(dialect, format!("FETCH FORWARD {wanted} FROM {cursor}"));
        let rows = fetch.all(&connection).await?;
        let last = rows.len() < wanted;
        if !rows.is_empty() {
            wanted = taker.accept(&connection, rows).await?.max(1);
        }
        if last {
            return connection.commit().await;
        }
    }
}

fn query_error(error: SqlxError) -> Error {
    sea_orm::DbErr::Query(sea_orm::RuntimeErr::SqlxError(error.into())).into()
}
