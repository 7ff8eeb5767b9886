//! What of a resource is to go: fields, filters and actions, and what their clients are told.

use super::{Deprecated, ResourceMeta};

impl ResourceMeta {
    /// What is said of something that is to go.
    pub fn deprecation(&self, of: Deprecated, name: &str) -> Option<&'static DeprecationMeta> {
        self.deprecated.iter().find(|said| said.of == of && said.name == name)
    }
}

/// Something that is to go, and when.
#[derive(Debug, Clone, Copy)]
pub struct DeprecationMeta {
    pub of: Deprecated,
    /// The name of the field or action; of a filter the name that it has in `q`: `name_cont`.
    pub name: &'static str,
    /// The day from which it is deprecated, `2026-03-21`.
    pub since: &'static str,
    /// The day from which it may be gone.
    pub sunset: Option<&'static str>,
    /// What of the same sort takes its place.
    pub instead: Option<&'static str>,
}
