//! Pool of PostgreSQL connections that read records.
//!
//! The pool is LIFO, so that it reuses the connection with cached plans. It pings connections only after an idle
//! time; the driver's pool would ping each one that is returned.

use std::sync::Arc;
use std::time::{Duration, Instant};

use deadpool::managed::{self, Metrics, RecycleError, RecycleResult};
use sea_orm::sqlx::{AssertSqlSafe, Connection as _, IntoArguments, PgConnection, Postgres, query_with};
use sea_orm::{DbErr, QueryResult, Values};
use sea_query_sqlx::SqlxValues;
use tokio::time::timeout;
use tracing::Instrument;

use super::connection::answer;
use super::health::Health;
use super::hosts::{Hosts, Timeouts};
use super::read_pool::{self, FairPool, Lent, acquire_error, query_error};
use super::{ACQUIRE_TIMEOUT, PING_AFTER_IDLE, Sql, stale_plans};
use crate::metrics::{self, DemandGuard};

/// Begins a transaction with custom plans. From the sixth execution on a connection, PostgreSQL may otherwise use a
/// generic plan for a prepared statement. `SET LOCAL` in a transaction also works behind a pooler.
const CUSTOM_PLANS: &str = "BEGIN; SET LOCAL plan_cache_mode = force_custom_plan";

/// Age at which a connection is replaced, which frees the memory of its session and follows a change of the host's
/// address.
const MAX_AGE: Duration = Duration::from_secs(30 * 60);

#[derive(Debug, Clone)]
pub(super) struct PostgresReader {
    pool: FairPool<Connector>,
    /// Gets the errors of statements.
    health: Arc<Health>,
    limit: Option<Duration>,
    metrics: metrics::Database,
}

#[derive(Debug, Clone)]
struct Connector(Arc<Hosts>);

impl managed::Manager for Connector {
    type Type = PgConnection;
    type Error = DbErr;

    async fn create(&self) -> Result<PgConnection, DbErr> {
        self.0.connect(Timeouts::Requests).await.map_err(acquire_error)
    }

    async fn recycle(&self, connection: &mut PgConnection, used: &Metrics) -> RecycleResult<DbErr> {
        if stale_plans::predates_schema_change(used.age()) {
            return Err(RecycleError::message("it has prepared statements for tables that were changed"));
        }
        if used.age() >= MAX_AGE {
            return Err(RecycleError::message("it is old"));
        }
        if self.0.is_outdated(used.age()) {
            return Err(RecycleError::message("it is to an earlier server"));
        }
        if used.last_used() >= PING_AFTER_IDLE {
            connection.ping().await.map_err(query_error)?;
        }
        Ok(())
    }
}

impl PostgresReader {
    /// A pool of at most `size` connections, opened on demand. PostgreSQL ends statements at `limit`. If there is no
    /// answer after a further grace period, the result is an error.
    ///
    /// # Errors
    /// When the pool cannot be built.
    pub(super) fn new(
        hosts: Arc<Hosts>,
        health: Arc<Health>,
        size: u32,
        limit: Option<Duration>,
        metrics: &metrics::Database,
    ) -> Result<PostgresReader, DbErr> {
        let pool = FairPool::new(Connector(hosts), size)?;
        Ok(PostgresReader { pool, health, limit, metrics: metrics.of_pool() })
    }

    /// All rows of a statement. Once it has a connection it runs to its end, even if the caller is dropped.
    pub(super) async fn query(&self, sql: Sql) -> Result<Vec<QueryResult>, DbErr> {
        let demand = self.metrics.count_demand();
        let guard = self.metrics.time_statement(sql.text.clone());
        let lent = self.pool.get().await.inspect_err(|error| self.health.record(error))?;
        let reader = self.clone();
        let run = async move { reader.run(lent, demand, sql).await };
        let result = tokio::spawn(run.in_current_span()).await;
        guard.end();
        result.map_err(|error| DbErr::Custom(error.to_string()))?
    }

    async fn run(&self, mut lent: Lent<Connector>, demand: DemandGuard, sql: Sql) -> Result<Vec<QueryResult>, DbErr> {
        let started = Instant::now();
        let (text, has_custom_plan) = (sql.text.clone(), sql.needs_custom_plan);
        let result = answer(self.limit, execute(&mut lent.connection, sql)).await;
        self.metrics.statement(&text, started.elapsed());
        if let Err(error) = &result {
            self.health.record(error);
            // The connection may be unresponsive or in an aborted transaction, so that it is closed.
            lent.discard();
        } else if has_custom_plan {
            // The end of the transaction runs in the background.
            tokio::spawn(async move {
                let _guard = demand;
                if !matches!(timeout(ACQUIRE_TIMEOUT, lent.connection.ping()).await, Ok(Ok(()))) {
                    lent.discard();
                }
            });
        }
        result
    }

    pub(super) fn state(&self) -> metrics::PoolState {
        read_pool::state(&self.pool, self.metrics.demand())
    }

    pub(super) fn close(&self) {
        self.pool.close();
    }
}

async fn execute(connection: &mut PgConnection, sql: Sql) -> Result<Vec<QueryResult>, DbErr> {
    let arguments = IntoArguments::<Postgres>::into_arguments(SqlxValues(Values(sql.values)));
    let query = query_with::<Postgres, _>(AssertSqlSafe(sql.text), arguments);
    let rows = if sql.needs_custom_plan {
        // Dropped, it is rolled back with the next message. For reads, this equals a commit.
        let mut transaction = connection.begin_with(CUSTOM_PLANS).await.map_err(query_error)?;
        query.fetch_all(&mut *transaction).await
    } else {
        query.fetch_all(connection).await
    };
    Ok(rows.map_err(query_error)?.into_iter().map(QueryResult::from).collect())
}
