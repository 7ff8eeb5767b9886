//! Locks: on PostgreSQL a migration that has to wait for one gives way, and tries again; on SQLite it has the only one from its
//! beginning.
//!
//! On PostgreSQL whoever waits for a whole table makes all those wait that come later, and whoever holds some tables and waits for
//! another may be in a circle with one who writes, of which PostgreSQL ends either. So a migration waits for less than
//! PostgreSQL takes to look for circles (`deadlock_timeout`, a second), lets go of what it has, and begins again.

use sea_orm_migration::SchemaManager;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbErr, RuntimeErr};

/// Milliseconds for which a lock is waited for.
const WAIT: u32 = 500;
/// How often it is tried, about five minutes in all.
const TRIES: u32 = 100;
/// Milliseconds between two tries: as many times the number of the try, and at most [`PAUSE_MOST`].
const PAUSE: u32 = 50;
const PAUSE_MOST: u32 = 2500;

/// The tries of one transaction, or of a part of one.
#[derive(Default)]
pub struct Patience {
    tries: u32,
}

impl Patience {
    /// What a transaction begins with.
    pub async fn begin(&self, connection: &impl ConnectionTrait) -> Result<(), DbErr> {
        // It takes as long as it takes, also where the role has a limit.
        let limits = format!("SET LOCAL lock_timeout = {WAIT}; SET LOCAL statement_timeout = 0");
        connection.execute_unprepared(&limits).await.map(|_| ())
    }

    /// Waits before the next try, after a lock was not to be had and the transaction was rolled back.
    ///
    /// # Errors
    /// The problem itself, where it is another one, or where this was the last try.
    pub async fn pause(&mut self, connection: &impl ConnectionTrait, problem: DbErr) -> Result<(), DbErr> {
        self.tries += 1;
        if !is_locked(&problem) || self.tries == TRIES {
            return Err(problem);
        }
        let pause = (self.tries * PAUSE).min(PAUSE_MOST);
        // Asleep on the server, so that it needs no clock of a runtime.
        let sleep = format!("SELECT pg_sleep({}.{:03})", pause / 1000, pause % 1000);
        connection.execute_unprepared(&sleep).await.map(|_| ())
    }
}

/// Has a transaction of SQLite begin with the right to write, waiting for whoever has it. One that begins by reading is refused it
/// at once where another has written since.
///
/// Of all statements the pragma alone asks for it whatever tables there are, and does nothing: no file of ours keeps account of
/// what it would give back.
pub async fn claim(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    manager.get_connection().execute_unprepared("PRAGMA incremental_vacuum(1)").await.map(|_| ())
}

/// Whether somebody else had the lock (`lock_not_available`), or was in a circle with us (`deadlock_detected`).
fn is_locked(problem: &DbErr) -> bool {
    let (DbErr::Exec(RuntimeErr::SqlxError(problem)) | DbErr::Query(RuntimeErr::SqlxError(problem))) = problem else {
        return false;
    };
    let code = problem.as_database_error().and_then(|problem| problem.code());
    code.is_some_and(|code| code == "55P03" || code == "40P01")
}
