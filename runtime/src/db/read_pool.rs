//! Connections for reading records outside of transactions: a pool of its own for either database.

use deadpool::managed::{Manager, Object, Pool, PoolError, QueueMode};
use sea_orm::error::ConnAcquireErr;
use sea_orm::{DbErr, RuntimeErr, SqlxError};
use tokio::time::timeout;

use super::postgres_reader::PostgresReader;
use super::sqlite_reader::SqliteReader;
use super::{ACQUIRE_TIMEOUT, Rows, Sql};
use crate::metrics::PoolState;

#[derive(Debug, Clone)]
pub(super) enum ReadPool {
    Postgres(PostgresReader),
    Sqlite(SqliteReader),
}

impl ReadPool {
    /// All rows of a statement.
    pub async fn rows(&self, sql: Sql) -> Result<Rows, DbErr> {
        match self {
            ReadPool::Sqlite(reader) => reader.rows(sql).await,
            ReadPool::Postgres(reader) => reader.query(sql).await.map(Rows::of_driver),
        }
    }

    /// The pool as it is now.
    pub fn state(&self) -> PoolState {
        match self {
            ReadPool::Sqlite(reader) => reader.state(),
            ReadPool::Postgres(reader) => reader.state(),
        }
    }

    /// Closes the idle connections, and each other one when its statement ends; SQLite's statements are interrupted.
    pub fn close(&self) {
        match self {
            ReadPool::Sqlite(reader) => reader.close(),
            ReadPool::Postgres(reader) => reader.close(),
        }
    }
}

/// A pool of at most `size` connections, each opened when it is needed. It hands out the one that was used last.
///
/// # Errors
/// When the pool cannot be made.
pub(super) fn pool<M: Manager<Error = DbErr>>(manager: M, size: u32) -> Result<Pool<M>, DbErr> {
    let pool = Pool::builder(manager).max_size(size as usize).queue_mode(QueueMode::Lifo);
    pool.build().map_err(|error| DbErr::Custom(error.to_string()))
}

/// A connection of a pool.
///
/// # Errors
/// When none is free in time, or none can be opened.
pub(super) async fn get<M: Manager<Error = DbErr>>(pool: &Pool<M>) -> Result<Object<M>, DbErr> {
    let got = timeout(ACQUIRE_TIMEOUT, pool.get()).await.map_err(|_| acquire_error(SqlxError::PoolTimedOut))?;
    got.map_err(|error| match error {
        PoolError::Backend(error) => error,
        PoolError::Closed => acquire_error(SqlxError::PoolClosed),
        error => DbErr::Custom(error.to_string()),
    })
}

/// A pool as it is now, of which so many want a connection.
pub(super) fn state<M: Manager>(pool: &Pool<M>, wanted: usize) -> PoolState {
    let status = pool.status();
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    PoolState {
        name: "records",
        most: number(status.max_size),
        open: number(status.size),
        idle: status.available,
        wanted,
    }
}

/// The failure to get a connection of a pool.
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
