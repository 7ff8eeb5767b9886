//! Migrations from the difference of two snapshots: steps, and what they are as Rust and as SQL.

pub mod checks;
pub mod plan;
mod refusal;
mod renamed;
pub mod rust;
pub mod sql;
pub mod step;
mod storage;
pub mod table;

pub use plan::Plan;
pub use refusal::Refusal;
pub use step::{Step, Value};
