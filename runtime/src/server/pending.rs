//! Answers that wait to be sent: what is computed is kept until its client has read it, and a client may read slowly.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use salvo::conn::ConnCtrl;

use crate::error::{Error, Result};

/// Answers of fewer bytes are not counted: their number is bounded by that of the connections.
const COUNTED: usize = 64 << 10;
/// So many bytes of the others wait in a process.
const MOST: usize = 256 << 20;

/// A client has so long for an answer, and a second more for each so many bytes of it.
const LEAST_TIME: Duration = Duration::from_secs(60);
const EACH_SECOND: usize = 32 << 10;

/// How long a client has for so many bytes.
pub fn time_for(bytes: usize) -> Duration {
    LEAST_TIME + Duration::from_secs((bytes / EACH_SECOND) as u64)
}

/// The room for them.
#[derive(Debug, Clone, Default)]
pub struct Pending(Arc<Mutex<Waiting>>);

/// What waits, in the order in which it came.
#[derive(Debug, Default)]
struct Waiting {
    bytes: usize,
    next: u64,
    answers: BTreeMap<u64, Debt>,
}

/// An answer that a connection owes.
#[derive(Debug)]
struct Debt {
    bytes: usize,
    due: Instant,
    connection: ConnCtrl,
}

impl Pending {
    /// The same bytes, counted until the last copy of them is dropped. While there is no room, connections that have taken
    /// longer over an answer than they have are closed.
    ///
    /// # Errors
    /// [`Error::Overloaded`] when too many wait already: slow readers then keep others from long answers, and the process from
    /// nothing.
    pub fn hold(&self, bytes: Bytes, connection: &ConnCtrl) -> Result<Bytes> {
        let waiting = self.lock();
        if bytes.len() >= COUNTED && bytes.len() > MOST.saturating_sub(waiting.bytes) {
            let now = Instant::now();
            waiting.answers.values().filter(|debt| debt.due < now).for_each(|debt| debt.connection.abort());
            return Err(Error::Overloaded);
        }
        Ok(self.count(waiting, bytes, connection))
    }

    /// The same for what says that something was done, which is told in any case. While there is no room, connections are
    /// closed that owe what came first.
    pub fn hold_in_any_case(&self, bytes: Bytes, connection: &ConnCtrl) -> Bytes {
        let waiting = self.lock();
        if bytes.len() >= COUNTED {
            let mut over = (waiting.bytes + bytes.len()).saturating_sub(MOST);
            for debt in waiting.answers.values().take_while(|debt| {
                let is_needed = over > 0;
                over = over.saturating_sub(debt.bytes);
                is_needed
            }) {
                debt.connection.abort();
            }
        }
        self.count(waiting, bytes, connection)
    }

    fn count(&self, mut waiting: MutexGuard<'_, Waiting>, bytes: Bytes, connection: &ConnCtrl) -> Bytes {
        if bytes.len() < COUNTED {
            return bytes;
        }
        let number = waiting.next;
        let time = time_for(bytes.len());
        let debt = Debt { bytes: bytes.len(), due: Instant::now() + time, connection: connection.clone() };
        waiting.next += 1;
        waiting.bytes += bytes.len();
        waiting.answers.insert(number, debt);
        Bytes::from_owner(Held { bytes, number, pending: self.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Held {
    bytes: Bytes,
    number: u64,
    pending: Pending,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut waiting = self.pending.lock();
        waiting.answers.remove(&self.number);
        waiting.bytes -= self.bytes.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_answers_are_held_as_long_as_there_is_room_for_them() {
        let (pending, connection) = (Pending::default(), ConnCtrl::new());
        let hold = |bytes: &Bytes| pending.hold(bytes.clone(), &connection);
        let long = Bytes::from(vec![7; MOST / 4]);
        let mut held: Vec<Bytes> = (0..4).map(|_| hold(&long).unwrap()).collect();
        assert_eq!(held[0], long);
        let least = Bytes::from(vec![7; COUNTED]);
        assert!(matches!(hold(&least), Err(Error::Overloaded)));
        assert!(hold(&least.slice(1..)).is_ok(), "short ones are not counted");
        let rest = held.pop().unwrap().split_off(MOST / 8);
        assert!(hold(&least).is_err(), "a part is still to be sent");
        drop(rest);
        assert!(hold(&least).is_ok());
        assert!(!connection.is_aborted(), "nobody has taken long");
    }

    #[test]
    fn who_takes_too_long_is_closed_once_the_room_is_needed() {
        let pending = Pending::default();
        let (slow, quick, last) = (ConnCtrl::new(), ConnCtrl::new(), ConnCtrl::new());
        let half = Bytes::from(vec![7; MOST / 2]);
        let _held = [pending.hold(half.clone(), &slow).unwrap(), pending.hold(half.clone(), &quick).unwrap()];
        let times: Vec<Duration> = pending.lock().answers.values().map(|debt| debt.due - Instant::now()).collect();
        assert!(times.iter().all(|time| (4_100..=4_156).contains(&time.as_secs())), "{times:?}");
        pending.lock().answers.get_mut(&0).unwrap().due = Instant::now() - Duration::from_secs(1);
        assert!(!slow.is_aborted(), "as long as nobody needs it");
        assert!(pending.hold(half.clone(), &last).is_err());
        assert!(slow.is_aborted() && !quick.is_aborted());
    }

    #[test]
    fn what_was_written_is_told_in_any_case_at_the_cost_of_what_came_first() {
        let pending = Pending::default();
        let connections = [(); 4].map(|()| ConnCtrl::new());
        let third = Bytes::from(vec![7; MOST / 3]);
        let held: Vec<Bytes> =
            connections.iter().map(|connection| pending.hold_in_any_case(third.clone(), connection)).collect();
        assert_eq!(connections.each_ref().map(ConnCtrl::is_aborted), [true, false, false, false]);
        assert!(pending.hold(third.slice(..COUNTED), &connections[3]).is_err(), "it is counted");
        drop(held);
        let waiting = pending.lock();
        assert_eq!((waiting.bytes, waiting.answers.len()), (0, 0));
    }
}
