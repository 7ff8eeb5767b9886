//! Database access: opening, connection pools, transactions and the SQL dialect.
//!
//! Each database has separate connections for reading and writing. SQLite has one writing connection, because writers
//! exclude one another and a mixed pool would make them wait. Exports have connections of their own.

mod advisory_lock;
mod batcher;
mod cell;
mod coalesce;
mod connection;
mod health;
mod host_list;
mod hosts;
mod input_row;
mod pool_metrics;
mod postgres;
mod postgres_reader;
mod read_pool;
mod row_buffer;
mod row_stream;
mod rows;
mod sql;
mod sqlite_bind;
mod sqlite_functions;
mod sqlite_reader;
mod sqlite_value;
mod stale_plans;
mod statement_timeout;
mod triggers;

use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use charter_model::expression::Database;
use sea_orm::sqlx::Connection as _;
use sea_orm::sqlx::postgres::PgPoolOptions;
use sea_orm::sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbErr, SqliteTransactionMode, SqlxError, SqlxPostgresConnector,
    SqlxSqliteConnector, TransactionOptions,
};
use tokio::sync::Notify;

pub use advisory_lock::{DedicatedLock, Lock};
pub use cell::Cell;
use coalesce::Batchers;
use connection::TransactionPool;
pub use connection::{CommitNotifier, Connection, LazyTransaction, Pool};
use health::Health;
pub use health::Unwritable;
pub use host_list::{HostList, SESSION_PARAMETER};
use hosts::{Follower, Hosts};
pub use input_row::{INPUT_CTE, InputRow};
use read_pool::ReadPool;
pub use row_buffer::{BufferedRow, Stored};
use row_stream::ExportPool;
pub use row_stream::{MAX_CONCURRENT_EXPORTS, RowSink};
pub use rows::{Row, Rows, SharedRow};
pub use sql::{FALSE, Operand, Sql, TRUE};
pub use sqlite_bind::time_text;
pub use sqlite_functions::fold;
use sqlite_reader::SqliteReader;
pub use sqlite_value::text as sqlite_text;
pub use statement_timeout::WITHOUT_TIMEOUT;
pub use triggers::InstalledTrigger;

use crate::error::{Error, Result};
use crate::metrics;

/// SQL dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    Postgres,
}

impl From<Dialect> for Database {
    fn from(dialect: Dialect) -> Database {
        match dialect {
            Dialect::Sqlite => Database::Sqlite,
            Dialect::Postgres => Database::Postgres,
        }
    }
}

/// An open database.
#[derive(Debug)]
pub struct Db {
    reader: Connection,
    writer: Connection,
    writers: TransactionPool,
    exports: ExportPool,
    dialect: Dialect,
    /// Connections that read records.
    reads: ReadPool,
    batchers: Batchers,
    /// Notified of commits with events.
    commits: Arc<Notify>,
    /// Metrics of statements, batches and pools.
    metrics: metrics::Database,
    /// Lost connections and failed writes.
    health: Arc<Health>,
    /// Hosts of PostgreSQL.
    hosts: Option<Arc<Hosts>>,
    /// The task that follows a failover of PostgreSQL.
    follower: Option<Follower>,
    /// Path of SQLite's file, and its inode when it was opened.
    file: Option<(PathBuf, u64)>,
}

/// Maximum wait for a connection of the pool. After it, the request gets 503.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// Prepared statements that each connection caches, of PostgreSQL and of SQLite's record reader. Updates of different
/// fields are different statements.
const STATEMENT_CACHE_CAPACITY: usize = 200;

/// Idle time after which a connection for exports is closed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Idle time after which a connection of PostgreSQL is pinged before use.
const PING_AFTER_IDLE: Duration = Duration::from_secs(1);

/// Limit on closing each pool when the server stops.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

impl Db {
    /// Opens `sqlite://<path>` (created if missing) or `postgres://...`. `pool` is the number of connections of
    /// PostgreSQL's pool or of SQLite's readers. `limit` is the statement timeout on these, if there is one.
    ///
    /// # Errors
    /// The URL has another scheme, or the database cannot be reached.
    pub async fn connect(url: &str, pool: u32, limit: Option<Duration>) -> Result<Db, DbErr> {
        match url.split_once(':').map(|(scheme, _)| scheme) {
            Some("sqlite") => Db::sqlite(url, pool, limit).await,
            Some("postgres" | "postgresql") => Db::postgres(url, pool, limit).await,
            _ => Err(DbErr::Custom("the database URL must begin with sqlite:// or postgres://".into())),
        }
    }

