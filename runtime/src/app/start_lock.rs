//! Lock of the start: one process at a time migrates and seeds a database.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use charter_core::db::{Db, DedicatedLock, Dialect, Lock};
use charter_core::error::{Error, Result};

/// Lock of a process that prepares the database. It is also released when the process ends.
pub(crate) enum StartLock {
    /// An advisory lock of PostgreSQL.
    Advisory(Box<DedicatedLock>),
    /// A lock on a file next to the SQLite database; none where no file can be created.
    File(Option<File>),
}

impl StartLock {
    /// Waits for the lock.
    ///
    /// # Errors
    /// When the database fails, or the file cannot be locked.
    pub(super) async fn acquire(db: &Db) -> Result<StartLock> {
        match db.dialect() {
            Dialect::Postgres => Ok(StartLock::Advisory(Box::new(Lock::Start.acquire_dedicated(db).await?))),
            Dialect::Sqlite => {
                let Some(database) = db.file().map(Path::to_path_buf) else { return Ok(StartLock::File(None)) };
                let locked = tokio::task::spawn_blocking(move || lock_file(&database));
                Ok(StartLock::File(locked.await.map_err(Error::internal)??))
            }
        }
    }

    pub(crate) async fn release(self) -> Result<()> {
        match self {
            StartLock::Advisory(lock) => lock.release().await,
            StartLock::File(file) => file.map_or(Ok(()), |file| file.unlock()).map_err(Error::internal),
        }
    }
}

/// Waits for the lock on a file next to this database. A folder without write permission has no lock: SQLite cannot create its
/// journal there either.
fn lock_file(database: &Path) -> Result<Option<File>> {
    // Different links to the database share one lock.
    let path = database.canonicalize().unwrap_or_else(|_| database.to_path_buf()).with_added_extension("start.lock");
    let problem = |error: std::io::Error| Error::internal(format!("lock file {}: {error}", path.display()));
    // A file of another user can be opened for reading, which suffices for a lock.
    match File::open(&path).or_else(|_| File::create(&path)) {
        Ok(file) => file.lock().map(|()| Some(file)).map_err(problem),
        Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => Ok(None),
        Err(error) => Err(problem(error)),
    }
}
