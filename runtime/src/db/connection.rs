//! What statements run on: the pool or one transaction, with decimals bound as each database stores them.

use async_trait::async_trait;
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, ExecResult, QueryResult, Statement,
    Value,
};

use crate::error::{Error, Result};

/// The pool or a transaction. Behaviours get it from their context and run any SeaORM query on it.
#[derive(Debug)]
pub enum Connection {
    Pool(DatabaseConnection),
    Transaction(DatabaseTransaction),
}

impl Connection {
    /// Commits a transaction; on the pool there is nothing to commit.
    pub async fn commit(self) -> Result<()> {
        match self {
            Connection::Pool(_) => Ok(()),
            Connection::Transaction(transaction) => transaction.commit().await.map_err(Error::from),
        }
    }

    /// A decimal is `numeric` on PostgreSQL and, on SQLite, an integer scaled by the column's places. Every decimal
    /// that reaches a statement carries exactly its column's places, so its mantissa is that integer.
    fn adapt(&self, mut statement: Statement) -> Statement {
        if self.get_database_backend() == DbBackend::Sqlite
            && let Some(values) = &mut statement.values
        {
            for value in &mut values.0 {
                if let Value::Decimal(decimal) = value {
                    *value = Value::BigInt(decimal.and_then(|d| i64::try_from(d.mantissa()).ok()));
                }
            }
        }
        statement
    }
}

#[async_trait]
impl ConnectionTrait for Connection {
    fn get_database_backend(&self) -> DbBackend {
        match self {
            Connection::Pool(pool) => pool.get_database_backend(),
            Connection::Transaction(transaction) => transaction.get_database_backend(),
        }
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        let statement = self.adapt(statement);
        match self {
            Connection::Pool(pool) => pool.execute_raw(statement).await,
            Connection::Transaction(transaction) => transaction.execute_raw(statement).await,
        }
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        match self {
            Connection::Pool(pool) => pool.execute_unprepared(sql).await,
            Connection::Transaction(transaction) => transaction.execute_unprepared(sql).await,
        }
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        let statement = self.adapt(statement);
        match self {
            Connection::Pool(pool) => pool.query_one_raw(statement).await,
            Connection::Transaction(transaction) => transaction.query_one_raw(statement).await,
        }
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        let statement = self.adapt(statement);
        match self {
            Connection::Pool(pool) => pool.query_all_raw(statement).await,
            Connection::Transaction(transaction) => transaction.query_all_raw(statement).await,
        }
    }
}
