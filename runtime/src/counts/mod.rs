//! Exact totals without counting: triggers maintain the number of records of each table and of each block of 4,096 ids, and
//! the number of changes of each table, which is its version.
//!
//! A reader learns numbers and rows in one statement, and so from one snapshot. The number of changes that a snapshot sees
//! of a table grows with every commit, and snapshots are ordered: equal numbers mean the same state.

mod compact;
mod install;
mod sql;
mod trigger;

pub use compact::{compact, keep_compacted, vacuum};
pub use install::{install, recount};
pub use sql::{BLOCK_IDS, write_block_offset, write_live_count, write_versions};
pub use trigger::triggers;
