//! Connections that statements run on: the pool or one transaction. Binds decimals as each database stores them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use sea_orm::error::ConnAcquireErr;
use sea_orm::sqlx::{Database, pool};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, ExecResult, QueryResult, Statement,
    TransactionOptions, TransactionTrait, Value, Values,
};
use tokio::runtime::Handle;
use tokio::sync::{Notify, OnceCell};
use tokio::time::timeout;
use tracing::Instrument;

use super::health::Health;
use super::postgres_reader::PostgresReader;
use super::statement_timeout::{ANSWER_GRACE, no_response};
use super::{ACQUIRE_TIMEOUT, stale_plans};
use crate::client::Caller;
use crate::error::Result;
use crate::fair_queue::{FairQueue, Limits, Permit};
use crate::metrics::{self, DemandGuard};

/// The pool or a transaction. Hooks get it from their context and can run any SeaORM query on it.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "few exist at a time: one per request")]
pub enum Connection {
    Pool(Pool),
    Transaction(LazyTransaction),
}

/// A connection pool and the statement timeout on PostgreSQL, if there is one.
#[derive(Debug, Clone)]
pub struct Pool {
    pub(super) connections: DatabaseConnection,
    pub(super) limit: Option<Duration>,
    /// Metrics of its statements and of the callers that wait for a connection.
    pub(super) metrics: metrics::Database,
    /// Shares the connections among the clients. `None` if the caller has a permit already.
    queue: Option<FairQueue>,
    /// Separate connections for reading rows, if there are any.
    reads: Option<Arc<PostgresReader>>,
    /// Gets the errors of statements.
    health: Arc<Health>,
}

impl Pool {
    /// A pool without a statement timeout. SQLite's connections enforce their own.
    pub(super) fn without_timeout(connections: DatabaseConnection, size: u32, metrics: &metrics::Database) -> Pool {
        Pool::new(connections, size, None, metrics)
    }

    /// A pool whose statements are measured by the driver's callback, which excludes the wait for a connection.
    pub(super) fn new(
        mut connections: DatabaseConnection,
        size: u32,
        limit: Option<Duration>,
        metrics: &metrics::Database,
    ) -> Pool {
        let metrics = metrics.of_pool();
        let measures = metrics.clone();
        connections.set_metric_callback(move |run| measures.statement(&run.statement.sql, run.elapsed));
        let queue = Some(FairQueue::new(Limits::of_connections(size)));
        Pool { connections, limit, metrics, queue, reads: None, health: Arc::default() }
    }

    /// The same pool with a separate reader for rows.
    pub(super) fn reading(self, reads: PostgresReader) -> Pool {
        Pool { reads: Some(Arc::new(reads)), ..self }
    }

    /// The same pool, whose errors and writes are reported.
    pub(super) fn reporting_to(self, health: &Arc<Health>) -> Pool {
        Pool { health: health.clone(), ..self }
    }

    /// The same pool for a caller that has a permit.
    pub(super) fn with_permit(self) -> Pool {
        Pool { queue: None, ..self }
    }

    /// Waits for the permit to use a connection, unless the caller has one.
    async fn acquire_permit(&self) -> Result<Option<Permit>, DbErr> {
        match &self.queue {
            Some(queue) => acquire(queue).await.map(Some),
            None => Ok(None),
        }
    }

    /// Runs one statement on a connection of the pool.
    async fn run<T>(&self, sql: String, work: impl Future<Output = Result<T, DbErr>>) -> Result<T, DbErr> {
        let _guard = self.metrics.count_demand();
        let _permit = self.acquire_permit().await?;
        self.track(sql, work).await
    }

    /// Runs one statement, and counts it as abandoned if the caller is dropped first.
    async fn track<T>(&self, sql: String, work: impl Future<Output = Result<T, DbErr>>) -> Result<T, DbErr> {
        let guard = self.metrics.time_statement(sql);
        let result = self.answer(work).await;
        guard.end();
        result
    }

    /// Runs one statement without values, which the driver's callback does not measure.
    async fn run_unprepared<T>(&self, sql: &str, work: impl Future<Output = Result<T, DbErr>>) -> Result<T, DbErr> {
        let started = Instant::now();
        let result = self.track(sql.to_string(), work).await;
        self.metrics.statement(sql, started.elapsed());
        result
    }

    /// Current state of the pool.
    pub(super) fn state(&self, name: &'static str) -> metrics::PoolState {
        let (max, open, idle) = match self.connections.get_database_backend() {
            DbBackend::Sqlite => sizes(self.connections.get_sqlite_connection_pool()),
            _ => sizes(self.connections.get_postgres_connection_pool()),
        };
        metrics::PoolState { name, max, open, idle, demand: self.metrics.demand() }
    }

    /// See [`answer`].
    pub(super) async fn answer<T>(&self, work: impl Future<Output = Result<T, DbErr>>) -> Result<T, DbErr> {
        answer(self.limit, work).await.inspect_err(|error| self.health.record(error))
    }

