//! Exact totals without COUNT: triggers maintain the number of records of each table and of each block of 4,096 ids,
//! and the number of changes of each table, which is its version.
//!
//! A reader gets totals and rows in one statement and therefore from one snapshot. Snapshots are ordered, and the
//! number of changes grows with every commit: equal versions mean the same state of the table.

mod compact;
mod install;
mod sql;
mod trigger;

pub use compact::{compact, compact_in_background, vacuum};
pub use install::{install, recount};
pub use sql::{BLOCK_IDS, supersedes, write_block_offset, write_live_count, write_versions};
pub use trigger::triggers;
