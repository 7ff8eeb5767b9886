//! Opening of PostgreSQL's connection pools.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use sea_orm::sqlx::Connection as _;
use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions};
use sea_orm::{DbErr, RuntimeErr, SqlxError, SqlxPostgresConnector};

use super::coalesce::Batchers;
use super::connection::TransactionPool;
use super::health::Health;
use super::hosts::{Hosts, Timeouts, is_temporary};
use super::postgres_reader::PostgresReader;
use super::read_pool::ReadPool;
use super::row_stream::ExportPool;
use super::{
    ACQUIRE_TIMEOUT, Connection, Db, Dialect, IDLE_TIMEOUT, MAX_CONCURRENT_EXPORTS, PING_AFTER_IDLE, Pool,
    connect_error, stale_plans, statement_timeout,
};
use crate::metrics;

/// Pause between two attempts of a start.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

impl Db {
    /// [`Db::connect`], which waits this long for a server that cannot be reached, is starting or is read-only.
    ///
    /// # Errors
    /// Those of the last attempt.
    pub async fn connect_within(wait: Duration, url: &str, pool: u32, limit: Option<Duration>) -> Result<Db, DbErr> {
        let (started, mut is_logged) = (Instant::now(), false);
        loop {
            let error = match Db::connect(url, pool, limit).await {
                Err(DbErr::Conn(RuntimeErr::SqlxError(error))) if is_temporary(&error) => error,
                connected => return connected,
            };
            if started.elapsed() + RETRY_PAUSE > wait {
                return Err(DbErr::Conn(RuntimeErr::SqlxError(error)));
            }
            if !is_logged {
                tracing::warn!(%error, seconds = wait.as_secs(), "waiting for the database");
                is_logged = true;
            }
            tokio::time::sleep(RETRY_PAUSE).await;
        }
    }

    pub(super) async fn postgres(url: &str, size: u32, limit: Option<Duration>) -> Result<Db, DbErr> {
        let hosts = reachable_hosts(url, limit).await?;
        let inspecting = Arc::downgrade(&hosts);
        let using = inspecting.clone();
        let pool_of = PgPoolOptions::new()
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .test_before_acquire(false)
            .after_connect(move |connection, _| Box::pin(inspect(inspecting.clone(), connection)))
            // A connection that was cut off while idle is replaced here, and no request gets it.
            .before_acquire(move |connection, meta| {
                let is_outdated = stale_plans::predates_schema_change(meta.age)
                    || using.upgrade().is_some_and(|hosts| hosts.is_outdated(meta.age));
                Box::pin(async move { Ok(!is_outdated && is_alive(connection, meta.idle_for).await?) })
            });
        let exports = pool_of.clone().max_connections(MAX_CONCURRENT_EXPORTS).idle_timeout(IDLE_TIMEOUT);
        let pool_of = match limit {
            Some(limit) => pool_of
                .after_release(move |connection, _| Box::pin(statement_timeout::is_responsive(connection, limit))),
            None => pool_of,
        };
        // Half of the connections read, half write.
        let (reading, size) = ((size / 2).max(1), (size - size / 2).max(1));
        let pool = pool_of.max_connections(size).connect_with(hosts.options(Timeouts::Requests)).await;
        let pool = pool.map_err(connect_error)?;
        let exports = exports.connect_lazy_with(hosts.options(Timeouts::None));
        hosts.redirect(&pool, Timeouts::Requests);
        hosts.redirect(&exports, Timeouts::None);
        let (metrics, health) = (metrics::Database::default(), Arc::<Health>::default());
        let pool = Pool::new(SqlxPostgresConnector::from_sqlx_postgres_pool(pool), size, limit, &metrics);
        let pool = pool.reporting_to(&health);
        let reads = PostgresReader::new(hosts.clone(), health.clone(), reading, limit, &metrics)?;
        Ok(Db {
            reader: Connection::Pool(pool.clone().reading(reads.clone())),
            writer: Connection::Pool(pool.clone()),
            writers: TransactionPool { pool },
            exports: ExportPool::new(SqlxPostgresConnector::from_sqlx_postgres_pool(exports), &metrics),
            dialect: Dialect::Postgres,
            reads: ReadPool::Postgres(reads),
            batchers: Batchers::new(&metrics),
            commits: Arc::default(),
            metrics,
            follower: Some(hosts.follow(&health)),
            health,
            hosts: Some(hosts),
            file: None,
        })
    }

    /// Connection options for PostgreSQL outside the pool, for long-running work and sessions.
    pub fn postgres_options(&self) -> Option<PgConnectOptions> {
        self.hosts.as_ref().map(|hosts| hosts.options(Timeouts::None))
    }

    /// Number of times that connections reached another server than before, as after a failover. A cache that is not
    /// validated by table versions is outdated when it differs.
    pub fn server_changes(&self) -> u64 {
        self.hosts.as_ref().map_or(0, |hosts| hosts.changes())
    }
}

/// The hosts, of which one can be reached.
async fn reachable_hosts(url: &str, limit: Option<Duration>) -> Result<Arc<Hosts>, DbErr> {
    let mut hosts = Hosts::new(url, limit)?;
    let mut connected = hosts.connect(Timeouts::Requests).await;
    if connected.as_ref().is_err_and(statement_timeout::is_timeout_refused) {
        tracing::warn!(
            "the connection pooler rejects statement_timeout and lock_timeout: set them on the database role, or \
             statements of abandoned requests keep running"
        );
        hosts = hosts.without_timeouts();
        connected = hosts.connect(Timeouts::Requests).await;
    }
    // The pool opens its own connections.
    let _ = connected.map_err(connect_error)?.close().await;
    Ok(Arc::new(hosts))
}

async fn inspect(hosts: Weak<Hosts>, connection: &mut PgConnection) -> Result<(), SqlxError> {
    match hosts.upgrade() {
        Some(hosts) => hosts.inspect(connection).await,
        None => Ok(()),
    }
}

/// Checks that a connection that was idle still reaches PostgreSQL.
async fn is_alive(connection: &mut PgConnection, idle: Duration) -> Result<bool, SqlxError> {
    if idle < PING_AFTER_IDLE {
        return Ok(true);
    }
    connection.ping().await.map(|()| true)
}
