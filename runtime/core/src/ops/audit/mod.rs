//! Writes the audit log: each change with its user, token, time, and old and new values.

mod diff;
mod writer;

pub use diff::{ERASED, write_diff};
pub use writer::{
    NO_RECORD, entry_values, record_change, record_deletion, record_event, record_event_alone, write_insert,
};
