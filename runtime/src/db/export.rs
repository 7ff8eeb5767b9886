//! All rows of one statement, a block at a time, on connections that no request waits for.
//!
//! The rows are of one moment, and no more of them are in memory than a block and what the driver reads ahead. On
//! PostgreSQL a cursor holds them, in a transaction that only reads, and what is read beside a block is of the same
//! moment. SQLite hands them over while it finds them; what is read beside a block is of the moment of the block.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt;
use sea_orm::sqlx::{AssertSqlSafe, query_with};
use sea_orm::{
    AccessMode, ConnectionTrait, DatabaseConnection, IsolationLevel, QueryResult, SqlxError, TransactionOptions, Values,
};
use sea_query_sqlx::SqlxValues;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::connection::{TransactionPool, adapt};
use super::{Connection, Db, Dialect, Sql, Unit, limit, unhurried};
use crate::error::{Error, Result};

/// So many exports run at once in a process: each has a connection to itself for as long as it takes.
pub const MOST_EXPORTS: u32 = 2;

/// The connections of exports, opened when they are needed.
#[derive(Debug)]
pub(super) struct Exports {
    pub(super) pool: TransactionPool,
    slots: Arc<Semaphore>,
}

/// Where the rows go.
#[async_trait]
pub trait Takes: Send {
    /// Takes the next rows, and answers how many it would take at once from now on. `connection` is for what belongs to
    /// the rows and stands in other tables.
    async fn take(&mut self, connection: &Connection, rows: Vec<QueryResult>) -> Result<usize>;
}

impl Exports {
    pub(super) fn new(connections: DatabaseConnection) -> Exports {
        Exports {
            pool: TransactionPool::new(unhurried(connections), MOST_EXPORTS),
            slots: Arc::new(Semaphore::new(MOST_EXPORTS as usize)),
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

    /// Hands all rows of a statement to `taker`, `first` of them to begin with.
    ///
    /// # Errors
    /// When the database fails, and when `taker` does.
    pub async fn export(&self, sql: Sql, first: usize, taker: &mut dyn Takes) -> Result<()> {
        match self.dialect {
            Dialect::Postgres => self.by_cursor(sql, first, taker).await,
            Dialect::Sqlite => self.as_found(sql, first, taker).await,
        }
    }

    async fn by_cursor(&self, mut sql: Sql, first: usize, taker: &mut dyn Takes) -> Result<()> {
        let options = TransactionOptions {
            isolation_level: Some(IsolationLevel::RepeatableRead),
            access_mode: Some(AccessMode::ReadOnly),
            ..TransactionOptions::default()
        };
        let begun = self.exports.pool.begin(options).await?;
        let mut connection =
            Connection::Transaction(Unit::begun(self.exports.pool.clone(), begun, self.announcement()));
        limit::lift(self.dialect, &mut connection).await?;
        // All of it is wanted, not the first rows soon.
        connection.execute_unprepared("SET LOCAL cursor_tuple_fraction = 1").await?;
        // What fetches from it is remembered by its text, with the columns that it answers, by the driver as by a pooler that
        // others share. So no two cursors ever have one name.
        let mut name = [0; 8];
        getrandom::fill(&mut name).map_err(Error::internal)?;
        let cursor = format!("charter_export_{:016x}", u64::from_ne_bytes(name));
        sql.text.insert_str(0, &format!("DECLARE {cursor} NO SCROLL CURSOR FOR "));
        sql.run(&connection).await?;
        let mut wanted = first;
        loop {
            let fetch = Sql::new(self.dialect, format!("FETCH FORWARD {wanted} FROM {cursor}"));
            let rows = fetch.all(&connection).await?;
            let last = rows.len() < wanted;
            if !rows.is_empty() {
                wanted = taker.take(&connection, rows).await?.max(1);
            }
            if last {
                return connection.commit().await;
            }
        }
    }

    async fn as_found(&self, sql: Sql, first: usize, taker: &mut dyn Takes) -> Result<()> {
        let mut values = Values(sql.values);
        adapt(&mut values);
        let query = query_with(AssertSqlSafe(sql.text), SqlxValues(values));
        let mut found = query.fetch(self.exports.pool.pool.connections.get_sqlite_connection_pool());
        let (mut wanted, mut rows) = (first, Vec::new());
        loop {
            let row = found.next().await.transpose().map_err(query_error)?;
            let last = row.is_none();
            rows.extend(row.map(QueryResult::from));
            if !rows.is_empty() && (last || rows.len() >= wanted) {
                wanted = taker.take(&self.reader, std::mem::take(&mut rows)).await?.max(1);
            }
            if last {
                return Ok(());
            }
        }
    }
}

fn query_error(error: SqlxError) -> Error {
    sea_orm::DbErr::Query(sea_orm::RuntimeErr::SqlxError(error.into())).into()
}
