//! The advisory locks of PostgreSQL: what is done by one transaction at a time, whichever process it is of. SQLite has one
//! writer at a time anyway.

use std::time::Duration;

use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, TransactionOptions};

use super::connection::{LazyTransaction, Pool, TransactionPool};
use super::{Connection, Db, Dialect, Sql, statement_timeout};
use crate::error::Result;

/// How long a process that starts waits before it asks for the lock again.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// What one does after the other. The numbers are the names in ASCII, to be read in `pg_locks`, and stay as they are:
/// processes of two versions may run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i64)]
pub enum Lock {
    /// Preparing the database: "Charter".
    Start = 0x43_68_61_72_74_65_72,
    /// Folding the changes of the totals: "Fold".
    Fold = 0x466f_6c64,
    /// Making and dropping the indexes of custom fields: "ChIndex".
    Index = 0x43_68_49_6e_64_65_78,
    /// Taking the rights of an administrator from somebody: "Admins", and a zero.
    Admins = 0x41_64_6d_69_6e_73_00,
    /// Defining a custom field: "Fields".
    Fields = 0x46_69_65_6c_64_73,
    /// Adding a webhook: "Webhoo".
    Webhooks = 0x57_65_62_68_6f_6f,
}

impl Lock {
    /// Waits for it, and has it until the transaction ends. Of two that go at once the second sees what the first did.
    ///
    /// # Errors
    /// When the database fails, or the time of a statement is over.
    pub async fn acquire(self, transaction: &Connection) -> Result<()> {
        if transaction.get_database_backend() == DbBackend::Postgres {
            let number = self as i64;
            Sql::new(Dialect::Postgres, format!("SELECT pg_advisory_xact_lock({number})")).run(transaction).await?;
        }
        Ok(())
    }

    /// Whether nobody had it; then this transaction has it until it ends.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn try_acquire(self, transaction: &Connection) -> Result<bool> {
        if transaction.get_database_backend() != DbBackend::Postgres {
            return Ok(true);
        }
        let row = Sql::new(Dialect::Postgres, self.try_lock_sql()).one(transaction).await?;
        Ok(row.map_or(Ok(false), |row| row.try_get("", "held"))?)
    }

    /// Waits for it on a connection beside the pool, and has it until what is answered is released. Whoever holds it goes
    /// on with the pool, and may need all of that.
    ///
    /// It is asked for again and again: a statement that waits for it would be waited for in turn, by the holder that
    /// makes an index beside others. Behind a pooler a transaction that waits would also keep a connection, which the
    /// holder may need.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn acquire_dedicated(self, db: &Db) -> Result<DedicatedLock> {
        let connections = db.migrating();
        let pool = TransactionPool::new(Pool::new(connections.clone(), None, db.metrics()), 1);
        let mut is_told = false;
        loop {
            let begun = pool.begin(TransactionOptions::default()).await?;
            let mut transaction =
                Connection::Transaction(LazyTransaction::begun(pool.clone(), begun, db.commit_notifier()));
            statement_timeout::disable_timeouts(Dialect::Postgres, &mut transaction).await?;
            if self.try_acquire(&transaction).await? {
                return Ok(DedicatedLock { transaction, connections });
            }
            drop(transaction);
            if !is_told {
                tracing::info!("waiting for another process that prepares the database");
                is_told = true;
            }
            tokio::time::sleep(RETRY_INTERVAL).await;
        }
    }

    /// What [`Lock::try_hold`] asks, for a connection beside the pool: one row of one boolean.
    pub fn try_lock_sql(self) -> String {
        format!("SELECT pg_try_advisory_xact_lock({}) AS \"held\"", self as i64)
    }
}

/// A lock, the transaction that has it, and the connections that this is one of.
#[derive(Debug)]
pub struct DedicatedLock {
    transaction: Connection,
    connections: DatabaseConnection,
}

impl DedicatedLock {
    /// Lets others have the lock.
    ///
    /// # Errors
    /// When it was lost meanwhile.
    pub async fn release(self) -> Result<()> {
        let released = self.transaction.commit().await;
        self.connections.close().await?;
        released
    }
}
