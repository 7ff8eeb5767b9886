//! Advisory locks of PostgreSQL: critical sections across processes. SQLite needs none, because it has one writer at
//! a time.

use std::time::Duration;

use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, TransactionOptions};

use super::connection::{LazyTransaction, Pool, TransactionPool};
use super::{Connection, Db, Dialect, Sql, statement_timeout};
use crate::error::Result;

/// Pause between two attempts at start-up.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// A critical section. The numbers spell the names in ASCII, for `pg_locks`. They never change, because processes of
/// two versions can run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i64)]
pub enum Lock {
    /// Preparation of the database: "Charter".
    Start = 0x43_68_61_72_74_65_72,
    /// Compaction of the record counts: "Fold".
    Compact = 0x466f_6c64,
    /// Creation and removal of custom field indexes: "ChIndex".
    Index = 0x43_68_49_6e_64_65_78,
    /// Removal of administrator rights from a user: "Admins" and a zero.
    Admins = 0x41_64_6d_69_6e_73_00,
    /// Definition of a custom field: "Fields".
    Fields = 0x46_69_65_6c_64_73,
    /// Creation of a webhook: "Webhoo".
    Webhooks = 0x57_65_62_68_6f_6f,
}

impl Lock {
    /// Waits for the lock, which is held until the transaction ends. The second of two transactions sees the changes
    /// of the first.
    ///
    /// # Errors
    /// When the database fails or the statement times out.
    pub async fn acquire(self, transaction: &Connection) -> Result<()> {
        if transaction.get_database_backend() == DbBackend::Postgres {
            let number = self as i64;
            Sql::new(Dialect::Postgres, format!("SELECT pg_advisory_xact_lock({number})")).run(transaction).await?;
        }
        Ok(())
    }

    /// Takes the lock until the transaction ends if it is free. Returns false if another transaction holds it.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn try_acquire(self, transaction: &Connection) -> Result<bool> {
        if transaction.get_database_backend() != DbBackend::Postgres {
            return Ok(true);
        }
        let row = Sql::new(Dialect::Postgres, self.try_lock_sql()).one(transaction).await?;
        Ok(row.map_or(Ok(false), |row| row.try_get("", "acquired"))?)
    }

    /// Waits for the lock on a dedicated connection, because the holder may need the whole pool.
    ///
    /// The lock is polled. A statement that waits for it would hold a snapshot, for which CREATE INDEX CONCURRENTLY
    /// by the holder would wait in turn. Behind a pooler it would also occupy a connection.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn acquire_dedicated(self, db: &Db) -> Result<DedicatedLock> {
        let connections = db.migrating();
        let pool = TransactionPool { pool: Pool::without_timeout(connections.clone(), 1, db.metrics()) };
        let mut is_logged = false;
        loop {
            let open = pool.begin(TransactionOptions::default()).await?;
            let mut transaction =
                Connection::Transaction(LazyTransaction::from_open(pool.clone(), open, db.commit_notifier()));
            statement_timeout::disable_timeouts(Dialect::Postgres, &mut transaction).await?;
            if self.try_acquire(&transaction).await? {
                return Ok(DedicatedLock { transaction, connections });
            }
            drop(transaction);
            if !is_logged {
                tracing::info!("waiting for another process to finish preparing the database");
                is_logged = true;
            }
            tokio::time::sleep(RETRY_INTERVAL).await;
        }
    }

    /// The statement of [`Lock::try_acquire`], for other connections. It returns one row with one boolean.
    pub fn try_lock_sql(self) -> String {
        format!("SELECT pg_try_advisory_xact_lock({}) AS \"acquired\"", self as i64)
    }
}

/// A lock with the transaction that holds it and the connection pool of that transaction.
#[derive(Debug)]
pub struct DedicatedLock {
    transaction: Connection,
    connections: DatabaseConnection,
}

impl DedicatedLock {
    /// Releases the lock.
    ///
    /// # Errors
    /// When the connection was lost in the meantime.
    pub async fn release(self) -> Result<()> {
        let released = self.transaction.commit().await;
        self.connections.close().await?;
        released
    }
}
