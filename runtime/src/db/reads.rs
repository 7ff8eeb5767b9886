//! Connections for reading records outside of transactions: the pool of PostgreSQL, or a pool of `rusqlite` connections.

use std::sync::Arc;

use sea_orm::sqlx::{AssertSqlSafe, Connection as _, IntoArguments, Postgres, query_with};
use sea_orm::{ConnectionTrait, DbErr, QueryResult, RuntimeErr, SqlxError, Values};
use sea_query_sqlx::SqlxValues;

use super::connection::Pool;
use super::sqlite_reader::SqliteReader;
use super::{Rows, Sql};

#[derive(Debug, Clone)]
pub(super) enum Reads {
    Postgres(Pool),
    Sqlite(Arc<SqliteReader>),
}

impl Reads {
    /// All rows of a statement.
    pub async fn rows(&self, sql: Sql) -> Result<Rows, DbErr> {
        match self {
            Reads::Sqlite(reader) => reader.rows(sql).await,
            Reads::Postgres(pool) if sql.is_planned_anew => unnamed(pool, sql).await.map(Rows::of_driver),
            Reads::Postgres(pool) => {
                let statement = sql.statement();
                pool.run(statement.sql.clone(), pool.connections.query_all_raw(statement)).await.map(Rows::of_driver)
            }
        }
    }
}

/// Runs a statement without a name, which PostgreSQL plans for its values each time. The driver sends the statement and its
/// values in two messages, each with an end. A pooler may give the second to another connection, unless both belong to one
/// transaction.
async fn unnamed(pool: &Pool, sql: Sql) -> Result<Vec<QueryResult>, DbErr> {
    let _wanted = pool.metrics.want_connection();
    let mut connection = pool.connections.get_postgres_connection_pool().acquire().await.map_err(unacquired)?;
    let arguments = IntoArguments::<Postgres>::into_arguments(SqlxValues(Values(sql.values)));
    let query = query_with::<Postgres, _>(AssertSqlSafe(sql.text.clone()), arguments).persistent(false);
    let rows = pool
        .timed(&sql.text, async {
            let mut transaction = connection.begin().await.map_err(failed)?;
            let rows = query.fetch_all(&mut *transaction).await.map_err(failed)?;
            transaction.commit().await.map_err(failed)?;
            Ok(rows)
        })
        .await;
    if matches!(rows, Err(DbErr::Conn(_))) {
        // It does not answer, and would keep its place in the pool until it does.
        connection.close_on_drop();
    }
    Ok(rows?.into_iter().map(QueryResult::from).collect())
}

/// The failure to get a connection of the pool.
pub(super) fn unacquired(error: SqlxError) -> DbErr {
    use sea_orm::error::ConnAcquireErr;
    match error {
        SqlxError::PoolTimedOut => DbErr::ConnectionAcquire(ConnAcquireErr::Timeout),
        SqlxError::PoolClosed => DbErr::ConnectionAcquire(ConnAcquireErr::ConnectionClosed),
        error => DbErr::Conn(RuntimeErr::SqlxError(error.into())),
    }
}

pub(super) fn failed(error: SqlxError) -> DbErr {
    DbErr::Query(RuntimeErr::SqlxError(error.into()))
}
