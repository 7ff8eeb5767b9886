//! Answers that wait to be sent: what is computed is kept until its client has read it, and a client may read slowly.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::{Error, Result};

/// Answers of fewer bytes are not counted: their number is bounded by that of the connections.
const COUNTED: usize = 64 << 10;
/// So many bytes of the others wait in a process.
const MOST: usize = 256 << 20;
/// They are counted in so many at a time.
const UNIT: usize = 1 << 10;

/// The room for them.
#[derive(Debug, Clone)]
pub struct Pending(Arc<Semaphore>);

impl Default for Pending {
    fn default() -> Pending {
        Pending(Arc::new(Semaphore::new(MOST / UNIT)))
    }
}

impl Pending {
    /// The same bytes, counted until the last copy of them is dropped.
    ///
    /// # Errors
    /// [`Error::Overloaded`] when too many wait already: slow readers then keep others from long answers, and the process from
    /// nothing.
    pub fn hold(&self, bytes: Bytes) -> Result<Bytes> {
        if bytes.len() < COUNTED {
            return Ok(bytes);
        }
        let units = u32::try_from(bytes.len() / UNIT).map_err(Error::internal)?;
        let room = self.0.clone().try_acquire_many_owned(units).map_err(|_| Error::Overloaded)?;
        Ok(Bytes::from_owner(Held { bytes, _room: room }))
    }
}

struct Held {
    bytes: Bytes,
    _room: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_answers_are_held_as_long_as_there_is_room_for_them() {
        let pending = Pending::default();
        let long = Bytes::from(vec![7; MOST / 4]);
        let mut held: Vec<Bytes> = (0..4).map(|_| pending.hold(long.clone()).unwrap()).collect();
        assert_eq!(held[0], long);
        let least = Bytes::from(vec![7; COUNTED]);
        assert!(matches!(pending.hold(least.clone()), Err(Error::Overloaded)));
        assert!(pending.hold(least.slice(1..)).is_ok(), "short ones are not counted");
        let rest = held.pop().unwrap().split_off(MOST / 8);
        assert!(pending.hold(least.clone()).is_err(), "a part is still to be sent");
        drop(rest);
        assert!(pending.hold(least).is_ok());
    }
}
