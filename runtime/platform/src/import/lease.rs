//! The queue of imports that wait for a worker.

use charter_core::db::Sql;
use charter_core::error::Result;
use charter_core::ops::State;

use super::record::ACTIVE;
use crate::lease::{self, Claim, Queue};

/// The table of imports.
pub(super) const TABLE: &str = "imports";

/// Claims the oldest import that waits for a worker.
///
/// # Errors
/// When the database fails.
pub(super) async fn claim(state: &State) -> Result<Option<Claim>> {
    let states = ACTIVE.map(|status| format!("'{status}'")).join(", ");
    let waiting = |sql: &mut Sql| {
        sql.push(&format!("\"status\" IN ({states})"));
    };
    lease::claim(state, &Queue { table: TABLE, waiting: &waiting, order: "\"id\"", begin: &|_| {} }).await
}
