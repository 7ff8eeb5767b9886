//! Metadata of actions.

use super::FieldMeta;

/// A named operation on a record or on the collection.
#[derive(Debug, Clone, Copy)]
pub struct ActionMeta {
    /// The last segment of the path, and the method of the behaviour that implements it.
    pub name: &'static str,
    pub on: ActionOn,
    pub method: ActionMethod,
    /// Parameters from the query string of a GET, else from the body.
    pub input: &'static [FieldMeta],
    pub output: ActionOutput,
    /// The event that replaces `updated` if the action changes the record: `deactivated`.
    pub event: Option<&'static str>,
    /// The state of the record after the action, in which the panel does not offer it.
    pub until: Option<Until>,
    /// The description for people; empty if there is none.
    pub description: &'static str,
    /// Runs without a transaction, because it waits for another server; it begins its own to write.
    pub apart: bool,
    /// Requires the ability to write although it only reads, because it shows more than records do.
    pub needs_write: bool,
    /// Secrets that only its response shows: names and descriptions.
    pub reveals: &'static [(&'static str, &'static str)],
}

/// A field that is true or not null after the action if `is`, else false or null.
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
    /// Requires the ability to read, or to write with [`ActionMeta::needs_write`].
    Get,
    /// Requires the ability to write.
    Post,
}

/// The response of an action.
#[derive(Debug, Clone, Copy)]
pub enum ActionOutput {
    /// The record of the action, as in `show`.
    Record,
    /// A new record of the same resource: 201 with its `Location`.
    Created,
    /// These fields under this key.
    Fields { key: &'static str, fields: &'static [FieldMeta] },
}
