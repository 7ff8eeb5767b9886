//! Metadata of the rules of a whole record.

/// A condition that each record must meet. It holds if it is true or NULL, as a CHECK of SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckMeta {
    /// The condition: `ends_at > starts_at`. See [`charter_model::expression`].
    pub that: &'static str,
    /// The field of its message. If it is left out, it is the first field of the condition.
    pub field: Option<&'static str>,
    /// Completes "this value ...". If it is left out, the message has the condition.
    pub message: Option<&'static str>,
}

/// Fields whose values must be unique together, among the records that are not deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UniqueMeta {
    pub fields: &'static [&'static str],
    /// The condition of the records that count; none if all do. It depends on the record alone.
    pub rows: Option<&'static str>,
    /// Texts that differ in case alone are the same.
    pub ignore_case: bool,
}

impl UniqueMeta {
    /// All records count, and texts are the same only if each character is.
    pub const fn plain(fields: &'static [&'static str]) -> UniqueMeta {
        UniqueMeta { fields, rows: None, ignore_case: false }
    }

    /// True if an index of the set finds records by its fields.
    pub fn is_plain(&self) -> bool {
        self.rows.is_none() && !self.ignore_case
    }
}
