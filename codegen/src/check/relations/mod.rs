//! Relation checks: references, embedded records, links, nested resources and includes.

pub(super) mod choices;
pub(super) mod deletions;
pub(super) mod embedded;
pub(super) mod includes;
pub(super) mod links;
pub(super) mod nesting;
pub(super) mod reference_cycles;
pub(super) mod references;
