//! Resources resolved: every default filled in, every type a type, both ends of every relation known.

mod field;
mod indexing;
mod schema;

pub use crate::syntax::field::{Described, PathSyntax as Path, Rule};
pub use field::{Access, CodeValue, Default, Field, FieldPlaces, Kind, Shown};
pub use indexing::{MOST_INDEXED, MOST_ORDERED, Why};
pub use schema::{
    Action, ActionOutput, Deprecated, Deprecation, Filter, Filters, HookPoint, Include, IncludeTarget, Name, Resource,
    Schema, Seed, Sorts, Under,
};
