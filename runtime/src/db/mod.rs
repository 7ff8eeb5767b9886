//! The database: how it is opened, the ways to reach it, and the SQL dialect.
//!
//! Each database has connections that read and others that write. SQLite has one that writes, because its writers exclude
//! one another anyway and a mixed pool makes them wait in the worst order. Exports have connections of their own.

mod advisory_lock;
mod batcher;
mod coalesce;
mod connection;
mod input_row;
mod pool_metrics;
mod postgres_reader;
mod read_pool;
mod row_buffer;
mod row_stream;
mod rows;
mod sql;
mod sqlite_bind;
mod sqlite_functions;
mod sqlite_reader;
mod stale_plans;
mod statement_timeout;

use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use sea_orm::sqlx::Connection as _;
use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions};
use sea_orm::sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbErr, SqliteTransactionMode, SqlxError, SqlxPostgresConnector,
    SqlxSqliteConnector, TransactionOptions,
};
use tokio::sync::Notify;

pub use advisory_lock::{DedicatedLock, Lock};
use coalesce::Batchers;
use connection::TransactionPool;
pub use connection::{CommitNotifier, Connection, LazyTransaction, Pool};
pub use input_row::{INPUT_CTE, InputRow};
use postgres_reader::PostgresReader;
use read_pool::ReadPool;
pub use row_buffer::{BufferedRow, Stored};
use row_stream::ExportPool;
pub use row_stream::{MAX_CONCURRENT_EXPORTS, RowSink};
pub use rows::{Row, Rows, SharedRow};
pub use sql::{FALSE, Operand, Sql, TRUE};
pub use sqlite_bind::time_text;
pub use sqlite_functions::fold;
use sqlite_reader::SqliteReader;
pub use statement_timeout::WITHOUT_TIMEOUT;

use crate::error::{Error, Result};
use crate::metrics;

/// Which SQL is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    Postgres,
}

/// An open database.
#[derive(Debug)]
pub struct Db {
    reader: Connection,
    writer: Connection,
    writers: TransactionPool,
    exports: ExportPool,
    dialect: Dialect,
    /// The connections that read records.
    reads: ReadPool,
    batchers: Batchers,
    /// Told of the commits that announce events.
    commits: Arc<Notify>,
    /// Where its statements, batches and pools are counted.
    metrics: metrics::Database,
    /// How PostgreSQL is reached.
    options: Option<PgConnectOptions>,
    /// Where SQLite's file was when it was opened, and which it was.
    file: Option<(PathBuf, u64)>,
}

/// How long a request waits for a connection of the pool before it is told 503.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// So many statements are kept prepared on each connection of PostgreSQL, and of SQLite for short reads. A change of other
/// fields is another statement.
const STATEMENT_CACHE_CAPACITY: usize = 200;

/// A connection of exports that nobody needs is closed after so long.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// A connection of PostgreSQL that was idle for so long is tried out before a request has it.
const PING_AFTER_IDLE: Duration = Duration::from_secs(1);

/// What is under way when the database closes has so long to notice, and a database that hangs to let go.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