    async fn sqlite(url: &str, pool: u32, limit: Option<Duration>) -> Result<Db, DbErr> {
        if url.contains(":memory:") || url.contains("mode=memory") {
            return Err(DbErr::Custom(
                "an in-memory SQLite database cannot be shared by several connections: use a file".into(),
            ));
        }
        let options = SqliteConnectOptions::from_str(url).map_err(connect_error)?;
        let path = options.get_filename().to_path_buf();
        // SQLite's message does not name the file.
        let open_error = |error| DbErr::Conn(sea_orm::RuntimeErr::Internal(format!("{}: {error}", path.display())));
        let options = options
            .create_if_missing(true)
            .foreign_keys(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .busy_timeout(Duration::from_secs(5))
            // Rows that REPLACE deletes must fire the delete triggers for the counts.
            .pragma("recursive_triggers", "ON")
            .optimize_on_close(true, None);
        let pool_of = |size: u32, limit: Option<Duration>| {
            SqlitePoolOptions::new()
                .max_connections(size)
                .acquire_timeout(ACQUIRE_TIMEOUT)
                .test_before_acquire(false)
                .after_connect(move |connection, _| {
                    Box::pin(async move {
                        sqlite_functions::register(connection.lock_handle().await?.as_raw_handle())
                            .map_err(|e| sea_orm::SqlxError::Configuration(e.into()))?;
                        match limit {
                            Some(limit) => statement_timeout::install_on_sqlite(connection, limit).await,
                            None => Ok(()),
                        }
                    })
                })
        };
        // The file is readable by its owner only. SQLite gives the WAL files the same mode.
        let _ = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        // The writer opens first: it creates the file and switches it to WAL mode.
        let started = Instant::now();
        let writer = loop {
            let pool = pool_of(1, None).after_release(|connection, _| Box::pin(is_clean(connection)));
            match pool.connect_with(options.clone()).await {
                // Another process is switching the file to WAL mode, which the busy timeout does not cover.
                Err(error) if is_busy(&error) && started.elapsed() < ACQUIRE_TIMEOUT => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                connected => break connected.map_err(open_error)?,
            }
        };
        let (metrics, health) = (metrics::Database::default(), Arc::<Health>::default());
        let writer = Pool::without_timeout(SqlxSqliteConnector::from_sqlx_sqlite_pool(writer), 1, &metrics);
        let writer = writer.reporting_to(&health);
        let file = std::fs::metadata(&path).ok().map(|known| (path.clone(), known.ino()));
        let options = options.pragma("query_only", "ON");
        let reader = pool_of(pool, limit).connect_with(options.clone()).await.map_err(open_error)?;
        let exports = pool_of(MAX_CONCURRENT_EXPORTS, None).idle_timeout(IDLE_TIMEOUT).connect_lazy_with(options);
        let reader = SqlxSqliteConnector::from_sqlx_sqlite_pool(reader);
        Ok(Db {
            reader: Connection::Pool(Pool::without_timeout(reader, pool, &metrics)),
            writer: Connection::Pool(writer.clone()),
            writers: TransactionPool { pool: writer },
            exports: ExportPool::new(SqlxSqliteConnector::from_sqlx_sqlite_pool(exports), &metrics),
            dialect: Dialect::Sqlite,
            reads: ReadPool::Sqlite(SqliteReader::new(sqlite_reader::location(&path, url), pool, limit, &metrics)?),
            batchers: Batchers::new(&metrics),
            commits: Arc::default(),
            metrics,
            health,
            hosts: None,
            follower: None,
            file,
        })
    }

    /// For reads outside a transaction.
    pub fn reader(&self) -> &Connection {
        &self.reader
    }

    /// For writes outside a transaction.
    pub fn writer(&self) -> &Connection {
        &self.writer
    }

    /// Connections for migrations, without a statement timeout. On PostgreSQL, the caller closes them.
    pub fn migrating(&self) -> DatabaseConnection {
        match self.postgres_options() {
            None => self.writers.pool.connections.clone(),
            Some(options) => {
                let pool = PgPoolOptions::new().acquire_timeout(ACQUIRE_TIMEOUT).connect_lazy_with(options);
                SqlxPostgresConnector::from_sqlx_postgres_pool(pool)
            }
        }
    }

    /// Path of SQLite's file.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_ref().map(|(path, _)| path.as_path())
    }

