//! What is declared of an action: its path, its parameters, its answer.

use super::{ActionMethod, ActionOn, FieldMeta};

/// A named operation on a record or on the collection.
#[derive(Debug, Clone, Copy)]
pub struct ActionMeta {
    /// The last segment of its path, and the method of the behaviour that implements it.
    pub name: &'static str,
    pub on: ActionOn,
    pub method: ActionMethod,
    /// Its parameters: from the query string of a GET, from the body otherwise.
    pub input: &'static [FieldMeta],
    pub output: ActionOutput,
    /// What its event is called in place of `updated` when it changed the record: `deactivated`.
    pub event: Option<&'static str>,
    /// What its record tells once it is done, so that it is not offered again.
    pub until: Option<Until>,
    /// What it does, for people; empty where its name says it.
    pub description: &'static str,
    /// No transaction is open while it runs, because it waits for another server: it begins its own when it writes.
    pub external: bool,
    /// It only reads, and still needs the ability to write, because it tells more than records do.
    pub needs_write: bool,
    /// The secrets that its answer shows beside the record, this once, each with what it is.
    pub reveals: &'static [(&'static str, &'static str)],
}

/// A field that is so once an action is done: true, or there at all; or neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Until {
    pub field: &'static str,
    pub is: bool,
}

/// What an action answers.
#[derive(Debug, Clone, Copy)]
pub enum ActionOutput {
    /// The record that it ran on, as `show` answers it.
    Record,
    /// A new record of the same resource, as creating answers it: 201 with its place.
    Created,
    /// These fields under this key.
    Fields { key: &'static str, fields: &'static [FieldMeta] },
}
