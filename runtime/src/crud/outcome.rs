//! What a write comes to.

use super::changes::Changes;
use super::show::{Read, wrap};
use crate::catalog::Entry;

/// The body that a write answers, and what goes with it.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Empty after a deletion.
    pub body: Vec<u8>,
    /// The id of the record that was created.
    pub created: Option<i64>,
    /// The entity tag of the record as it is now.
    pub tag: Option<String>,
    /// The body holds a secret that is shown this once.
    pub reveals: bool,
}

impl Outcome {
    /// The record as `show` answers it, with the secrets that the write reveals.
    pub fn of(entry: &Entry, read: &Read, changes: &Changes) -> Outcome {
        let mut record = read.answer().to_vec();
        changes.reveal_in(&mut record);
        Outcome {
            body: wrap(entry.meta.name, &record),
            created: None,
            tag: Some(read.tag()),
            reveals: !changes.revealed.is_empty(),
        }
    }

    /// A body that is no record.
    pub fn plain(body: Vec<u8>) -> Outcome {
        Outcome { body, ..Outcome::default() }
    }
}
