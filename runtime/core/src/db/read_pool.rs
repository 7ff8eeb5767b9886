//! Connection pools for reading records outside transactions, one implementation per database.

use std::fmt;

use deadpool::managed::{Manager, Object, Pool, PoolError, QueueMode};
use sea_orm::error::ConnAcquireErr;
use sea_orm::{DbErr, RuntimeErr, SqlxError};
use tokio::time::timeout;

use super::connection::acquire;
use super::postgres_reader::PostgresReader;
use super::sqlite_reader::SqliteReader;
use super::{ACQUIRE_TIMEOUT, Rows, Sql};
use crate::fair_queue::{FairQueue, Limits, Permit};
use crate::metrics::PoolState;

#[derive(Debug, Clone)]
pub(super) enum ReadPool {
    Postgres(PostgresReader),
    Sqlite(SqliteReader),
}

impl ReadPool {
    /// All rows of a statement.
    pub(super) async fn rows(&self, sql: Sql) -> Result<Rows, DbErr> {
        match self {
            ReadPool::Sqlite(reader) => reader.rows(sql).await,
            ReadPool::Postgres(reader) => reader.query(sql).await.map(Rows::of_driver),
        }
    }

    /// Current state of the pool.
    pub(super) fn state(&self) -> PoolState {
        match self {
            ReadPool::Sqlite(reader) => reader.state(),
            ReadPool::Postgres(reader) => reader.state(),
        }
    }

    /// Closes idle connections at once and the others when their statement ends. SQLite's statements are interrupted.
    pub(super) fn close(&self) {
        match self {
            ReadPool::Sqlite(reader) => reader.close(),
            ReadPool::Postgres(reader) => reader.close(),
        }
    }
}

/// A LIFO pool of connections, opened on demand and shared among the clients.
#[derive(Clone)]
pub(super) struct FairPool<M: Manager> {
    connections: Pool<M>,
    queue: FairQueue,
}

impl<M: Manager> fmt::Debug for FairPool<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FairPool").field("queue", &self.queue).finish_non_exhaustive()
    }
}

/// A connection of the pool, returned with its permit when it is dropped.
pub(super) struct Lent<M: Manager> {
    pub connection: Object<M>,
    /// Dropped after the connection, so that the next caller finds it idle.
    permit: Permit,
}

impl<M: Manager<Error = DbErr>> FairPool<M> {
    /// A pool of at most `size` connections.
    ///
    /// # Errors
    /// When the pool cannot be built.
    pub(super) fn new(manager: M, size: u32) -> Result<FairPool<M>, DbErr> {
        let pool = Pool::builder(manager).max_size(size as usize).queue_mode(QueueMode::Lifo);
        let connections = pool.build().map_err(|error| DbErr::Custom(error.to_string()))?;
        Ok(FairPool { connections, queue: FairQueue::new(Limits::of_connections(size)) })
    }

    /// Takes a connection of the pool.
    ///
    /// # Errors
    /// When none is free within [`ACQUIRE_TIMEOUT`], or none can be opened.
    pub(super) async fn get(&self) -> Result<Lent<M>, DbErr> {
        let permit = acquire(&self.queue).await?;
        let object = timeout(ACQUIRE_TIMEOUT, self.connections.get()).await;
        let object = object.map_err(|_| acquire_error(SqlxError::PoolTimedOut))?;
        let connection = object.map_err(|error| match error {
            PoolError::Backend(error) => error,
            PoolError::Closed => acquire_error(SqlxError::PoolClosed),
            error => DbErr::Custom(error.to_string()),
        })?;
        Ok(Lent { connection, permit })
    }

    pub(super) fn manager(&self) -> &M {
        self.connections.manager()
    }

    pub(super) fn close(&self) {
        self.connections.close();
    }
}

impl<M: Manager> Lent<M> {
    /// Closes the connection instead of returning it.
    pub(super) fn discard(self) {
        drop(Object::take(self.connection));
        drop(self.permit);
    }
}

/// Current state of a pool. `demand` is the number of callers that hold or want a connection.
pub(super) fn state<M: Manager>(pool: &FairPool<M>, demand: usize) -> PoolState {
    let status = pool.connections.status();
    let to_u32 = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    PoolState {
        name: "records",
        max: to_u32(status.max_size),
        open: to_u32(status.size),
        idle: status.available,
        demand,
    }
}

/// Error of taking a connection from the pool.
pub(super) fn acquire_error(error: SqlxError) -> DbErr {
    match error {
        SqlxError::PoolTimedOut => DbErr::ConnectionAcquire(ConnAcquireErr::Timeout),
        SqlxError::PoolClosed => DbErr::ConnectionAcquire(ConnAcquireErr::ConnectionClosed),
        error => DbErr::Conn(RuntimeErr::SqlxError(error.into())),
    }
}

pub(super) fn query_error(error: SqlxError) -> DbErr {
    DbErr::Query(RuntimeErr::SqlxError(error.into()))
}
