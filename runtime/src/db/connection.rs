//! What statements run on: the pool or one transaction, with decimals bound as each database stores them.

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
use tokio::sync::{Notify, OnceCell, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tracing::Instrument;

use super::postgres_reader::PostgresReader;
use super::statement_timeout::{ANSWER_GRACE, no_answer};
use super::{ACQUIRE_TIMEOUT, stale_plans};
use crate::error::Result;
use crate::metrics::{self, Wanted};

/// The pool or a transaction. Behaviours get it from their context and run any SeaORM query on it.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there are few at a time, and a request has one")]
pub enum Connection {
    Pool(Pool),
    Transaction(LazyTransaction),
}

/// Connections, and how long a statement on one may take in PostgreSQL, if there is a limit.
#[derive(Debug, Clone)]
pub struct Pool {
    pub(super) connections: DatabaseConnection,
    pub(super) limit: Option<Duration>,
    /// Where its statements and the callers that want a connection are counted.
    pub(super) metrics: metrics::Database,
    /// The connections that rows are read with, where these are others.
    reads: Option<Arc<PostgresReader>>,
}

impl Pool {
    /// A pool whose statements are measured: by the driver's wrapper, which leaves out the wait for a connection.
    pub(super) fn new(
        mut connections: DatabaseConnection,
        limit: Option<Duration>,
        metrics: &metrics::Database,
    ) -> Pool {
        let metrics = metrics.of_pool();
        let measures = metrics.clone();
        connections.set_metric_callback(move |run| measures.statement(&run.statement.sql, run.elapsed));
        Pool { connections, limit, metrics, reads: None }
    }

    /// The same pool, whose rows are read with other connections.
    pub(super) fn reading(self, reads: PostgresReader) -> Pool {
        Pool { reads: Some(Arc::new(reads)), ..self }
    }

    /// Runs one statement of the pool itself, which wants a connection for it.
    async fn run<T>(&self, sql: String, work: impl Future<Output = Result<T, DbErr>>) -> Result<T, DbErr> {
        let _wanted = self.metrics.want_connection();
        self.watched(sql, work).await
    }

    /// Runs one statement, and counts it as abandoned where the caller gives up first.
    async fn watched<T>(&self, sql: String, work: impl Future<Output = Result<T, DbErr>>) -> Result<T, DbErr> {
        let watched = self.metrics.watch(sql);
        let answered = self.answer(work).await;
        watched.end();
        answered
    }

    /// Runs one statement without values, which the driver's wrapper does not measure.
    async fn timed<T>(&self, sql: &str, work: impl Future<Output = Result<T, DbErr>>) -> Result<T, DbErr> {
        let begun = Instant::now();
        let answered = self.watched(sql.to_string(), work).await;
        self.metrics.statement(sql, begun.elapsed());
        answered
    }

    /// The pool as it is now.
    pub(super) fn state(&self, name: &'static str) -> metrics::PoolState {
        let (most, open, idle) = match self.connections.get_database_backend() {
            DbBackend::Sqlite => sizes(self.connections.get_sqlite_connection_pool()),
            _ => sizes(self.connections.get_postgres_connection_pool()),
        };
        metrics::PoolState { name, most, open, idle, wanted: self.metrics.wanted() }
    }

    /// See [`answer`].
    pub(super) async fn answer<T>(&self, work: impl Future<Output = Result<T, DbErr>>) -> Result<T, DbErr> {
        answer(self.limit, work).await
    }
}

/// The answer to a statement. PostgreSQL ends by itself what takes longer than the limit. If no answer comes even then, its host
/// may have gone without a word, for which the driver would wait for ever.
///
/// # Errors
/// Those of the work, and when no answer comes.
pub(super) async fn answer<T>(
    limit: Option<Duration>,
    work: impl Future<Output = Result<T, DbErr>>,
) -> Result<T, DbErr> {
    let answered = match limit {
        None => work.await,
        Some(limit) => timeout(limit + ANSWER_GRACE, work).await.unwrap_or_else(|_| Err(no_answer())),
    };
    answered.inspect_err(stale_plans::record)
}

fn sizes<D: Database>(pool: &pool::Pool<D>) -> (u32, u32, usize) {
    (pool.options().get_max_connections(), pool.size(), pool.num_idle())
}

/// Connections that write, with a permit for each. A write that waits for another's lock has its connection all the while, and
/// the permit of one that is abandoned ends after its rollback.
#[derive(Debug, Clone)]
pub(super) struct TransactionPool {
    pub pool: Pool,
    turns: Arc<Semaphore>,
}

/// The right to write, while it is held.
pub(super) type WritePermit = OwnedSemaphorePermit;

/// A transaction, and its turn.
#[derive(Debug)]
pub(super) struct OpenTransaction {
    transaction: Option<DatabaseTransaction>,
    pool: Pool,
    turn: Option<WritePermit>,
    /// Its connection is wanted until the transaction has ended.
    wanted: Option<Wanted>,
}

impl TransactionPool {
    pub fn new(pool: Pool, most: u32) -> TransactionPool {
        TransactionPool { pool, turns: Arc::new(Semaphore::new(most as usize)) }
    }

    /// # Errors
    /// When none is free in time.
    pub async fn acquire_permit(&self) -> Result<WritePermit, DbErr> {
        let turn = timeout(ACQUIRE_TIMEOUT, self.turns.clone().acquire_owned()).await;
        turn.ok().and_then(Result::ok).ok_or(DbErr::ConnectionAcquire(ConnAcquireErr::Timeout))
    }

    /// Begins to the end, whoever waits for it: where nobody is left, what has begun is rolled back. PostgreSQL's driver
    /// does not know of a transaction before it has heard that it began (sqlx's issue 4393). Left by then, the connection
    /// would go on in one that nobody commits, with what others write on it.
    pub async fn begin(&self, options: TransactionOptions) -> Result<OpenTransaction, DbErr> {
        let wanted = Some(self.pool.metrics.want_connection());
        let turn = Some(self.acquire_permit().await?);
        let pool = self.pool.clone();
        let begin = async move {
            let transaction = Some(pool.answer(pool.connections.begin_with_options(options)).await?);
            Ok(OpenTransaction { transaction, pool, turn, wanted })
        };
        // A task has no span of its own: this one works for the request that waits for it.
        tokio::spawn(begin.in_current_span()).await.map_err(|panicked| DbErr::Custom(panicked.to_string()))?
    }
}

impl OpenTransaction {
    fn transaction(&self) -> Result<&DatabaseTransaction, DbErr> {
        self.transaction.as_ref().ok_or_else(|| DbErr::Custom("the transaction has ended".into()))
    }

    async fn commit(mut self) -> Result<(), DbErr> {
        match self.transaction.take() {
            Some(transaction) => self.pool.answer(transaction.commit()).await,
            None => Ok(()),
        }
    }
}

/// What is not committed is rolled back, and its turn ends after that: the last statement may go on in the database although
/// nobody waits for it any more, and has its connection until then.
impl Drop for OpenTransaction {
    fn drop(&mut self) {
        if let (Some(transaction), Ok(runtime)) = (self.transaction.take(), Handle::try_current()) {
            let (pool, turn, wanted) = (self.pool.clone(), self.turn.take(), self.wanted.take());
            runtime.spawn(async move {
                if let Err(error) = pool.answer(transaction.rollback()).await {
                    tracing::debug!(%error, "a transaction ended before it was rolled back");
                }
                drop((turn, wanted));
            });
        }
    }
}

/// A transaction, which begins with its first statement unless it has begun already.
#[derive(Debug)]
pub struct LazyTransaction {
    pool: TransactionPool,
    begun: OnceCell<OpenTransaction>,
    /// One statement was all of it, and stands.
    over: AtomicBool,
    announcement: CommitNotifier,
}

impl LazyTransaction {
    /// One that begins when it is needed, on PostgreSQL.
    pub(super) fn new(pool: TransactionPool, announcement: CommitNotifier) -> LazyTransaction {
        LazyTransaction { pool, begun: OnceCell::new(), over: AtomicBool::new(false), announcement }
    }

    pub(super) fn begun(
        pool: TransactionPool,
        begun: OpenTransaction,
        announcement: CommitNotifier,
    ) -> LazyTransaction {
        LazyTransaction { begun: OnceCell::new_with(Some(begun)), ..LazyTransaction::new(pool, announcement) }
    }

    /// Where a statement runs that is to be all of this transaction; nowhere once it has begun.
    pub(super) fn pending_pool(&self) -> Option<&TransactionPool> {
        self.begun.get().is_none().then_some(&self.pool)
    }

    /// Says how long its statements may take, if there is a limit.
    pub(super) fn set_timeout(&mut self, limit: Option<Duration>) {
        self.pool.pool.limit = limit;
        if let Some(begun) = self.begun.get_mut() {
            begun.pool.limit = limit;
        }
    }

    /// Whether a statement was all of it.
    pub(super) fn end(&self, over: bool) {
        self.over.store(over, Ordering::Relaxed);
    }

    async fn begin(&self) -> Result<&DatabaseTransaction, DbErr> {
        if self.over.load(Ordering::Relaxed) {
            return Err(DbErr::Custom("the transaction was one statement, which stands already".into()));
        }
        self.begun.get_or_try_init(|| self.pool.begin(TransactionOptions::default())).await?.transaction()
    }
}

/// Word of a commit that those who deliver events wait for.
#[derive(Debug)]
pub struct CommitNotifier {
    pub(super) wanted: AtomicBool,
    pub(super) commits: Arc<Notify>,
}

impl Connection {
    /// Commits a transaction; on the pool there is nothing to commit.
    pub async fn commit(self) -> Result<()> {
        match self {
            Connection::Pool(_) => Ok(()),
            Connection::Transaction(LazyTransaction { begun, announcement, .. }) => {
                if let Some(begun) = begun.into_inner() {
                    begun.commit().await?;
                }
                if announcement.wanted.into_inner() {
                    announcement.commits.notify_one();
                }
                Ok(())
            }
        }
    }

    /// Whether this is a transaction in which a statement has run.
    pub fn is_open(&self) -> bool {
        matches!(self, Connection::Transaction(unit) if unit.begun.get().is_some())
    }

    /// Has the commit of this transaction wake whoever waits for [`super::Db::announced`].
    pub fn notify_commit(&self) {
        if let Connection::Transaction(unit) = self {
            unit.announcement.wanted.store(true, Ordering::Relaxed);
        }
    }

    /// The statement as this database takes it.
    fn adapt(&self, mut statement: Statement) -> Statement {
        if self.get_database_backend() == DbBackend::Sqlite
            && let Some(values) = &mut statement.values
        {
            adapt(values);
        }
        statement
    }
}

/// A decimal is `numeric` on PostgreSQL and, on SQLite, an integer scaled by the column's places. Every decimal that
/// reaches a statement carries exactly its column's places, so its mantissa is that integer.
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
            Connection::Transaction(unit) => unit.pool.pool.connections.get_database_backend(),
        }
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        let statement = self.adapt(statement);
        let sql = statement.sql.clone();
        match self {
            Connection::Pool(pool) => pool.run(sql, pool.connections.execute_raw(statement)).await,
            Connection::Transaction(unit) => {
                unit.pool.pool.watched(sql, unit.begin().await?.execute_raw(statement)).await
            }
        }
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        match self {
            Connection::Pool(pool) => {
                let _wanted = pool.metrics.want_connection();
                pool.timed(sql, pool.connections.execute_unprepared(sql)).await
            }
            Connection::Transaction(unit) => {
                unit.pool.pool.timed(sql, unit.begin().await?.execute_unprepared(sql)).await
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
            Connection::Transaction(unit) => {
                unit.pool.pool.watched(sql, unit.begin().await?.query_one_raw(statement)).await
            }
        }
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        let statement = self.adapt(statement);
        let sql = statement.sql.clone();
        match self {
            Connection::Pool(Pool { reads: Some(reads), .. }) => reads.query(statement.into()).await,
            Connection::Pool(pool) => pool.run(sql, pool.connections.query_all_raw(statement)).await,
            Connection::Transaction(unit) => {
                unit.pool.pool.watched(sql, unit.begin().await?.query_all_raw(statement)).await
            }
        }
    }
}
