//! The audit trail: who changed what, when, with which token, from which value to which.

mod difference;
mod entry;
pub mod trail;

pub use difference::write_difference;
pub use entry::route;
