//! A connection of the pool that goes from one statement to the next, while there are others for everybody else.
//!
//! The driver tries a connection out whenever it is given back, which is a round trip: where one statement follows the
//! other, half of all.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sea_orm::error::ConnAcquireErr;
use sea_orm::sqlx::pool::{self, PoolConnection};
use sea_orm::sqlx::postgres::PgArguments;
use sea_orm::sqlx::{AssertSqlSafe, Connection as _, Database, IntoArguments, Postgres, Sqlite, query_with};
use sea_orm::{DbBackend, DbErr, QueryResult, RuntimeErr, SqlxError};
use sea_query_sqlx::SqlxValues;
use tokio::time::{Instant, sleep};

use super::Sql;
use super::connection::{Pool, adapt};

/// A connection that was taken from the pool, and goes back to it when it is dropped.
#[derive(Debug)]
pub enum Held {
    Postgres(PoolConnection<Postgres>, Pool),
    Sqlite(PoolConnection<Sqlite>, Pool),
}

/// The connection of the statement before, where it was kept.
pub type Kept = Option<Held>;

/// A connection that no statement wants is kept for so long.
const REST: Duration = Duration::from_millis(2);
/// The one that was used last is kept for so long, because it knows the statements: the pool hands its connections out in turn,
/// and each plans a statement anew the first times. It is less than [`DOUBTED`], so that it need not be tried out.
const STAY: Duration = Duration::from_millis(900);
/// So often it is looked whether it may stay.
const LOOK: Duration = Duration::from_millis(20);

/// The connections that were kept and wait for a statement, of whatever kind.
#[derive(Debug)]
pub struct Spare {
    resting: Mutex<Resting>,
    stay: Duration,
}

impl Default for Spare {
    fn default() -> Spare {
        Spare { resting: Mutex::default(), stay: STAY }
    }
}

#[derive(Debug, Default)]
struct Resting {
    last: u64,
    /// Each with a number of its own.
    those: Vec<(u64, Held)>,
}

impl Spare {
    /// The one that came last.
    pub fn take(&self) -> Kept {
        self.lock().those.pop().map(|(_, held)| held)
    }

    /// Keeps it for whoever wants it within [`REST`], and longer where it was the last in use and nobody waits for one of the
    /// pool; and then gives it back.
    pub async fn rest(&self, kept: Kept) {
        let Some(held) = kept else { return };
        let (place, until) = (Place { spare: self, number: self.add(held) }, Instant::now() + self.stay);
        sleep(REST).await;
        while self.may_stay(place.number) && Instant::now() < until {
            sleep(LOOK).await;
        }
    }

    fn may_stay(&self, number: u64) -> bool {
        let resting = self.lock();
        resting.those.last().is_some_and(|(known, held)| *known == number && held.has_others())
    }

    fn add(&self, held: Held) -> u64 {
        let mut resting = self.lock();
        resting.last += 1;
        let number = resting.last;
        resting.those.push((number, held));
        number
    }

    fn remove(&self, number: u64) -> Kept {
        let mut resting = self.lock();
        let place = resting.those.iter().position(|(known, _)| *known == number)?;
        Some(resting.those.remove(place).1)
    }

    fn lock(&self) -> MutexGuard<'_, Resting> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a connection is kept. It goes back to its pool when this is dropped, also by a runtime that ends.
struct Place<'s> {
    spare: &'s Spare,
    number: u64,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        drop(self.spare.remove(self.number));
    }
}

impl Held {
    /// The one that was kept, or else one of the pool.
    ///
    /// # Errors
    /// When none is free in time, or the database cannot be reached.
    pub async fn of(pool: &Pool, kept: Kept) -> Result<Held, DbErr> {
        let connections = &pool.connections;
        match (kept, connections.get_database_backend()) {
            (Some(held), _) => Ok(held),
            (None, DbBackend::Sqlite) => {
                let connection = connections.get_sqlite_connection_pool().acquire().await.map_err(none)?;
                Ok(Held::Sqlite(connection, pool.clone()))
            }
            (None, _) => {
                let connection = connections.get_postgres_connection_pool().acquire().await.map_err(none)?;
                Ok(Held::Postgres(connection, pool.clone()))
            }
        }
    }

