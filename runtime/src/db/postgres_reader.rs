//! Pool of PostgreSQL connections that read records.
//!
//! The pool hands out the connection that was used last, which has planned the statements. It pings a connection that was idle,
//! and not every one that is given back, as the driver's pool does.

use std::time::{Duration, Instant};

use deadpool::managed::{self, Metrics, Object, RecycleError, RecycleResult};
use sea_orm::sqlx::postgres::PgConnectOptions;
use sea_orm::sqlx::{AssertSqlSafe, Connection as _, IntoArguments, PgConnection, Postgres, query_with};
use sea_orm::{DbErr, QueryResult, Values};
use sea_query_sqlx::SqlxValues;
use tokio::time::timeout;
use tracing::Instrument;

use super::connection::answer;
use super::read_pool::{self, acquire_error, query_error};
use super::{ACQUIRE_TIMEOUT, PING_AFTER_IDLE, Sql, stale_plans};
use crate::metrics::{self, Wanted};

/// Begins a transaction whose statements are planned for their values. PostgreSQL may plan a prepared statement without them
/// from its sixth execution on a connection. `SET LOCAL` in a transaction works through a pooler, too.
const CUSTOM_PLANS: &str = "BEGIN; SET LOCAL plan_cache_mode = force_custom_plan";

/// A connection that is older is replaced: the session of PostgreSQL gives its memory back, and the host may have another address.
const MAX_AGE: Duration = Duration::from_secs(30 * 60);

#[derive(Debug, Clone)]
pub(super) struct PostgresReader {
    pool: managed::Pool<Connector>,
    limit: Option<Duration>,
    metrics: metrics::Database,
}

#[derive(Debug)]
struct Connector(PgConnectOptions);

impl managed::Manager for Connector {
    type Type = PgConnection;
    type Error = DbErr;

    async fn create(&self) -> Result<PgConnection, DbErr> {
        PgConnection::connect_with(&self.0).await.map_err(acquire_error)
    }

    async fn recycle(&self, connection: &mut PgConnection, used: &Metrics) -> RecycleResult<DbErr> {
        if stale_plans::predates_schema_change(used.age()) {
            return Err(RecycleError::message("it has prepared statements for tables that were changed"));
        }
        if used.age() >= MAX_AGE {
            return Err(RecycleError::message("it is old"));
        }
        if used.last_used() >= PING_AFTER_IDLE {
            connection.ping().await.map_err(query_error)?;
        }
        Ok(())
    }
}

impl PostgresReader {
    /// A pool of at most `size` connections, each opened when it is needed. An answer that does not come within `limit`, at
    /// which PostgreSQL ends the statement, and a grace period is an error.
    ///
    /// # Errors
    /// When the pool cannot be made.
    pub fn new(
        options: PgConnectOptions,
        size: u32,
        limit: Option<Duration>,
        metrics: &metrics::Database,
    ) -> Result<PostgresReader, DbErr> {
        let pool = read_pool::pool(Connector(options), size)?;
        Ok(PostgresReader { pool, limit, metrics: metrics.of_pool() })
    }

    /// All rows of a statement. Once it has a connection it runs to its end, whether or not the request still waits.
    pub async fn query(&self, sql: Sql) -> Result<Vec<QueryResult>, DbErr> {
        let wanted = self.metrics.want_connection();
        let watched = self.metrics.watch(sql.text.clone());
        let (reader, connection) = (self.clone(), read_pool::get(&self.pool).await?);
        let run = async move { reader.run(connection, wanted, sql).await };
        let answered = tokio::spawn(run.in_current_span()).await;
        watched.end();
        answered.map_err(|error| DbErr::Custom(error.to_string()))?
    }

    async fn run(
        &self,
        mut connection: Object<Connector>,
        wanted: Wanted,
        sql: Sql,
    ) -> Result<Vec<QueryResult>, DbErr> {
        let begun = Instant::now();
        let (text, is_planned_anew) = (sql.text.clone(), sql.needs_custom_plan);
        let answered = answer(self.limit, execute(&mut connection, sql)).await;
        self.metrics.statement(&text, begun.elapsed());
        if answered.is_err() {
            // It may not answer, or be in an aborted transaction: it is closed.
            drop(Object::take(connection));
        } else if is_planned_anew {
            // Nobody waits for the end of the transaction.
            tokio::spawn(async move {
                let _wanted = wanted;
                if !matches!(timeout(ACQUIRE_TIMEOUT, connection.ping()).await, Ok(Ok(()))) {
                    drop(Object::take(connection));
                }
            });
        }
        answered
    }

    pub fn state(&self) -> metrics::PoolState {
        read_pool::state(&self.pool, self.metrics.wanted())
    }

    pub fn close(&self) {
        self.pool.close();
    }
}

async fn execute(connection: &mut PgConnection, sql: Sql) -> Result<Vec<QueryResult>, DbErr> {
    let arguments = IntoArguments::<Postgres>::into_arguments(SqlxValues(Values(sql.values)));
    let query = query_with::<Postgres, _>(AssertSqlSafe(sql.text), arguments);
    let rows = if sql.needs_custom_plan {
        // Dropped, it is rolled back with the next message, which is the same as a commit where nothing was written.
        let mut transaction = connection.begin_with(CUSTOM_PLANS).await.map_err(query_error)?;
        query.fetch_all(&mut *transaction).await
    } else {
        query.fetch_all(connection).await
    };
    Ok(rows.map_err(query_error)?.into_iter().map(QueryResult::from).collect())
}
