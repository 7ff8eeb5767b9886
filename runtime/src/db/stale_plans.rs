//! Tables of PostgreSQL that another version changes while this server runs. What was prepared before and answers values of
//! another type now, be it a longer text, is refused from then on: by every connection that has it, for as long as it lives.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sea_orm::DbErr;

use crate::error::is_outdated;

/// When a connection was last met that knew tables of before.
static LAST_CHANGE: Mutex<Option<Instant>> = Mutex::new(None);

/// Has the connections of before used no more where an error tells of them.
pub(super) fn record(error: &DbErr) {
    if is_outdated(error) {
        tracing::warn!("the tables were changed while this server runs: it goes on with new connections");
        *LAST_CHANGE.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
}

/// Whether a connection of this age may have prepared statements for tables that are others now.
pub(super) fn predates_schema_change(age: Duration) -> bool {
    let met = *LAST_CHANGE.lock().unwrap_or_else(PoisonError::into_inner);
    met.is_some_and(|met| met.elapsed() <= age)
}
