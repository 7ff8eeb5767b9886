//! Metadata of deprecated fields, filters and actions.

use super::{Deprecated, ResourceMeta};

impl ResourceMeta {
    /// The deprecation of a field, filter or action.
    pub fn deprecation(&self, of: Deprecated, name: &str) -> Option<&'static DeprecationMeta> {
        self.deprecated.iter().find(|deprecation| deprecation.of == of && deprecation.name == name)
    }
}

/// A deprecation with its dates.
#[derive(Debug, Clone, Copy)]
pub struct DeprecationMeta {
    pub of: Deprecated,
    /// Name of the field or action. For a filter, its name in `q`: `name_cont`.
    pub name: &'static str,
    /// First day of the deprecation, `2026-03-21`.
    pub since: &'static str,
    /// Day of the removal at the earliest.
    pub sunset: Option<&'static str>,
    /// Name of the replacement, of the same sort.
    pub instead: Option<&'static str>,
}
