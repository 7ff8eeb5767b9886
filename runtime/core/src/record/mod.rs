//! Record output: the columns to read, and rows written as JSON directly from the driver's values.

mod json;
mod projection;
mod required_parents;
mod source;

pub use crate::db::Cell;
pub use crate::field_type::write_timestamp;
pub use json::{write_record, write_single_value, write_text, write_value};
pub use projection::{Column, HiddenMembers, RECORD, Shape, write_from, write_from_as};
pub use required_parents::{ParentClause, RequiredParents};
pub use source::{Join, Source};
