//! What the database holds and the application does not know any more: a saved view of a field that is gone, say.

/// A record that names what is no more.
#[derive(Debug)]
pub struct StaleReference {
    /// Of which resource it is, by the plural: `custom_views`.
    pub kind: &'static str,
    pub id: i64,
    /// What people call the record.
    pub name: String,
    /// A clause whose subject is the record.
    pub problem: String,
}
