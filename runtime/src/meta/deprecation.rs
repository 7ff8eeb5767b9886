//! Metadata of deprecated fields, filters and actions.

use super::ResourceMeta;

impl ResourceMeta {
    /// The deprecation of a field, filter or action, if any.
    pub fn deprecation(&self, of: Deprecated, name: &str) -> Option<&'static DeprecationMeta> {
        self.deprecated.iter().find(|deprecation| deprecation.of == of && deprecation.name == name)
    }
}

/// A deprecation.
#[derive(Debug, Clone, Copy)]
pub struct DeprecationMeta {
    pub of: Deprecated,
    /// The name of the field or action, or the filter as in `q`: `name_cont`.
    pub name: &'static str,
    /// The day from which it is deprecated, `2026-03-21`.
    pub since: &'static str,
    /// The day from which it may be removed.
    pub sunset: Option<&'static str>,
    /// The replacement, of the same kind.
    pub instead: Option<&'static str>,
}

/// The kind of a deprecated part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deprecated {
    Field,
    Filter,
    Action,
}
