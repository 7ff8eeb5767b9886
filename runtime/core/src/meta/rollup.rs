//! Metadata of a rollup: a value that a record has from the records that refer to it.

use charter_model::RollupFunction;

/// A value from the records of another resource that refer to this one, and that are not deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RollupMeta {
    pub function: RollupFunction,
    /// The name of the other resource: `loan`.
    pub of: &'static str,
    /// Its field that refers to this resource: `book_id`.
    pub by: &'static str,
    /// Its field with the values; none for a count.
    pub field: Option<&'static str>,
    /// The condition of its records that count; none if all do. It depends on the record alone.
    pub rows: Option<&'static str>,
}
