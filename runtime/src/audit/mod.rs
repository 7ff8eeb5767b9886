//! The audit trail: who changed what, when, with which token, from which value to which.

mod diff;
mod entry;
mod writer;

pub use diff::write_diff;
pub use entry::route;
pub use writer::{entry_values, record_change, record_deletion, write_insert};
