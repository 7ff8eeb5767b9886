//! Migrations from the difference of two snapshots: a plan of steps, as Rust and as SQL.

mod backfill;
pub mod checks;
mod computed;
mod existing_rows;
pub mod plan;
mod renamed;
pub mod rust;
pub mod sql;
pub mod step;
mod storage;
pub mod table;
mod unsupported;

pub use plan::Plan;
pub use step::{Step, Value};
pub use unsupported::Unsupported;
