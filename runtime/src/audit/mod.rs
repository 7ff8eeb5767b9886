//! The audit trail: who changed what.

mod difference;

pub use difference::write_difference;
