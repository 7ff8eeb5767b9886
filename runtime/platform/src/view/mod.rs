//! Saved views: columns, filters and sort order of a list under a name, applied by `view_id`.

mod find;
pub mod record;
mod validation;
mod version;

pub use find::find;
pub use record::filters;
pub use record::{Column, Entity, route};
pub use validation::stale_references;
pub use version::ViewVersion;
