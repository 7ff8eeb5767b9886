//! Record that refers to something the application no longer has, such as a saved view of a removed field.

/// A record that `doctor` reports.
#[derive(Debug)]
pub struct StaleReference {
    /// The plural of its resource: `custom_views`.
    pub kind: &'static str,
    pub id: i64,
    /// The display name of the record.
    pub name: String,
    /// A clause whose subject is the record: `refers to an unknown field ...`.
    pub problem: String,
}
