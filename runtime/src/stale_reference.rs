//! Stale references: records that name something the application no longer has, such as a saved view of a removed
//! field.

/// A record with a stale reference.
#[derive(Debug)]
pub struct StaleReference {
    /// Plural name of its resource, such as `custom_views`.
    pub kind: &'static str,
    pub id: i64,
    /// Display name of the record.
    pub name: String,
    /// The problem, as the predicate of a sentence about the record.
    pub problem: String,
}