impl Db {
    /// Opens `sqlite://<path>` (created when missing) or `postgres://...`. `pool` is the number of connections of the
    /// PostgreSQL pool, or of SQLite's readers. On these no statement takes longer than `limit`, if there is one.
    ///
    /// # Errors
    /// When the URL has another scheme, or the database cannot be reached.
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
                "an SQLite database in memory cannot be shared by its connections: name a file".into(),
            ));
        }
        let options = SqliteConnectOptions::from_str(url).map_err(connect_error)?;
        let path = options.get_filename().to_path_buf();
        // SQLite does not say which file it cannot open.
        let unopened = |error| DbErr::Conn(sea_orm::RuntimeErr::Internal(format!("{}: {error}", path.display())));
        let options = options
            .create_if_missing(true)
            .foreign_keys(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .busy_timeout(Duration::from_secs(5))
            // What REPLACE displaces is deleted, and counted as that.
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
        // What stands in it is its owner's alone, whatever the folder is; SQLite gives the other files the same rights.
        let _ = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        // The writer opens first: it makes the file and switches it to WAL before a reader looks.
        let begun = Instant::now();
        let writer = loop {
            let pool = pool_of(1, None).after_release(|connection, _| Box::pin(is_clean(connection)));
            match pool.connect_with(options.clone()).await {
                // Another process is switching the same file to WAL, for which SQLite does not wait by itself.
                Err(error) if is_busy(&error) && begun.elapsed() < ACQUIRE_TIMEOUT => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                connected => break connected.map_err(unopened)?,
            }
        };
        let metrics = metrics::Database::default();
        let writer = pool_without_timeout(SqlxSqliteConnector::from_sqlx_sqlite_pool(writer), &metrics);
        let file = std::fs::metadata(&path).ok().map(|known| (path.clone(), known.ino()));
        let options = options.pragma("query_only", "ON");
        let reader = pool_of(pool, limit).connect_with(options.clone()).await.map_err(unopened)?;
        let exports = pool_of(MAX_CONCURRENT_EXPORTS, None).idle_timeout(IDLE_TIMEOUT).connect_lazy_with(options);
        Ok(Db {
            reader: Connection::Pool(pool_without_timeout(
                SqlxSqliteConnector::from_sqlx_sqlite_pool(reader),
                &metrics,
            )),
            writer: Connection::Pool(writer.clone()),
            writers: TransactionPool::new(writer, 1),
            exports: ExportPool::new(SqlxSqliteConnector::from_sqlx_sqlite_pool(exports), &metrics),
            dialect: Dialect::Sqlite,
            reads: ReadPool::Sqlite(SqliteReader::new(sqlite_reader::location(&path, url), pool, limit, &metrics)?),
            batchers: Batchers::new(&metrics),
            commits: Arc::default(),
            metrics,
            options: None,
            file,
        })
    }

    async fn postgres(url: &str, size: u32, limit: Option<Duration>) -> Result<Db, DbErr> {
        // The driver's own word for floating-point numbers, of which there are none, is one that poolers refuse.
        let options = PgConnectOptions::from_str(url)
            .map_err(connect_error)?
            .application_name("charter")
            .statement_cache_capacity(STATEMENT_CACHE_CAPACITY)
            .extra_float_digits(None);
        let pool_of = PgPoolOptions::new()
            .max_connections(size)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .test_before_acquire(false)
            // What was cut off while nobody used it is found by nobody's request.
            .before_acquire(|connection, it| {
                Box::pin(async move {
                    Ok(!stale_plans::predates_schema_change(it.age) && is_alive(connection, it.idle_for).await?)
                })
            });
        let pool_of = match limit {
            Some(limit) => pool_of
                .after_release(move |connection, _| Box::pin(statement_timeout::set_on_connection(connection, limit))),
            None => pool_of,
        };
        // Half of the connections read, and half write.
        let (reading, size) = ((size / 2).max(1), (size - size / 2).max(1));
        let pool_of = pool_of.max_connections(size);
        let mut limited =
            limit.map_or_else(|| options.clone(), |limit| statement_timeout::with_timeout(options.clone(), limit));
        let pool = match pool_of.clone().connect_with(limited.clone()).await {
            Err(error) if statement_timeout::is_timeout_refused(&error) => {
                tracing::warn!(
                    "the pooler in front of the database takes no statement_timeout: set one on the role, or what \
                     requests no longer wait for goes on"
                );
                limited = options.clone();
                pool_of.connect_with(options.clone()).await
            }
            pool => pool,
        };
        let pool = match pool {
            // The pool tries again until it gives up, and does not say why.
            Err(SqlxError::PoolTimedOut) => Err(reason(&options).await),
            pool => pool.map_err(connect_error),
        }?;
        let metrics = metrics::Database::default();
        let pool = Pool::new(SqlxPostgresConnector::from_sqlx_postgres_pool(pool), limit, &metrics);
        let reads = PostgresReader::new(limited, reading, limit, &metrics)?;
        let exports = PgPoolOptions::new()
            .max_connections(MAX_CONCURRENT_EXPORTS)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .idle_timeout(IDLE_TIMEOUT)
            .connect_lazy_with(options.clone());
        Ok(Db {
            reader: Connection::Pool(pool.clone().reading(reads.clone())),
            writer: Connection::Pool(pool.clone()),
            writers: TransactionPool::new(pool, size),
            exports: ExportPool::new(SqlxPostgresConnector::from_sqlx_postgres_pool(exports), &metrics),
            dialect: Dialect::Postgres,
            reads: ReadPool::Postgres(reads),
            batchers: Batchers::new(&metrics),
            commits: Arc::default(),
            metrics,
            options: Some(options),
            file: None,
        })
    }

    /// For reading outside a transaction.
    pub fn reader(&self) -> &Connection {
        &self.reader
    }

    /// For writing outside a transaction.
    pub fn writer(&self) -> &Connection {
        &self.writer
    }

    /// What migrations run on, which take as long as they take; to be closed on PostgreSQL.
    pub fn migrating(&self) -> DatabaseConnection {
        match &self.options {
            None => self.writers.pool.connections.clone(),
            Some(options) => {
                let pool = PgPoolOptions::new().acquire_timeout(ACQUIRE_TIMEOUT).connect_lazy_with(options.clone());
                SqlxPostgresConnector::from_sqlx_postgres_pool(pool)
            }
        }
    }

    /// How to reach PostgreSQL outside of the pool, for what takes longer than a request or holds a session.
    pub fn postgres_options(&self) -> Option<&PgConnectOptions> {
        self.options.as_ref()
    }

    /// SQLite's file.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_ref().map(|(path, _)| path.as_path())
    }

    /// Whether SQLite's file can only be read. Of PostgreSQL the start says so, where it has to write.
    ///
    /// # Errors
    /// When the connection that writes cannot be had.
    pub async fn is_read_only(&self) -> Result<bool> {
        match &self.reads {
            ReadPool::Sqlite(reader) => Ok(reader.is_read_only().await?),
            ReadPool::Postgres(_) => Ok(false),
        }
    }

    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Begins a transaction that will write: IMMEDIATE on SQLite, where a reader that turns writer fails at once.
    pub async fn begin(&self) -> Result<Connection> {
        let options = TransactionOptions {
            sqlite_transaction_mode: (self.dialect == Dialect::Sqlite).then_some(SqliteTransactionMode::Immediate),
            ..TransactionOptions::default()
        };
        let begun = self.writers.begin(options).await?;
        Ok(Connection::Transaction(LazyTransaction::begun(self.writers.clone(), begun, self.commit_notifier())))
    }

    /// The same, which on PostgreSQL begins with its first statement: there one may be all of it.
    pub async fn begin_lazy(&self) -> Result<Connection> {
        match self.dialect {
            Dialect::Sqlite => self.begin().await,
            Dialect::Postgres => {
                Ok(Connection::Transaction(LazyTransaction::new(self.writers.clone(), self.commit_notifier())))
            }
        }
    }

    fn commit_notifier(&self) -> CommitNotifier {
        CommitNotifier { wanted: AtomicBool::new(false), commits: self.commits.clone() }
    }

    /// Waits until a transaction of this process has committed that announced events. Several commits meanwhile are one.
    pub async fn wait_for_commit(&self) {
        self.commits.notified().await;
    }

    /// Whether the database answers, and is still where everybody else looks for it: a file of SQLite that was deleted or
    /// moved answers as ever.
    pub async fn ping(&self) -> Result<()> {
        if let Some((path, opened)) = &self.file
            && !std::fs::metadata(path).is_ok_and(|known| known.ino() == *opened)
        {
            tracing::error!(path = %path.display(), "the file of the database is gone, or is another: stop the server");
            return Err(Error::Unavailable("The database's file is gone, or is another.".into()));
        }
        Sql::new(self.dialect, "SELECT 1").all(&self.reader).await.map(drop)
    }

    /// Closes every connection, as far as the database lets it; SQLite folds its log into the file first.
    pub async fn close(&self) {
        let within = async |closing| drop(tokio::time::timeout(CLOSE_TIMEOUT, closing).await);
        self.reads.close();
        within(self.exports.pool.pool.connections.clone().close()).await;
        if let Connection::Pool(reader) = &self.reader {
            within(reader.connections.clone().close()).await;
        }
        if self.dialect == Dialect::Sqlite {
            // The last connection to close would do it, but a reader that is slow to close is the last, and may not.
            let checkpoint = self.writers.pool.connections.execute_unprepared("PRAGMA wal_checkpoint(TRUNCATE)");
            let _ = tokio::time::timeout(ACQUIRE_TIMEOUT, checkpoint).await;
        }
        within(self.writers.pool.connections.clone().close()).await;
    }
}

