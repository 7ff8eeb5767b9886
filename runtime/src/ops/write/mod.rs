//! Writes of records: create, update, delete, restore and bulk, and the fast path of PostgreSQL.

pub(crate) mod atomic_store;
pub(crate) mod bulk;
pub(crate) mod candidate;
pub(crate) mod create;
pub(crate) mod database_side_effects;
pub(crate) mod delete;
pub(crate) mod fast_path;
pub(crate) mod restore;
pub(crate) mod result;
pub(crate) mod update;
