//! Which records a filter finds, as a set of ids that is carried from one state of their table to the next.

use std::collections::VecDeque;
use std::sync::Arc;

use roaring::RoaringTreemap;

use super::known::Question;

/// The sets of so many questions are kept, and all of them together in so many bytes.
const MOST: usize = 64;
const MOST_BYTES: u64 = 16 << 20;

/// The ids of all records that a question finds, and the state of the table in which it does.
#[derive(Debug, Clone)]
pub struct Matches {
    /// How often the table had changed.
    changes: i64,
    /// Since when, in the same number, none of them is known to have changed, come or gone.
    since: i64,
    /// PostgreSQL's snapshot.
    snapshot: Box<str>,
    ids: RoaringTreemap,
}

/// What a later statement says of the records that changed since.
#[derive(Debug)]
pub struct Recent<'r> {
    pub changes: i64,
    pub snapshot: &'r str,
    /// Every one of them, with commas between; none when there are none.
    pub changed: Option<&'r str>,
    /// Those that the question finds now.
    pub found: Option<&'r str>,
}

impl Matches {
    /// The matches as they were found, with commas between their ids. Nothing when one is not a number.
    pub fn read(changes: i64, snapshot: &str, ids: Option<&str>) -> Option<Matches> {
        Some(Matches { changes, since: changes, snapshot: snapshot.into(), ids: read(ids)? })
    }

    pub fn total(&self) -> i64 {
        self.ids.len() as i64
    }

    pub fn changes(&self) -> i64 {
        self.changes
    }

    pub fn since(&self) -> i64 {
        self.since
    }

    pub fn snapshot(&self) -> &str {
        &self.snapshot
    }

    /// The matches in the later state. Nothing when what was read of it is not as it should be.
    pub fn carry(&self, recent: &Recent<'_>) -> Option<Matches> {
        let (changed, found) = (read(recent.changed)?, read(recent.found)?);
        let mut matches = Matches { changes: recent.changes, snapshot: recent.snapshot.into(), ..self.clone() };
        if !found.is_empty() || !matches.ids.is_disjoint(&changed) {
            matches.since = recent.changes;
            matches.ids -= changed;
            matches.ids |= found;
        }
        Some(matches)
    }
}

/// An id is a set's number by its bits, so that negative ones have a place too.
fn read(ids: Option<&str>) -> Option<RoaringTreemap> {
    let ids = ids.unwrap_or_default().split(',').filter(|id| !id.is_empty());
    ids.map(|id| id.parse::<i64>().ok().map(i64::cast_unsigned)).collect()
}

/// The sets that a process keeps, those that were asked for last in front.
#[derive(Debug, Default)]
pub(super) struct Shelf(VecDeque<(Question, Arc<Matches>)>);

impl Shelf {
    pub(super) fn find(&mut self, question: &Question) -> Option<Arc<Matches>> {
        let place = self.0.iter().position(|(other, _)| other == question)?;
        let kept = self.0.remove(place)?;
        let matches = kept.1.clone();
        self.0.push_front(kept);
        Some(matches)
    }

    pub(super) fn forget(&mut self, question: &Question) {
        self.0.retain(|(other, _)| other != question);
    }

    /// Keeps a set, unless a newer one of the same question is there, and lets go of what does not fit.
    pub(super) fn put(&mut self, question: Question, matches: Arc<Matches>) {
        if let Some(place) = self.0.iter().position(|(other, _)| *other == question) {
            if self.0[place].1.changes > matches.changes {
                return;
            }
            self.0.remove(place);
        }
        // The others are worth more than one that fills the place of all.
        if matches.ids.serialized_size() as u64 > MOST_BYTES {
            return;
        }
        self.0.push_front((question, matches));
        let mut bytes = 0;
        let fits = |(_, matches): &&(Question, Arc<Matches>)| {
            bytes += matches.ids.serialized_size() as u64;
            bytes <= MOST_BYTES
        };
        let kept = self.0.iter().take(MOST).take_while(fits).count();
        self.0.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{Dialect, Sql};

    fn question(number: usize) -> Question {
        let mut sql = Sql::new(Dialect::Sqlite, "SELECT ");
        sql.bind(number as i64);
        Question::of(&sql).expect("it is short")
    }

    fn matches(changes: i64, ids: &str) -> Matches {
        Matches::read(changes, "", Some(ids)).expect("they are numbers")
    }

    #[test]
    fn what_changed_goes_and_what_is_found_of_it_comes_back() {
        fn recent<'r>(changed: Option<&'r str>, found: Option<&'r str>) -> Recent<'r> {
            Recent { changes: 8, snapshot: "1:2:", changed, found }
        }
        let before = matches(7, "1,2,-3");
        assert_eq!(before.total(), 3);
        let after = before.carry(&recent(Some("2,-3,5"), Some("5,-3"))).expect("it is carried");
        assert_eq!((after.total(), after.changes(), after.snapshot()), (3, 8, "1:2:"));
        assert_eq!(after.ids, matches(8, "1,-3,5").ids);
        assert_eq!(before.carry(&recent(None, None)).expect("it is carried").ids, before.ids);
        assert!(before.carry(&recent(Some("x"), None)).is_none());
        assert_eq!(Matches::read(1, "", None).expect("no matches").total(), 0);
    }

    #[test]
    fn sets_that_nobody_asks_for_make_room_and_an_older_state_takes_no_place() {
        let mut shelf = Shelf::default();
        for number in 0..MOST {
            shelf.put(question(number), Arc::new(matches(1, "1")));
        }
        assert!(shelf.find(&question(0)).is_some());
        shelf.put(question(MOST), Arc::new(matches(1, "1")));
        assert!(shelf.find(&question(1)).is_none() && shelf.find(&question(0)).is_some());
        shelf.put(question(0), Arc::new(matches(3, "1,2")));
        shelf.put(question(0), Arc::new(matches(2, "1")));
        assert_eq!(shelf.find(&question(0)).map(|kept| kept.total()), Some(2));
    }

    #[test]
    fn sets_are_kept_in_bounded_memory() {
        let mut shelf = Shelf::default();
        // Far apart, so that each takes much room.
        let ids: RoaringTreemap = (0..400_000u64).map(|id| id << 16).collect();
        let large = Matches { changes: 1, since: 1, snapshot: "".into(), ids };
        let each = large.ids.serialized_size() as u64;
        for number in 0..MOST {
            shelf.put(question(number), Arc::new(large.clone()));
        }
        assert_eq!(shelf.0.len() as u64, MOST_BYTES / each);
    }
}
