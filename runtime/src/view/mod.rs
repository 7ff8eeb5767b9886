//! Saved views: columns, filters and sort order of a list under a name, applied by `view_id`.

mod apply;
mod version;
mod validation;
mod record;

pub use apply::{View, filters_condition, find};
pub use version::ViewVersion;
pub use validation::stale_references;
pub use record::{Column, Entity, route};
pub(crate) use record::{Filter, Logic, filters, read_filters};
