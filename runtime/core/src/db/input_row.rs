//! PostgreSQL statement with one row of bound values, available as a common table expression.

use std::fmt::Write;

use sea_orm::{QueryResult, Value};
use tracing::Instrument;

use super::{Connection, Db, Dialect, Sql};
use crate::error::{Error, Result};

/// Name of the common table expression.
pub const INPUT_CTE: &str = "charter_input";

/// A statement and the columns of its input row.
#[derive(Debug)]
pub struct InputRow {
    columns: Vec<&'static str>,
    /// The text after `WITH charter_input AS (...)`. The first values are those of the row.
    pub sql: Sql,
}

impl Default for InputRow {
    fn default() -> InputRow {
        InputRow { columns: Vec::new(), sql: Sql::new(Dialect::Postgres, String::with_capacity(8 << 10)) }
    }
}

impl InputRow {
    /// Adds a column to the row. All columns are added before any other value is bound.
    pub fn bind_column(&mut self, column: &'static str, value: impl Into<Value>) -> &mut InputRow {
        debug_assert_eq!(self.columns.len(), self.sql.values.len(), "columns are added before other values");
        self.columns.push(column);
        self.sql.values.push(value.into());
        self
    }

    fn statement(self) -> Sql {
        let InputRow { columns, sql: Sql { text: rest, values, .. } } = self;
        let mut text = String::with_capacity(rest.len() + 32 * columns.len());
        let _ = write!(text, "WITH \"{INPUT_CTE}\" AS (SELECT ");
        for (index, column) in columns.iter().enumerate() {
            let _ = write!(text, "{}${} AS \"{column}\"", if index > 0 { ", " } else { "" }, index + 1);
        }
        let _ = write!(text, "){rest}");
        Sql { values, ..Sql::new(Dialect::Postgres, text) }
    }
}

impl Db {
    /// The row that a statement returns. In a transaction that has not begun, the statement is the whole transaction.
    /// If it returns a row, it is committed, even if the caller is dropped. Without a row it has changed nothing, and
    /// other statements may follow.
    ///
    /// # Errors
    /// When the database fails.
    /// When the database fails.
    pub async fn query_input_row(&self, connection: &Connection, input: InputRow) -> Result<Option<QueryResult>> {
        let sql = input.statement();
        let Connection::Transaction(transaction) = connection else { return sql.one(connection).await };
        let Some(pool) = transaction.pending_pool().cloned() else { return sql.one(connection).await };
        // A request that is cancelled before it has the permit writes nothing.
        let permit = pool.acquire_permit().await?;
        let run = async move {
            let _permit = permit;
            let pool = pool.pool.with_permit();
            pool.write(sql.one(&Connection::Pool(pool.clone()))).await
        };
        let row = tokio::spawn(run.in_current_span()).await.map_err(Error::internal)??;
        transaction.end(row.is_some());
        Ok(row)
    }
}
