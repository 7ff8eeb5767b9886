//! Detection of prepared statements that outlived a schema change. If another process migrates the tables while this
//! server runs, PostgreSQL rejects a cached plan whose result types changed ("cached plan must not change result
//! type"), on every connection that has it.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sea_orm::DbErr;

use crate::error::is_stale_statement;

/// Time of the last such error.
static LAST_CHANGE: Mutex<Option<Instant>> = Mutex::new(None);

/// Records the error if it is about a stale plan. Connections opened before are then no longer used.
pub(super) fn record(error: &DbErr) {
    if is_stale_statement(error) {
        tracing::warn!("schema changed under prepared statements; recycling connections");
        *LAST_CHANGE.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
}

/// True if a connection of this age can have stale prepared statements.
pub(super) fn predates_schema_change(age: Duration) -> bool {
    let changed_at = *LAST_CHANGE.lock().unwrap_or_else(PoisonError::into_inner);
    changed_at.is_some_and(|changed_at| changed_at.elapsed() <= age)
}
