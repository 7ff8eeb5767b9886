//! What requests ask of PostgreSQL together: rows by their ids, and statements about rows that they give.

use std::sync::Arc;

use sea_orm::{ConnectionTrait, DbErr, QueryResult, Value};

use super::connection::Connection;
use super::gather::{Gather, Item};
use super::{Db, Dialect, Given, Sql};
use crate::error::{Error, Result};

/// Those who ask.
#[derive(Debug, Default)]
pub(super) struct Together {
    rows: Arc<Gather<i64, Option<Arc<QueryResult>>>>,
    given: Arc<Gather<Arc<[Value]>, Option<QueryResult>>>,
}

/// With whom a statement goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Company {
    /// With those who want the same of other rows.
    Any,
    /// Alone: it may have to wait for another transaction.
    None,
}

impl Db {
    /// The row of `t` with an id that `sql` finds, which ends in a condition. `position`: that of the id in the row.
    pub async fn row(
        &self,
        connection: &Connection,
        mut sql: Sql,
        id: i64,
        position: usize,
    ) -> Result<Option<Arc<QueryResult>>> {
        let pool = match connection {
            // What is asked of this caller alone nobody else asks.
            Connection::Pool(pool) if self.dialect == Dialect::Postgres && sql.values.is_empty() => pool.clone(),
            _ => {
                sql.push(" AND t.\"id\" = ").bind(id);
                return Ok(sql.one(connection).await?.map(Arc::new));
            }
        };
        let text: Arc<str> = (sql.text + " AND t.\"id\" = ANY($1)").into();
        let kind = text.clone();
        let find = move |ids: Vec<i64>| {
            let (pool, text) = (pool.clone(), text.clone());
            async move {
                let sql = Sql { dialect: Dialect::Postgres, text: text.to_string(), values: vec![ids.clone().into()] };
                let mut found = Vec::with_capacity(ids.len());
                for row in pool.query_all_raw(sql.statement()).await? {
                    let id: i64 = row.try_get_by_index(position)?;
                    found.push((id, Arc::new(row)));
                }
                let of = |id: &i64| found.iter().find(|(known, _)| known == id).map(|(_, row)| row.clone());
                Ok::<_, DbErr>(ids.iter().map(of).collect())
            }
        };
        self.together.rows.ask(kind, id, find).await
    }

    /// What a statement answers for the row that it is given. In a transaction that has not begun it is all of it, and
    /// stands by itself, whoever waits for it; where it finds nothing it has done nothing, and other statements may follow.
    pub async fn given(&self, connection: &Connection, given: Given, company: Company) -> Result<Option<QueryResult>> {
        let (statement, row) = given.split();
        let pool = match connection {
            Connection::Pool(pool) => pool,
            Connection::Transaction(unit) => match unit.not_begun() {
                Some(pool) => pool,
                None => return statement.of_one(&row).one(connection).await,
            },
        };
        let pool = pool.get_postgres_connection_pool().clone();
        let kind = match company {
            Company::Any => statement.kind(&row),
            Company::None => None,
        };
        let answer = match kind {
            Some(kind) => {
                let statement = Arc::new(statement);
                let run = move |rows: Vec<Arc<[Value]>>| {
                    let (pool, statement) = (pool.clone(), statement.clone());
                    async move { statement.run(&pool, &rows).await }
                };
                self.together.given.ask(kind, row, run).await?
            }
            None => {
                let run = tokio::spawn(async move { statement.run(&pool, &[row]).await });
                run.await.map_err(Error::internal)??.pop().flatten()
            }
        };
        if let Connection::Transaction(unit) = connection {
            unit.end(answer.is_some());
        }
        Ok(answer)
    }
}

impl Item for i64 {
    fn bytes(&self) -> usize {
        size_of::<i64>()
    }
}