    /// Runs what writes and commits.
    pub(super) async fn write<T, E>(&self, work: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        work.await.inspect(|_| self.health.record_write())
    }
}

/// Awaits a statement. PostgreSQL ends it at its timeout. If there is no answer shortly after, the host may be
/// unreachable, which the driver would never notice.
///
/// # Errors
/// The statement's error, or a lost connection if there is no answer.
pub(super) async fn answer<T>(
    limit: Option<Duration>,
    work: impl Future<Output = Result<T, DbErr>>,
) -> Result<T, DbErr> {
    let result = match limit {
        None => work.await,
        Some(limit) => timeout(limit + ANSWER_GRACE, work).await.unwrap_or_else(|_| Err(no_response())),
    };
    result.inspect_err(stale_plans::record)
}

fn sizes<D: Database>(pool: &pool::Pool<D>) -> (u32, u32, usize) {
    (pool.options().get_max_connections(), pool.size(), pool.num_idle())
}

/// Waits for a connection's permit.
///
/// # Errors
/// When none is free within [`ACQUIRE_TIMEOUT`].
pub(super) async fn acquire(queue: &FairQueue) -> Result<Permit, DbErr> {
    let permit = timeout(ACQUIRE_TIMEOUT, queue.acquire(Caller::current(), |_| true)).await;
    permit.ok().flatten().ok_or(DbErr::ConnectionAcquire(ConnAcquireErr::Timeout))
}

/// A pool for transactions. A write that waits for another's lock keeps its connection. The permit of an abandoned
/// transaction is released after its rollback.
#[derive(Debug, Clone)]
pub(super) struct TransactionPool {
    pub pool: Pool,
}

/// A begun transaction with its permit.
#[derive(Debug)]
pub(super) struct OpenTransaction {
    transaction: Option<DatabaseTransaction>,
    pool: Pool,
    permit: Option<Permit>,
    /// Counts its connection as in use until the transaction has ended.
    demand: Option<DemandGuard>,
}

impl TransactionPool {
    /// # Errors
    /// When no permit is free within [`ACQUIRE_TIMEOUT`].
    pub(super) async fn acquire_permit(&self) -> Result<Option<Permit>, DbErr> {
        self.pool.acquire_permit().await
    }

    /// Begins in a task that completes even if the caller is dropped; the transaction is then rolled back. sqlx knows
    /// of a transaction only after PostgreSQL confirmed BEGIN (sqlx issue 4393). If it was dropped before, the
    /// connection would stay in an open transaction that nobody commits, with the next caller's writes in it.
    pub(super) async fn begin(&self, options: TransactionOptions) -> Result<OpenTransaction, DbErr> {
        let demand = Some(self.pool.metrics.count_demand());
        let permit = self.acquire_permit().await?;
        let pool = self.pool.clone();
        let begin = async move {
            let transaction = Some(pool.answer(pool.connections.begin_with_options(options)).await?);
            Ok(OpenTransaction { transaction, pool, permit, demand })
        };
        // A task has no span. This one belongs to the caller's request.
        tokio::spawn(begin.in_current_span()).await.map_err(|panicked| DbErr::Custom(panicked.to_string()))?
    }
}

impl OpenTransaction {
    fn transaction(&self) -> Result<&DatabaseTransaction, DbErr> {
        self.transaction.as_ref().ok_or_else(|| DbErr::Custom("the transaction has ended".into()))
    }

    async fn commit(mut self) -> Result<(), DbErr> {
        match self.transaction.take() {
            Some(transaction) => self.pool.write(self.pool.answer(transaction.commit())).await,
            None => Ok(()),
        }
    }
}

/// Rolls back an uncommitted transaction, and then releases its permit: the last statement may still run in the
/// database and occupies the connection until it ends.
impl Drop for OpenTransaction {
    fn drop(&mut self) {
        if let (Some(transaction), Ok(runtime)) = (self.transaction.take(), Handle::try_current()) {
            let (pool, permit, demand) = (self.pool.clone(), self.permit.take(), self.demand.take());
            runtime.spawn(async move {
                if let Err(error) = pool.answer(transaction.rollback()).await {
                    tracing::debug!(%error, "could not roll back an abandoned transaction");
                }
                drop((permit, demand));
            });
        }
    }
}

/// A transaction that begins with its first statement, unless it has begun already.
#[derive(Debug)]
pub struct LazyTransaction {
    pool: TransactionPool,
    open: OnceCell<OpenTransaction>,
    /// A single statement was the whole transaction and is committed.
    is_committed: AtomicBool,
    commit_notifier: CommitNotifier,
}

impl LazyTransaction {
    /// A transaction that begins with its first statement, on PostgreSQL.
    pub(super) fn new(pool: TransactionPool, commit_notifier: CommitNotifier) -> LazyTransaction {
        LazyTransaction { pool, open: OnceCell::new(), is_committed: AtomicBool::new(false), commit_notifier }
    }

    pub(super) fn from_open(
        pool: TransactionPool,
        open: OpenTransaction,
        commit_notifier: CommitNotifier,
    ) -> LazyTransaction {
        LazyTransaction { open: OnceCell::new_with(Some(open)), ..LazyTransaction::new(pool, commit_notifier) }
    }

