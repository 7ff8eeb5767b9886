//! Saved views: a list's columns, filters and order under a name, applied by `view_id`.

mod apply;
mod changes;
mod names;
mod record;

pub use apply::{View, filtered, find};
pub use changes::Changes;
pub use names::stale_references;
pub use record::{Column, Entity, route};
pub(crate) use record::{Filter, Logic, filters, read_filters};
