//! Resources resolved: every default filled in, every type known, both ends of every relation found.

mod action;
mod field;
mod indexing;
mod job;
mod schema;

pub use charter_model::{Access, Deprecated, Shown};

pub use crate::notation::{CodeValue, Rule, Type};
pub use crate::syntax::field::Described;
pub use action::{Action, ActionOutput, ActionRule, SetValue, StateChange};
pub use field::{Default, Field, FieldPlaces, Kind, Rollup};
pub use indexing::{MAX_INDEXED_CHARACTERS, MAX_ORDERED_CHARACTERS, UnservedReason};
pub use job::{Job, seconds};
pub use schema::{
    Check, Deprecation, Filter, Filters, HookPoint, Include, IncludeTarget, Name, OrderKey, Public, Resource, Schema,
    Seed, Sorts, Under, UniqueSet,
};
