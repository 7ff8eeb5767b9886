//! What a write comes to.

use crate::catalog::{Catalog, Entry};
use crate::ops::endpoints::location;
use crate::ops::input::changeset::Changes;
use crate::ops::show::{Read, wrap};

/// The body that a write answers, and what goes with it.
#[derive(Debug, Default)]
pub struct WriteResult {
    /// Empty after a deletion.
    pub body: Vec<u8>,
    /// The id of the record that was created.
    pub created: Option<i64>,
    /// The entity tag of the record as it is now.
    pub tag: Option<String>,
    /// The body holds a secret that is shown this once.
    pub reveals: bool,
}

/// The answer to a write, in terms that can be kept.
#[derive(Debug)]
pub struct StoredResponse {
    /// The status of HTTP.
    pub status: u16,
    /// The path of a new record.
    pub location: Option<String>,
    pub etag: Option<String>,
    /// JSON, or nothing.
    pub body: Vec<u8>,
}

impl StoredResponse {
    /// The answer to a deletion.
    pub fn empty() -> StoredResponse {
        StoredResponse { status: 204, location: None, etag: None, body: Vec::new() }
    }
}

impl WriteResult {
    /// What is answered: 201 with the place of a new record, else 200. `parent` is the id that the path named.
    pub fn reply(self, catalog: &Catalog, entry: &Entry, parent: Option<i64>) -> StoredResponse {
        StoredResponse {
            status: if self.created.is_some() { 201 } else { 200 },
            location: self.created.map(|id| location(catalog, entry, parent, id)),
            etag: self.tag,
            body: self.body,
        }
    }

    /// The record as `show` answers it, with the secrets that the write reveals.
    pub fn of(entry: &Entry, read: &Read, changes: &Changes) -> WriteResult {
        let mut record = read.answer().to_vec();
        changes.reveal_in(&mut record);
        WriteResult {
            body: wrap(entry.meta.name, &record),
            created: None,
            tag: Some(read.tag()),
            reveals: !changes.revealed.is_empty(),
        }
    }

    /// A body that is no record.
    pub fn plain(body: Vec<u8>) -> WriteResult {
        WriteResult { body, ..WriteResult::default() }
    }
}
