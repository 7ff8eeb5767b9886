//! Connections for reading records outside of transactions: a pool of its own for either database.

use std::sync::Arc;

use sea_orm::error::ConnAcquireErr;
use sea_orm::{DbErr, RuntimeErr, SqlxError};

use super::postgres_reader::PostgresReader;
use super::sqlite_reader::SqliteReader;
use super::{Rows, Sql};
use crate::metrics::PoolState;

#[derive(Debug, Clone)]
pub(super) enum Reads {
    Postgres(PostgresReader),
    Sqlite(Arc<SqliteReader>),
}

impl Reads {
    /// All rows of a statement.
    pub async fn rows(&self, sql: Sql) -> Result<Rows, DbErr> {
        match self {
            Reads::Sqlite(reader) => reader.rows(sql).await,
            Reads::Postgres(reader) => reader.query(sql).await.map(Rows::of_driver),
        }
    }

    /// The pool as it is now.
    pub fn state(&self) -> PoolState {
        match self {
            Reads::Sqlite(reader) => reader.state("records"),
            Reads::Postgres(reader) => reader.state("records"),
        }
    }

    /// Closes the connections that nobody uses, and each other one when its statement ends.
    pub fn close(&self) {
        match self {
            Reads::Sqlite(reader) => reader.close(),
            Reads::Postgres(reader) => reader.close(),
        }
    }
}

/// The failure to get a connection of a pool.
pub(super) fn unacquired(error: SqlxError) -> DbErr {
    match error {
        SqlxError::PoolTimedOut => DbErr::ConnectionAcquire(ConnAcquireErr::Timeout),
        SqlxError::PoolClosed => DbErr::ConnectionAcquire(ConnAcquireErr::ConnectionClosed),
        error => DbErr::Conn(RuntimeErr::SqlxError(error.into())),
    }
}

pub(super) fn failed(error: SqlxError) -> DbErr {
    DbErr::Query(RuntimeErr::SqlxError(error.into()))
}