    /// The pool for a statement that is the whole transaction. `None` if the transaction has begun.
    pub(super) fn pending_pool(&self) -> Option<&TransactionPool> {
        self.open.get().is_none().then_some(&self.pool)
    }

    /// Sets the statement timeout, or removes it.
    pub(super) fn set_timeout(&mut self, limit: Option<Duration>) {
        self.pool.pool.limit = limit;
        if let Some(open) = self.open.get_mut() {
            open.pool.limit = limit;
        }
    }

    /// Records if a single statement was the whole transaction.
    pub(super) fn end(&self, is_committed: bool) {
        self.is_committed.store(is_committed, Ordering::Relaxed);
    }

    async fn begin(&self) -> Result<&DatabaseTransaction, DbErr> {
        if self.is_committed.load(Ordering::Relaxed) {
            return Err(DbErr::Custom("the transaction was a single statement, which is committed already".into()));
        }
        self.open.get_or_try_init(|| self.pool.begin(TransactionOptions::default())).await?.transaction()
    }
}

/// Notifies the event fan-out of a commit.
#[derive(Debug)]
pub struct CommitNotifier {
    pub(super) is_requested: AtomicBool,
    pub(super) commits: Arc<Notify>,
}

impl Connection {
    /// Commits a transaction. On the pool it does nothing.
    pub async fn commit(self) -> Result<()> {
        match self {
            Connection::Pool(_) => Ok(()),
            Connection::Transaction(LazyTransaction { open, commit_notifier, .. }) => {
                if let Some(open) = open.into_inner() {
                    open.commit().await?;
                }
                if commit_notifier.is_requested.into_inner() {
                    commit_notifier.commits.notify_one();
                }
                Ok(())
            }
        }
    }

    /// True for a transaction that has begun.
    pub fn is_open(&self) -> bool {
        matches!(self, Connection::Transaction(transaction) if transaction.open.get().is_some())
    }

    /// Makes the commit of this transaction wake [`super::Db::wait_for_commit`].
    pub fn notify_commit(&self) {
        if let Connection::Transaction(transaction) = self {
            transaction.commit_notifier.is_requested.store(true, Ordering::Relaxed);
        }
    }

    /// Converts the statement's values for this database.
    fn adapt(&self, mut statement: Statement) -> Statement {
        if self.get_database_backend() == DbBackend::Sqlite
            && let Some(values) = &mut statement.values
        {
            adapt(values);
        }
        statement
    }
}

/// Converts decimals for SQLite, which stores an integer scaled by the column's places. Every decimal in a statement
/// has exactly the column's scale, so that its mantissa is this integer.
pub(super) fn adapt(values: &mut Values) {
    for value in &mut values.0 {
        if let Value::Decimal(decimal) = value {
            *value = Value::BigInt(decimal.and_then(|d| i64::try_from(d.mantissa()).ok()));
        }
    }
}

#[async_trait]
impl ConnectionTrait for Connection {
    fn get_database_backend(&self) -> DbBackend {
        match self {
            Connection::Pool(pool) => pool.connections.get_database_backend(),
            Connection::Transaction(transaction) => transaction.pool.pool.connections.get_database_backend(),
        }
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        let statement = self.adapt(statement);
        let sql = statement.sql.clone();
        match self {
            Connection::Pool(pool) => pool.write(pool.run(sql, pool.connections.execute_raw(statement))).await,
            Connection::Transaction(transaction) => {
                transaction.pool.pool.track(sql, transaction.begin().await?.execute_raw(statement)).await
            }
        }
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        match self {
            Connection::Pool(pool) => {
                let _guard = pool.metrics.count_demand();
                let _permit = pool.acquire_permit().await?;
                pool.run_unprepared(sql, pool.connections.execute_unprepared(sql)).await
            }
            Connection::Transaction(transaction) => {
                transaction.pool.pool.run_unprepared(sql, transaction.begin().await?.execute_unprepared(sql)).await
            }
        }
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        let statement = self.adapt(statement);
        let sql = statement.sql.clone();
        match self {
            Connection::Pool(Pool { reads: Some(reads), .. }) => {
                Ok(reads.query(statement.into()).await?.into_iter().next())
            }
            Connection::Pool(pool) => pool.run(sql, pool.connections.query_one_raw(statement)).await,
            Connection::Transaction(transaction) => {
                transaction.pool.pool.track(sql, transaction.begin().await?.query_one_raw(statement)).await
            }
        }
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        let statement = self.adapt(statement);
        let sql = statement.sql.clone();
        match self {
            Connection::Pool(Pool { reads: Some(reads), .. }) => reads.query(statement.into()).await,
            Connection::Pool(pool) => pool.run(sql, pool.connections.query_all_raw(statement)).await,
            Connection::Transaction(transaction) => {
                transaction.pool.pool.track(sql, transaction.begin().await?.query_all_raw(statement)).await
            }
        }
    }
}
