//! Audit log: each change with its user, token, time, and old and new values.

mod diff;
mod entry;
mod writer;

pub use diff::write_diff;
pub use entry::route;
pub use writer::{entry_values, record_change, record_deletion, write_insert};
