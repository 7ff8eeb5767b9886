//! Memory limit of the responses that clients have not read yet; connections of slow readers are closed when it is reached.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use salvo::conn::ConnCtrl;

use charter_core::error::{Error, Result};
use charter_core::ops::list::export::send_timeout;

/// Smallest response that counts, in bytes. The number of smaller ones is bounded by the number of connections.
const MIN_COUNTED_BYTES: usize = 64 << 10;
/// Unsent bytes of all counted responses in a process.
const MAX_UNSENT_BYTES: usize = 256 << 20;

/// The responses that are not sent yet, and their bytes.
#[derive(Debug, Clone, Default)]
pub struct ResponseBudget(Arc<Mutex<UnsentResponses>>);

/// The counted responses, oldest first.
#[derive(Debug, Default)]
struct UnsentResponses {
    bytes: usize,
    next_id: u64,
    responses: BTreeMap<u64, UnsentResponse>,
}

#[derive(Debug)]
struct UnsentResponse {
    bytes: usize,
    deadline: Instant,
    connection: ConnCtrl,
}

impl ResponseBudget {
    /// Counts the bytes until their last copy is dropped. When the budget is used up, connections whose responses are overdue
    /// are closed.
    ///
    /// # Errors
    /// [`Error::Overloaded`] when the budget is used up.
    pub fn reserve(&self, bytes: Bytes, connection: &ConnCtrl) -> Result<Bytes> {
        let unsent = self.lock();
        if bytes.len() >= MIN_COUNTED_BYTES && bytes.len() > MAX_UNSENT_BYTES.saturating_sub(unsent.bytes) {
            let now = Instant::now();
            let overdue = unsent.responses.values().filter(|response| response.deadline < now);
            overdue.for_each(|response| response.connection.abort());
            return Err(Error::Overloaded);
        }
        Ok(self.count(unsent, bytes, connection))
    }

    /// Counts the response to a write that was done, which must reach its client. When the budget is used up, the connections of
    /// the oldest responses are closed.
    pub fn reserve_always(&self, bytes: Bytes, connection: &ConnCtrl) -> Bytes {
        let unsent = self.lock();
        if bytes.len() >= MIN_COUNTED_BYTES {
            let mut excess = (unsent.bytes + bytes.len()).saturating_sub(MAX_UNSENT_BYTES);
            for response in unsent.responses.values().take_while(|response| {
                let is_needed = excess > 0;
                excess = excess.saturating_sub(response.bytes);
                is_needed
            }) {
                response.connection.abort();
            }
        }
        self.count(unsent, bytes, connection)
    }

    fn count(&self, mut unsent: MutexGuard<'_, UnsentResponses>, bytes: Bytes, connection: &ConnCtrl) -> Bytes {
        if bytes.len() < MIN_COUNTED_BYTES {
            return bytes;
        }
        let id = unsent.next_id;
        let deadline = Instant::now() + send_timeout(bytes.len());
        let response = UnsentResponse { bytes: bytes.len(), deadline, connection: connection.clone() };
        unsent.next_id += 1;
        unsent.bytes += bytes.len();
        unsent.responses.insert(id, response);
        Bytes::from_owner(CountedBytes { bytes, id, budget: self.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, UnsentResponses> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes of a response that are counted until this is dropped.
struct CountedBytes {
    bytes: Bytes,
    id: u64,
    budget: ResponseBudget,
}

impl AsRef<[u8]> for CountedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for CountedBytes {
    fn drop(&mut self) {
        let mut unsent = self.budget.lock();
        unsent.responses.remove(&self.id);
        unsent.bytes -= self.bytes.len();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn long_responses_are_accepted_while_they_fit_the_budget() {
        let (budget, connection) = (ResponseBudget::default(), ConnCtrl::new());
        let reserve = |bytes: &Bytes| budget.reserve(bytes.clone(), &connection);
        let quarter = Bytes::from(vec![7; MAX_UNSENT_BYTES / 4]);
        let mut unsent: Vec<Bytes> = (0..4).map(|_| reserve(&quarter).unwrap()).collect();
        assert_eq!(unsent[0], quarter);
        let smallest = Bytes::from(vec![7; MIN_COUNTED_BYTES]);
        assert!(matches!(reserve(&smallest), Err(Error::Overloaded)));
        assert!(reserve(&smallest.slice(1..)).is_ok(), "short ones are not counted");
        let rest = unsent.pop().unwrap().split_off(MAX_UNSENT_BYTES / 8);
        assert!(reserve(&smallest).is_err(), "a part is still to be sent");
        drop(rest);
        assert!(reserve(&smallest).is_ok());
        assert!(!connection.is_aborted(), "no response is overdue");
    }

    #[test]
    fn connection_with_an_overdue_response_is_closed_when_the_budget_is_used_up() {
        let budget = ResponseBudget::default();
        let (slow, quick, last) = (ConnCtrl::new(), ConnCtrl::new(), ConnCtrl::new());
        let half = Bytes::from(vec![7; MAX_UNSENT_BYTES / 2]);
        let _unsent = [budget.reserve(half.clone(), &slow).unwrap(), budget.reserve(half.clone(), &quick).unwrap()];
        let times: Vec<Duration> =
            budget.lock().responses.values().map(|response| response.deadline - Instant::now()).collect();
        assert!(times.iter().all(|time| (4_100..=4_156).contains(&time.as_secs())), "{times:?}");
        budget.lock().responses.get_mut(&0).unwrap().deadline = Instant::now() - Duration::from_secs(1);
        assert!(!slow.is_aborted(), "the budget is not used up");
        assert!(budget.reserve(half.clone(), &last).is_err());
        assert!(slow.is_aborted() && !quick.is_aborted());
    }

    #[test]
    fn response_to_a_write_is_always_accepted_and_the_oldest_connections_are_closed() {
        let budget = ResponseBudget::default();
        let connections = [(); 4].map(|()| ConnCtrl::new());
        let third = Bytes::from(vec![7; MAX_UNSENT_BYTES / 3]);
        let unsent: Vec<Bytes> =
            connections.iter().map(|connection| budget.reserve_always(third.clone(), connection)).collect();
        assert_eq!(connections.each_ref().map(ConnCtrl::is_aborted), [true, false, false, false]);
        assert!(budget.reserve(third.slice(..MIN_COUNTED_BYTES), &connections[3]).is_err(), "it is counted");
        drop(unsent);
        let unsent = budget.lock();
        assert_eq!((unsent.bytes, unsent.responses.len()), (0, 0));
    }
}
