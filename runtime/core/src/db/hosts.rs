//! Hosts of PostgreSQL: opens connections to the first one that is acceptable, and follows a failover.
//!
//! All connections go to the current host. When one is lost or turns read-only, [`Hosts::follow`] looks for the host
//! to use now and redirects the pools. The start time of the server identifies it: if it differs, the connections to
//! the earlier server are closed and caches that are not validated by table versions are cleared.

use std::io;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection, PgPool};
use sea_orm::sqlx::{Connection as _, Executor, Row};
use sea_orm::{DbErr, SqlxError};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use super::health::Health;
use super::host_list::{HostList, SessionAttributes};
use super::{ACQUIRE_TIMEOUT, STATEMENT_CACHE_CAPACITY, connect_error, statement_timeout};

/// Minimum time for one connection attempt.
const MIN_CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// First and longest pause between two attempts to find the host to use.
const RETRY_PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(500));

/// Reads the state of a server. Without parameters, it is not prepared.
const STATE: &str = "SELECT pg_is_in_recovery(), current_setting('transaction_read_only') = 'on', \
                     (EXTRACT(EPOCH FROM pg_postmaster_start_time()) * 1000000)::bigint";

#[derive(Debug)]
pub(super) struct Hosts {
    /// Connection options of each host, in the order of the URL.
    options: Vec<PgConnectOptions>,
    session: SessionAttributes,
    /// Timeout of statements of requests.
    limit: Option<Duration>,
    /// Index of the host that connections go to.
    current: AtomicUsize,
    /// Pools of the driver, which are redirected to the current host.
    pools: Mutex<Vec<(PgPool, Timeouts)>>,
    server: Mutex<Server>,
    /// Number of times that another server was found.
    changes: AtomicU64,
}

/// Timeouts of a connection's statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timeouts {
    /// Those of requests.
    Requests,
    None,
}

/// The server that the last connection reached.
#[derive(Debug, Default)]
struct Server {
    /// Its start time, in microseconds of the Unix epoch.
    started: Option<i64>,
    /// When it was first reached, unless it was the first.
    found_at: Option<Instant>,
}

impl Hosts {
    /// # Errors
    /// If the URL is invalid.
    pub(super) fn new(url: &str, limit: Option<Duration>) -> Result<Hosts, DbErr> {
        let list = HostList::parse(url).map_err(|problem| DbErr::Custom(format!("the database URL {problem}")))?;
        let options = list.urls.iter().map(|url| {
            // Poolers reject the driver's default startup parameter `extra_float_digits`. The schema has no
            // floating-point columns.
            let options = PgConnectOptions::from_str(url)?.application_name("charter").extra_float_digits(None);
            Ok(options.statement_cache_capacity(STATEMENT_CACHE_CAPACITY))
        });
        Ok(Hosts {
            options: options.collect::<Result<_, SqlxError>>().map_err(connect_error)?,
            session: list.session,
            limit,
            current: AtomicUsize::new(0),
            pools: Mutex::default(),
            server: Mutex::default(),
            changes: AtomicU64::new(0),
        })
    }

    /// The same hosts without timeouts, which a pooler refuses.
    pub(super) fn without_timeouts(self) -> Hosts {
        Hosts { limit: None, ..self }
    }

    /// Connection options of the current host.
    pub(super) fn options(&self, timeouts: Timeouts) -> PgConnectOptions {
        self.options_of(self.current.load(Ordering::Acquire), timeouts)
    }

    fn options_of(&self, host: usize, timeouts: Timeouts) -> PgConnectOptions {
        let options = self.options[host].clone();
        match (timeouts, self.limit) {
            (Timeouts::Requests, Some(limit)) => statement_timeout::with_timeout(options, limit),
            _ => options,
        }
    }

    /// Redirects this pool when the current host changes.
    pub(super) fn redirect(&self, pool: &PgPool, timeouts: Timeouts) {
        self.pools.lock().unwrap_or_else(PoisonError::into_inner).push((pool.clone(), timeouts));
        pool.set_connect_options(self.options(timeouts));
    }

