//! The result of a write, and its response in a form that can be stored.

use crate::catalog::{Catalog, Entry};
use crate::ops::endpoints::location;
use crate::ops::input::changeset::Changes;
use crate::ops::show::{RenderedRecord, wrap};

/// The result of a write.
#[derive(Debug, Default)]
pub struct WriteResult {
    /// Empty after a delete.
    pub body: Vec<u8>,
    /// The id of the created record.
    pub created: Option<i64>,
    /// The entity tag of the written record.
    pub tag: Option<String>,
    /// The body contains a secret, which no other response shows.
    pub reveals: bool,
}

/// The response to a write, as stored for an idempotency key.
#[derive(Debug)]
pub struct StoredResponse {
    /// The HTTP status.
    pub status: u16,
    /// The path of a created record.
    pub location: Option<String>,
    pub etag: Option<String>,
    /// JSON, or empty.
    pub body: Vec<u8>,
}

impl StoredResponse {
    /// The response to a delete.
    pub fn empty() -> StoredResponse {
        StoredResponse { status: 204, location: None, etag: None, body: Vec::new() }
    }
}

impl WriteResult {
    /// The response: 201 with the `Location` of a created record, else 200. `parent` is the id in the path.
    pub fn reply(self, catalog: &Catalog, entry: &Entry, parent: Option<i64>) -> StoredResponse {
        StoredResponse {
            status: if self.created.is_some() { 201 } else { 200 },
            location: self.created.map(|id| location(catalog, entry, parent, id)),
            etag: self.tag,
            body: self.body,
        }
    }

    /// The record as `show` returns it, with the secrets that the write reveals.
    pub fn of(entry: &Entry, rendered: &RenderedRecord, changes: &Changes) -> WriteResult {
        let mut record = rendered.readable().to_vec();
        changes.add_secrets_to(&mut record);
        WriteResult {
            body: wrap(entry.meta.name, &record),
            created: None,
            tag: Some(rendered.tag()),
            reveals: !changes.revealed.is_empty(),
        }
    }

    /// A body that is not a record.
    pub fn plain(body: Vec<u8>) -> WriteResult {
        WriteResult { body, ..WriteResult::default() }
    }
}