/// Connections whose answers are waited for as long as it takes: what there is to limit on SQLite is limited there.
fn pool_without_timeout(connections: DatabaseConnection, metrics: &metrics::Database) -> Pool {
    Pool::new(connections, None, metrics)
}

/// Whether no transaction is left on a connection that was given back. SQLite ends one by itself when its disk is full
/// or fails; the driver's own ROLLBACK is an error then, after which it counts one too many and never commits again.
async fn is_clean(connection: &mut SqliteConnection) -> Result<bool, SqlxError> {
    // What was told to roll back does so first.
    connection.ping().await?;
    Ok(!connection.is_in_transaction())
}

/// Whether a connection that was idle for a while still reaches PostgreSQL.
async fn is_alive(connection: &mut PgConnection, idle: Duration) -> Result<bool, SqlxError> {
    if idle < PING_AFTER_IDLE {
        return Ok(true);
    }
    connection.ping().await.map(|()| true)
}

/// Why PostgreSQL cannot be reached.
async fn reason(options: &PgConnectOptions) -> DbErr {
    match tokio::time::timeout(ACQUIRE_TIMEOUT, PgConnection::connect_with(options)).await {
        Ok(Err(error)) => connect_error(error),
        _ => connect_error(SqlxError::PoolTimedOut),
    }
}

fn is_busy(error: &SqlxError) -> bool {
    error.as_database_error().is_some_and(|error| error.code().as_deref() == Some("5"))
}

/// A failure to open, without the URL and so without its password.
fn connect_error(error: SqlxError) -> DbErr {
    DbErr::Conn(sea_orm::RuntimeErr::SqlxError(error.into()))
}
