//! Exact totals without counting: triggers maintain the number of records of each table and of each block of 4,096 ids, and
//! the number of changes of each table, which is its version.
//!
//! A reader learns numbers and rows in one statement, and so from one snapshot. The number of changes that a snapshot sees
//! of a table grows with every commit, and snapshots are ordered: equal numbers mean the same state.

mod fold;
mod install;
mod statement;
mod trigger;

pub use fold::{fold, keep_folded, sweep};
pub use install::{install, recount};
pub use statement::{BLOCK, write_changes, write_live, write_place};
pub use trigger::triggers;
