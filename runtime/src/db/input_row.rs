//! A statement of PostgreSQL about one row of bound values, which it names as columns of a common table expression.

use std::fmt::Write;

use sea_orm::{QueryResult, Value};
use tracing::Instrument;

use super::{Connection, Db, Dialect, Sql};
use crate::error::{Error, Result};

/// The name of the common table expression.
pub const INPUT_CTE: &str = "charter_given";

/// A statement and the cells of its row.
#[derive(Debug)]
pub struct InputRow {
    columns: Vec<&'static str>,
    /// The text that follows `WITH charter_given AS (...)`. The first values are those of the row.
    pub sql: Sql,
}

impl Default for InputRow {
    fn default() -> InputRow {
        InputRow { columns: Vec::new(), sql: Sql::new(Dialect::Postgres, String::with_capacity(8 << 10)) }
    }
}

impl InputRow {
    /// Adds a cell to the row. All cells are added before any other value is bound.
    pub fn bind_column(&mut self, column: &'static str, value: impl Into<Value>) -> &mut InputRow {
        debug_assert_eq!(self.columns.len(), self.sql.values.len(), "a cell is added before other values");
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
    /// The row that a statement answers. In a transaction that has not begun the statement is the whole transaction: it is
    /// committed when it answers a row, whether or not the request still waits. Without a row it has changed nothing, and
    /// other statements may follow.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn query_input_row(&self, connection: &Connection, given: InputRow) -> Result<Option<QueryResult>> {
        let sql = given.statement();
        let Connection::Transaction(unit) = connection else { return sql.one(connection).await };
        let Some(pool) = unit.pending_pool().cloned() else { return sql.one(connection).await };
        // A request that is gone before its turn writes nothing.
        let turn = pool.acquire_permit().await?;
        let run = async move {
            let _turn = turn;
            sql.one(&Connection::Pool(pool.pool.clone())).await
        };
        let answer = tokio::spawn(run.in_current_span()).await.map_err(Error::internal)??;
        unit.end(answer.is_some());
        Ok(answer)
    }
}
