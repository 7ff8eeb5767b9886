//! Writes of records: create, update, delete, restore and bulk, and the fast path of PostgreSQL.

pub mod atomic_store;
pub mod bulk;
pub mod candidate;
pub mod create;
pub mod database_side_effects;
pub mod delete;
pub mod fast_path;
pub mod numbering;
pub mod on_delete;
pub mod open_door;
pub mod rehearsal;
pub mod restore;
pub mod result;
pub mod undo;
pub mod update;