    /// Keeps it for the next statement, unless the pool has no other to give.
    pub fn keep(self) -> Kept {
        self.has_others().then_some(self)
    }

    /// Whether its pool is open and has another connection to give.
    fn has_others(&self) -> bool {
        match self {
            Held::Postgres(_, pool) => has_others(pool.connections.get_postgres_connection_pool()),
            Held::Sqlite(_, pool) => has_others(pool.connections.get_sqlite_connection_pool()),
        }
    }

    /// All rows of a statement.
    pub async fn all(&mut self, sql: Sql) -> Result<Vec<QueryResult>, DbErr> {
        let mut values = sea_orm::Values(sql.values);
        match self {
            Held::Postgres(..) => {
                let arguments = IntoArguments::<Postgres>::into_arguments(SqlxValues(values));
                self.all_of(sql.text, arguments, !sql.is_planned_anew).await
            }
            Held::Sqlite(connection, _) => {
                adapt(&mut values);
                let query = query_with::<Sqlite, _>(AssertSqlSafe(sql.text), SqlxValues(values));
                let rows = query.fetch_all(&mut **connection).await.map_err(failed)?;
                Ok(rows.into_iter().map(QueryResult::from).collect())
            }
        }
    }

    /// All rows of a statement of PostgreSQL, which is prepared and kept if it is `kept`. The driver sends a statement
    /// without a name and its values in two messages, each with an end. A pooler may carry out the second on another
    /// connection, where somebody else's statement has no name either. In a transaction it has one connection for both.
    pub async fn all_of(
        &mut self,
        text: String,
        arguments: PgArguments,
        kept: bool,
    ) -> Result<Vec<QueryResult>, DbErr> {
        let Held::Postgres(connection, pool) = self else { return Err(DbErr::Custom("this is no PostgreSQL".into())) };
        let query = query_with::<Postgres, _>(AssertSqlSafe(text), arguments).persistent(kept);
        let rows = pool
            .answer(async {
                if kept {
                    return query.fetch_all(&mut **connection).await.map_err(failed);
                }
                let mut transaction = connection.begin().await.map_err(failed)?;
                let rows = query.fetch_all(&mut *transaction).await.map_err(failed)?;
                transaction.commit().await.map_err(failed)?;
                Ok(rows)
            })
            .await;
        if matches!(rows, Err(DbErr::Conn(_))) {
            // Nobody is to wait for what it was asked.
            connection.close_on_drop();
        }
        Ok(rows?.into_iter().map(QueryResult::from).collect())
    }
}

fn has_others<D: Database>(pool: &pool::Pool<D>) -> bool {
    !pool.is_closed() && (pool.num_idle() > 0 || pool.size() < pool.options().get_max_connections())
}

fn none(error: SqlxError) -> DbErr {
    match error {
        SqlxError::PoolTimedOut => DbErr::ConnectionAcquire(ConnAcquireErr::Timeout),
        SqlxError::PoolClosed => DbErr::ConnectionAcquire(ConnAcquireErr::ConnectionClosed),
        error => DbErr::Conn(RuntimeErr::SqlxError(error.into())),
    }
}

fn failed(error: SqlxError) -> DbErr {
    DbErr::Query(RuntimeErr::SqlxError(error.into()))
}

#[cfg(test)]
mod tests {
    use sea_orm::SqlxSqliteConnector;
    use sea_orm::sqlx::sqlite::SqlitePoolOptions;

    use super::super::Dialect;
    use super::*;

