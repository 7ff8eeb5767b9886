//! Metadata of an action: path, parameters and output.

use super::FieldMeta;

/// A named operation on a record or on the collection.
#[derive(Debug, Clone, Copy)]
pub struct ActionMeta {
    /// The last segment of the path, and the method of the hooks that implement it.
    pub name: &'static str,
    pub on: ActionOn,
    pub method: ActionMethod,
    /// Its parameters: from the query string of a GET, from the body otherwise.
    pub input: &'static [FieldMeta],
    pub output: ActionOutput,
    /// Event name that replaces `updated` if the action changed the record: `deactivated`.
    pub event: Option<&'static str>,
    /// Field that shows that the action is done. The panel then no longer offers it.
    pub until: Option<Until>,
    /// Description for people. Empty if the name explains it.
    pub description: &'static str,
    /// The action runs without an open transaction, because it waits for another server. It begins its own to write.
    pub external: bool,
    /// The action only reads but needs the write ability, because it returns more than records show.
    pub needs_write: bool,
    /// Secrets that the response shows once in addition to the record: name and description of each.
    pub reveals: &'static [(&'static str, &'static str)],
}

/// A field's state once the action is done: true or not null (`is`), or the opposite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Until {
    pub field: &'static str,
    pub is: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionOn {
    /// `/<path>/{id}/<name>`
    Record,
    /// `/<path>/<name>`
    Collection,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionMethod {
    /// Needs the read ability, unless `needs_write` is set.
    Get,
    /// Needs the write ability.
    Post,
}

/// Response of an action.
#[derive(Debug, Clone, Copy)]
pub enum ActionOutput {
    /// The record that it ran on, as `show` returns it.
    Record,
    /// A new record of the same resource, as create returns it: 201 with a `Location`.
    Created,
    /// These fields under this key.
    Fields { key: &'static str, fields: &'static [FieldMeta] },
}
