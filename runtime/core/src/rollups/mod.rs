//! Rollups: values that a record has from the records that refer to it, kept by triggers on the table of those.
//!
//! Each writer counts: the API, cascades of foreign keys, `psql`. Triggers with the same child and reference are a group, so
//! that a change of children updates each parent once. The start installs missing triggers and computes the values again.

mod group;
mod install;
mod lock;
mod postgres;
mod sqlite;

pub use group::{check, is_shown_by};
pub use install::{install, recompute};
pub use lock::{Children, lock_parents};

/// Name prefix of the triggers and functions.
const PREFIX: &str = "charter_rollup_";