    async fn pool(connections: u32) -> Pool {
        let pool = SqlitePoolOptions::new().max_connections(connections).connect("sqlite::memory:").await;
        Pool { connections: SqlxSqliteConnector::from_sqlx_sqlite_pool(pool.unwrap()), limit: None }
    }

    #[tokio::test]
    async fn a_connection_is_kept_while_the_pool_has_others() {
        let pool = pool(2).await;
        let first = Held::of(&pool, None).await.unwrap();
        let kept = first.keep();
        assert!(kept.is_some(), "another can be opened");
        let (first, second) = (Held::of(&pool, kept).await.unwrap(), Held::of(&pool, None).await.unwrap());
        assert!(first.keep().is_none(), "both were taken");
        let third = Held::of(&pool, None).await.unwrap();
        drop(second);
        while pool.connections.get_sqlite_connection_pool().num_idle() == 0 {
            tokio::task::yield_now().await;
        }
        assert!(third.keep().is_some(), "the other was given back");
    }

    #[tokio::test]
    async fn a_kept_connection_is_taken_by_the_next_statement_or_goes_back_to_the_pool() {
        let pool = pool(2).await;
        let idle = || pool.connections.get_sqlite_connection_pool().num_idle();
        let spare = std::sync::Arc::new(Spare { stay: Duration::ZERO, ..Spare::default() });
        let resting = |kept: Kept| {
            let spare = spare.clone();
            tokio::spawn(async move { spare.rest(kept).await })
        };
        let first = resting(Held::of(&pool, None).await.unwrap().keep());
        let taken = loop {
            match spare.take() {
                Some(held) => break held,
                None => tokio::task::yield_now().await,
            }
        };
        first.await.unwrap();
        assert_eq!(idle(), 0, "it is used again");
        assert!(spare.take().is_none());
        resting(Some(taken)).await.unwrap();
        while idle() == 0 {
            tokio::task::yield_now().await;
        }
        assert!(spare.take().is_none());
    }

    #[tokio::test]
    async fn the_one_that_was_used_last_stays_until_another_is_wanted_of_the_pool() {
        let pool = pool(2).await;
        let spare = std::sync::Arc::new(Spare { stay: Duration::from_secs(3_600), ..Spare::default() });
        let kept = Held::of(&pool, None).await.unwrap().keep();
        let resting = tokio::spawn({
            let spare = spare.clone();
            async move { spare.rest(kept).await }
        });
        sleep(4 * LOOK).await;
        assert!(!resting.is_finished(), "it stays");
        let other = Held::of(&pool, None).await.unwrap();
        resting.await.unwrap();
        assert!(spare.take().is_none(), "it was given back when the pool had no other");
        drop(other);
    }

    #[tokio::test]
    async fn a_pool_that_closes_waits_for_none() {
        let pool = pool(2).await;
        let kept = Held::of(&pool, None).await.unwrap().keep();
        let spare = Spare { stay: Duration::from_secs(3_600), ..Spare::default() };
        tokio::join!(spare.rest(kept), pool.connections.get_sqlite_connection_pool().close());
    }

    #[tokio::test]
    async fn it_goes_back_where_what_kept_it_ends_early() {
        let pool = pool(2).await;
        let spare = Spare { stay: Duration::from_secs(3_600), ..Spare::default() };
        let kept = Held::of(&pool, None).await.unwrap().keep();
        assert!(tokio::time::timeout(4 * LOOK, spare.rest(kept)).await.is_err(), "it stays");
        assert!(spare.take().is_none());
        pool.connections.get_sqlite_connection_pool().close().await;
    }

    #[tokio::test]
    async fn the_only_connection_is_never_kept() {
        let pool = pool(1).await;
        let mut only = Held::of(&pool, None).await.unwrap();
        assert_eq!(only.all(Sql::new(Dialect::Sqlite, "SELECT 1 UNION SELECT 2")).await.unwrap().len(), 2);
        assert!(only.keep().is_none());
    }
}
