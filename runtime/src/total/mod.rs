//! Exact totals without counting: triggers keep the number of records of each table, and of every 4,096 ids in a row; and
//! a total that was counted is remembered until a table changes that it depends on. Of what is asked again after a change
//! the ids of all records are remembered too, and only what changed since is looked at. So are the ids of a page.
//!
//! A reader learns numbers and rows in one statement, and so from one snapshot. The number of changes that a snapshot
//! sees of a table grows with every commit, and snapshots follow one another: the same number is the same state.

mod fold;
mod install;
mod known;
mod matches;
mod statement;
mod trigger;

pub use fold::{fold, keep_folded, trim};
pub use install::{install, recount};
pub use known::{Found, Known, MOST_MATCHES, Question};
pub use matches::{Matches, Recent};
pub use statement::{
    BLOCK, write_changed, write_changes, write_ids, write_lasting, write_live, write_place, write_snapshot,
};
pub use trigger::triggers;
