//! Metadata of an action: path, parameters and response.

use super::{ActionMethod, ActionOn, ActionRule, FieldMeta};

/// A named operation on a record or on the collection.
#[derive(Debug, Clone, Copy)]
pub struct ActionMeta {
    /// Last segment of its path, and name of the method that implements it.
    pub name: &'static str,
    pub on: ActionOn,
    pub method: ActionMethod,
    /// Its parameters: from the query string of a GET, from the body otherwise.
    pub input: &'static [FieldMeta],
    pub output: ActionOutput,
    /// Name of its event, in place of `updated`, if it changed the record: `deactivated`.
    pub event: Option<&'static str>,
    /// Field that shows that the action is done, so that the panel does not offer it again.
    pub until: Option<Until>,
    /// The consequences that the panel shows before it runs the action; if empty, it runs at once.
    pub confirm: &'static str,
    /// Description in the OpenAPI document; if empty, it is derived from the name.
    pub description: &'static str,
    /// It runs outside of a transaction, because it waits for another server, and begins one when it writes.
    pub external: bool,
    /// It only reads, but requires the ability to write, because its response contains more than the records.
    pub needs_write: bool,
    /// Secrets that only its response contains, in addition to the record: name and description of each.
    pub reveals: &'static [(&'static str, &'static str)],
    /// When it may run, and what it sets.
    pub rule: Option<ActionRule>,
}

/// Value of a field once an action is done: `is` true means true or not null, `is` false means false or null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Until {
    pub field: &'static str,
    pub is: bool,
}

/// Response of an action.
#[derive(Debug, Clone, Copy)]
pub enum ActionOutput {
    /// The record on which it ran, as `show` returns it.
    Record,
    /// A new record of the same resource, as a create returns it: 201 with `Location`.
    Created,
    /// These fields under this key.
    Fields { key: &'static str, fields: &'static [FieldMeta] },
}
