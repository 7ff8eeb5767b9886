//! Saved views: columns, filters and sort order of a list under a name, applied by `view_id`.

mod apply;
mod record;
mod validation;
mod version;

pub use apply::{View, filters_condition, find};
pub use record::{Column, Entity, route};
pub(crate) use record::{Filter, Logic, filters, read_filters};
pub use validation::stale_references;
pub use version::ViewVersion;
