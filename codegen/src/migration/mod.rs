//! Migrations from the difference of two snapshots: a plan of steps, as Rust and as SQL.

pub mod checks;
mod computed;
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