    /// True if SQLite's file was read-only when it was opened. For PostgreSQL the result is false; there the first
    /// write at start-up fails.
    ///
    /// # Errors
    /// When no connection is available.
    pub async fn is_read_only(&self) -> Result<bool> {
        match &self.reads {
            ReadPool::Sqlite(reader) => Ok(reader.is_read_only().await?),
            ReadPool::Postgres(_) => Ok(false),
        }
    }

    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Begins a transaction for writing. On SQLite it is IMMEDIATE, because a reader that becomes a writer fails if
    /// another wrote in between.
    pub async fn begin(&self) -> Result<Connection> {
        let options = TransactionOptions {
            sqlite_transaction_mode: (self.dialect == Dialect::Sqlite).then_some(SqliteTransactionMode::Immediate),
            ..TransactionOptions::default()
        };
        let open = self.writers.begin(options).await?;
        Ok(Connection::Transaction(LazyTransaction::from_open(self.writers.clone(), open, self.commit_notifier())))
    }

    /// Like [`Db::begin`], but on PostgreSQL it begins with its first statement, which may be the whole transaction.
    pub async fn begin_lazy(&self) -> Result<Connection> {
        match self.dialect {
            Dialect::Sqlite => self.begin().await,
            Dialect::Postgres => {
                Ok(Connection::Transaction(LazyTransaction::new(self.writers.clone(), self.commit_notifier())))
            }
        }
    }

    fn commit_notifier(&self) -> CommitNotifier {
        CommitNotifier { is_requested: AtomicBool::new(false), commits: self.commits.clone() }
    }

    /// Waits until a transaction of this process with events has committed. Several commits wake it once.
    pub async fn wait_for_commit(&self) {
        self.commits.notified().await;
    }

    /// Checks that the database answers, and returns why it takes no writes, if so. SQLite would continue on a file that
    /// was deleted or moved; this is an error.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn ping(&self) -> Result<Option<Unwritable>> {
        if let Some((path, opened)) = &self.file
            && !std::fs::metadata(path).is_ok_and(|known| known.ino() == *opened)
        {
            tracing::error!(path = %path.display(), "the database file was deleted or replaced: stop the server");
            return Err(Error::Unavailable("The database file was deleted or replaced.".into()));
        }
        let is_read_only = match self.dialect {
            Dialect::Postgres => "current_setting('transaction_read_only') = 'on'",
            // A file that was read-only at the start is so on purpose: the server is ready for reads.
            Dialect::Sqlite => "FALSE",
        };
        let state = Sql::new(self.dialect, format!("SELECT {is_read_only} AS \"read_only\"")).one(&self.reader).await?;
        if state.map_or(Ok(false), |row| row.try_get("", "read_only"))? {
            return Ok(Some(Unwritable::ReadOnly));
        }
        let is_read_only = self.dialect == Dialect::Sqlite && self.is_read_only().await?;
        Ok(self.health.unwritable().filter(|_| !is_read_only))
    }

    /// Closes every connection within a time limit. SQLite checkpoints its WAL first.
    pub async fn close(&self) {
        let within = async |closing| drop(tokio::time::timeout(CLOSE_TIMEOUT, closing).await);
        if let Some(follower) = &self.follower {
            follower.stop();
        }
        self.reads.close();
        within(self.exports.pool.pool.connections.clone().close()).await;
        if let Connection::Pool(reader) = &self.reader {
            within(reader.connections.clone().close()).await;
        }
        if self.dialect == Dialect::Sqlite {
            // SQLite checkpoints when the last connection closes. A slow reader cannot: its connection is read-only.
            let checkpoint = self.writers.pool.connections.execute_unprepared("PRAGMA wal_checkpoint(TRUNCATE)");
            let _ = tokio::time::timeout(ACQUIRE_TIMEOUT, checkpoint).await;
        }
        within(self.writers.pool.connections.clone().close()).await;
    }
}

/// False if a released connection is still in a transaction. When the disk is full or fails, SQLite ends the transaction itself.
/// The driver's ROLLBACK then fails, its transaction depth stays off by one, and it never commits again.
async fn is_clean(connection: &mut SqliteConnection) -> Result<bool, SqlxError> {
    // Executes a pending rollback first.
    connection.ping().await?;
    Ok(!connection.is_in_transaction())
}

fn is_busy(error: &SqlxError) -> bool {
    error.as_database_error().is_some_and(|e| e.code().as_deref() == Some("5"))
}

/// Error of a connection attempt, without the URL and its password.
fn connect_error(error: SqlxError) -> DbErr {
    DbErr::Conn(sea_orm::RuntimeErr::SqlxError(error.into()))
}
