//! What statements run on: the pool or one transaction, with decimals bound as each database stores them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use sea_orm::error::ConnAcquireErr;
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, ExecResult, QueryResult, Statement,
    TransactionOptions, TransactionTrait, Value, Values,
};
use tokio::sync::{Notify, OnceCell, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::ACQUIRE;
use crate::error::Result;

/// The pool or a transaction. Behaviours get it from their context and run any SeaORM query on it.
#[derive(Debug)]
pub enum Connection {
    Pool(DatabaseConnection),
    Transaction(Unit),
}

/// Connections, and how many transactions may have one at a time. Who waits for another's lock has one all the while: those
/// who only read must find some left.
#[derive(Debug, Clone)]
pub(super) struct TransactionPool {
    pub connections: DatabaseConnection,
    turns: Arc<Semaphore>,
}

/// A transaction, and its turn, which ends with it.
#[derive(Debug)]
pub(super) struct Begun {
    transaction: DatabaseTransaction,
    _turn: OwnedSemaphorePermit,
}

impl TransactionPool {
    pub fn new(connections: DatabaseConnection, most: u32) -> TransactionPool {
        TransactionPool { connections, turns: Arc::new(Semaphore::new(most as usize)) }
    }

    /// Begins to the end, whoever waits for it: where nobody is left, what has begun is rolled back. PostgreSQL's driver
    /// does not know of a transaction before it has heard that it began (sqlx's issue 4393). Left by then, the connection
    /// would go on in one that nobody commits, with what others write on it.
    pub async fn begin(&self, options: TransactionOptions) -> Result<Begun, DbErr> {
        let turn = timeout(ACQUIRE, self.turns.clone().acquire_owned()).await;
        let turn = turn.ok().and_then(Result::ok).ok_or(DbErr::ConnectionAcquire(ConnAcquireErr::Timeout))?;
        let connections = self.connections.clone();
        let begin =
            async move { Ok(Begun { transaction: connections.begin_with_options(options).await?, _turn: turn }) };
        tokio::spawn(begin).await.map_err(|panicked| DbErr::Custom(panicked.to_string()))?
    }
}

/// A transaction, which begins with its first statement unless it has begun already.
#[derive(Debug)]
pub struct Unit {
    pool: TransactionPool,
    begun: OnceCell<Begun>,
    /// One statement was all of it, and stands.
    over: AtomicBool,
    announcement: Announcement,
}

impl Unit {
    /// One that begins when it is needed, on PostgreSQL.
    pub(super) fn new(pool: TransactionPool, announcement: Announcement) -> Unit {
        Unit { pool, begun: OnceCell::new(), over: AtomicBool::new(false), announcement }
    }

    pub(super) fn begun(pool: TransactionPool, begun: Begun, announcement: Announcement) -> Unit {
        Unit { begun: OnceCell::new_with(Some(begun)), ..Unit::new(pool, announcement) }
    }

    /// Where a statement runs that is to be all of this transaction; nowhere once it has begun.
    pub(super) fn not_begun(&self) -> Option<&DatabaseConnection> {
        self.begun.get().is_none().then_some(&self.pool.connections)
    }

    /// Whether a statement was all of it.
    pub(super) fn end(&self, over: bool) {
        self.over.store(over, Ordering::Relaxed);
    }

    async fn begin(&self) -> Result<&DatabaseTransaction, DbErr> {
        if self.over.load(Ordering::Relaxed) {
            return Err(DbErr::Custom("the transaction was one statement, which stands already".into()));
        }
        let begun = self.begun.get_or_try_init(|| self.pool.begin(TransactionOptions::default())).await?;
        Ok(&begun.transaction)
    }
}

/// Word of a commit that those who deliver events wait for.
#[derive(Debug)]
pub struct Announcement {
    pub(super) wanted: AtomicBool,
    pub(super) commits: Arc<Notify>,
}

impl Connection {
    /// Commits a transaction; on the pool there is nothing to commit.
    pub async fn commit(self) -> Result<()> {
        match self {
            Connection::Pool(_) => Ok(()),
            Connection::Transaction(Unit { begun, announcement, .. }) => {
                if let Some(begun) = begun.into_inner() {
                    begun.transaction.commit().await?;
                }
                if announcement.wanted.into_inner() {
                    announcement.commits.notify_one();
                }
                Ok(())
            }
        }
    }

    /// Whether this is a transaction in which a statement has run.
    pub fn has_begun(&self) -> bool {
        matches!(self, Connection::Transaction(unit) if unit.begun.get().is_some())
    }

    /// Has the commit of this transaction wake whoever waits for [`super::Db::announced`].
    pub fn announce(&self) {
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
            Connection::Pool(pool) => pool.get_database_backend(),
            Connection::Transaction(unit) => unit.pool.connections.get_database_backend(),
        }
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        let statement = self.adapt(statement);
        match self {
            Connection::Pool(pool) => pool.execute_raw(statement).await,
            Connection::Transaction(unit) => unit.begin().await?.execute_raw(statement).await,
        }
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        match self {
            Connection::Pool(pool) => pool.execute_unprepared(sql).await,
            Connection::Transaction(unit) => unit.begin().await?.execute_unprepared(sql).await,
        }
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        let statement = self.adapt(statement);
        match self {
            Connection::Pool(pool) => pool.query_one_raw(statement).await,
            Connection::Transaction(unit) => unit.begin().await?.query_one_raw(statement).await,
        }
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        let statement = self.adapt(statement);
        match self {
            Connection::Pool(pool) => pool.query_all_raw(statement).await,
            Connection::Transaction(unit) => unit.begin().await?.query_all_raw(statement).await,
        }
    }
}
