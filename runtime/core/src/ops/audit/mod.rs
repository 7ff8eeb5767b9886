//! Writes the audit log: each change with its user, token, time, and old and new values.

mod diff;
mod writer;

pub use diff::write_diff;
pub use writer::{entry_values, record_change, record_deletion, write_insert};
