//! The advisory locks of PostgreSQL: what is done by one transaction at a time, whichever process it is of. SQLite has one
//! writer at a time anyway.

use sea_orm::{ConnectionTrait, DbBackend};

use super::{Connection, Dialect, Sql};
use crate::error::Result;

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
    pub async fn hold(self, transaction: &Connection) -> Result<()> {
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
    pub async fn try_hold(self, transaction: &Connection) -> Result<bool> {
        if transaction.get_database_backend() != DbBackend::Postgres {
            return Ok(true);
        }
        let row = Sql::new(Dialect::Postgres, self.question()).one(transaction).await?;
        Ok(row.map_or(Ok(false), |row| row.try_get("", "held"))?)
    }

    /// What [`Lock::try_hold`] asks, for a connection beside the pool: one row of one boolean.
    pub fn question(self) -> String {
        format!("SELECT pg_try_advisory_xact_lock({}) AS \"held\"", self as i64)
    }
}
