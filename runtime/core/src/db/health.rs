//! Health of the database as the statements of this process report it: lost connections, and writes that fail because
//! the database is read-only or its disk is full.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sea_orm::DbErr;
use tokio::sync::Notify;

use crate::error::{DatabaseFailure, database_failure};

/// Time for which a failed write is reported. A server that is not ready gets no writes, which would show that the
/// database has recovered.
const REPORT_TIME: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
pub(super) struct Health {
    /// The last failed write, unless a later one succeeded.
    unwritable: Mutex<Option<(Unwritable, Instant)>>,
    /// Notified when a connection was lost or has become read-only.
    pub(super) connection_lost: Notify,
}

/// Why the database takes no writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unwritable {
    ReadOnly,
    DiskFull,
}

impl Health {
    /// Records the error of a statement or of a connection attempt.
    pub(super) fn record(&self, error: &DbErr) {
        let unwritable = match database_failure(error) {
            Some(DatabaseFailure::ConnectionLost) => return self.connection_lost.notify_one(),
            Some(DatabaseFailure::ReadOnly) => Unwritable::ReadOnly,
            Some(DatabaseFailure::DiskFull) => Unwritable::DiskFull,
            None => return,
        };
        if unwritable == Unwritable::ReadOnly {
            self.connection_lost.notify_one();
        }
        *self.lock() = Some((unwritable, Instant::now()));
    }

    /// Records a successful write.
    pub(super) fn record_write(&self) {
        *self.lock() = None;
    }

    /// The reason of the last failed write, for [`REPORT_TIME`] or until a write succeeds.
    pub(super) fn unwritable(&self) -> Option<Unwritable> {
        self.lock().filter(|(_, at)| at.elapsed() < REPORT_TIME).map(|(unwritable, _)| unwritable)
    }

    fn lock(&self) -> MutexGuard<'_, Option<(Unwritable, Instant)>> {
        self.unwritable.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