    /// Opens a connection to the current host, or to the next one that can be reached and accepts the session.
    ///
    /// # Errors
    /// The errors of all hosts. One that needs the operator, such as a wrong password, comes first.
    pub(super) async fn connect(&self, timeouts: Timeouts) -> Result<PgConnection, SqlxError> {
        let (first, count) = (self.current.load(Ordering::Acquire), self.options.len());
        let limit = (ACQUIRE_TIMEOUT / count as u32).max(MIN_CONNECT_TIMEOUT);
        let (mut fatal, mut problems) = (None, Vec::new());
        for host in (first..first + count).map(|index| index % count) {
            let error = match timeout(limit, self.open(host, timeouts)).await {
                Ok(Ok(connection)) => {
                    self.set_current(host);
                    return Ok(connection);
                }
                Ok(Err(error)) => error,
                Err(_) => SqlxError::Io(io::ErrorKind::TimedOut.into()),
            };
            if !is_temporary(&error) {
                fatal.get_or_insert(error);
            } else if count == 1 {
                return Err(error);
            } else {
                problems.push(format!("{}: {error}", self.name(host)));
            }
        }
        Err(fatal.unwrap_or_else(|| SqlxError::Io(io::Error::other(problems.join("; ")))))
    }

    async fn open(&self, host: usize, timeouts: Timeouts) -> Result<PgConnection, SqlxError> {
        let mut connection = PgConnection::connect_with(&self.options_of(host, timeouts)).await?;
        self.inspect(&mut connection).await?;
        Ok(connection)
    }

    /// Checks a new connection.
    ///
    /// # Errors
    /// If its server does not accept the session.
    pub(super) async fn inspect(&self, connection: &mut PgConnection) -> Result<(), SqlxError> {
        let row = connection.fetch_one(STATE).await?;
        let (is_standby, is_read_only): (bool, bool) = (row.try_get(0)?, row.try_get(1)?);
        let is_accepted = match self.session {
            SessionAttributes::Any => true,
            SessionAttributes::ReadWrite => !is_standby && !is_read_only,
            SessionAttributes::Primary => !is_standby,
        };
        if !is_accepted {
            return Err(SqlxError::Io(io::Error::other("the server is read-only")));
        }
        self.set_server(row.try_get(2)?);
        Ok(())
    }

    fn set_server(&self, started: i64) {
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        let known = server.started.replace(started);
        if known.is_some_and(|known| known != started) {
            tracing::warn!("the database server has changed or restarted; closing connections and clearing caches");
            server.found_at = Some(Instant::now());
            self.changes.fetch_add(1, Ordering::AcqRel);
        }
    }

    fn set_current(&self, host: usize) {
        if self.current.swap(host, Ordering::AcqRel) != host {
            tracing::warn!(host = self.name(host), "connecting to another database host");
            for (pool, timeouts) in self.pools.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                pool.set_connect_options(self.options_of(host, *timeouts));
            }
        }
    }

    /// Host and port.
    fn name(&self, host: usize) -> String {
        let options = &self.options[host];
        format!("{}:{}", options.get_host(), options.get_port())
    }

    /// True for a connection of this age to an earlier server.
    pub(super) fn is_outdated(&self, age: Duration) -> bool {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        server.found_at.is_some_and(|at| at.elapsed() <= age)
    }

    /// Number of times that another server was found.
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Looks for the host to use whenever a connection is lost or turns read-only.
    pub(super) fn follow(self: &Arc<Self>, health: &Arc<Health>) -> Follower {
        let (hosts, health) = (self.clone(), health.clone());
        let following = async move {
            loop {
                health.connection_lost.notified().await;
                let mut pause = RETRY_PAUSE.0;
                let connection = loop {
                    match hosts.connect(Timeouts::Requests).await {
                        Ok(connection) => break connection,
                        Err(_) => sleep(pause).await,
                    }
                    pause = (pause * 2).min(RETRY_PAUSE.1);
                };
                let _ = connection.close().await;
                // Other statements fail for the same reason.
                sleep(RETRY_PAUSE.0).await;
            }
        };
        Follower(tokio::spawn(following).abort_handle())
    }
}

/// The task of [`Hosts::follow`], which ends when this is dropped.
#[derive(Debug)]
pub(super) struct Follower(AbortHandle);

impl Follower {
    pub(super) fn stop(&self) {
        self.0.abort();
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.stop();
    }
}

/// True if a later attempt may succeed without the operator: the server cannot be reached, is starting, has no free
/// connection, or is a standby.
pub(super) fn is_temporary(error: &SqlxError) -> bool {
    match error {
        SqlxError::Io(_) | SqlxError::PoolTimedOut => true,
        SqlxError::Database(refusal) => refusal.code().is_some_and(|code| {
            code.starts_with("57P")
                || code == "53300"
                || (code.starts_with("08") && !statement_timeout::is_timeout_refused(error))
        }),
        _ => false,
    }
}
