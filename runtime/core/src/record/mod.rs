//! Record output: the columns to read, and rows written as JSON directly from the driver's values.

mod cell;
mod json;
mod projection;
mod required_parents;
mod source;
mod sqlite_value;
mod timestamp;

pub use cell::Cell;
pub use json::{write_record, write_single_value, write_text, write_value};
pub use projection::{Column, RECORD, Shape, write_from, write_from_as};
pub use required_parents::{ParentClause, RequiredParents};
pub use source::{Join, Source};
pub use timestamp::write_timestamp;
