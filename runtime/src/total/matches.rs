//! Which records a filter finds, as a set of ids that is carried from one state of their table to the next.

use std::collections::VecDeque;
use std::sync::Arc;

use roaring::RoaringTreemap;

use super::known::Question;

/// The sets of so many questions are kept, and all of them together in so many bytes.
const MOST: usize = 64;
const MOST_BYTES: u64 = 16 << 20;
/// So many states are remembered in which a set was the same.
const MOST_STATES: usize = 256;

/// The ids of all records that a question finds, and the state of the table in which it does.
#[derive(Debug, Clone)]
pub struct Matches {
    /// How often the table had changed.
    changes: i64,
    /// In which states the very same records were found, in the same number, the latest last: none of them has changed
    /// from the first to the last. In a state between two of these others may have come and gone again.
    same: Vec<i64>,
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
        Some(Matches { changes, same: vec![changes], snapshot: snapshot.into(), ids: read(ids)? })
    }

    pub fn total(&self) -> i64 {
        self.ids.len() as i64
    }

    pub fn changes(&self) -> i64 {
        self.changes
    }

    /// Whether a page that was found in the state `from` is the same in this one.
    ///
    /// In a state in which the very same records were found it is. Where the page was found between two of these, others
    /// may have stood on it that are gone, or before it. `first`: it is the list's first page. When all its ids are still
    /// found, and nothing that is found now has changed since before `from`, then all that is found now was found then,
    /// and the page begins with the first of both.
    pub fn is_same_page(&self, from: i64, ids: &[i64], first: bool) -> bool {
        let holds = |id: &i64| self.ids.contains(id.cast_unsigned());
        self.same.contains(&from)
            || (first && self.same.first().is_some_and(|since| *since <= from) && ids.iter().all(holds))
    }

    /// Takes over in which states the set of another was this one.
    fn join(&mut self, other: &Matches) {
        // Of one state there is one set: what began in the same one is the same.
        if self.same.first() == other.same.first() {
            self.same.extend(&other.same);
            self.same.sort_unstable();
            self.same.dedup();
            self.bound();
        }
    }

    /// The first state stays: it is how long nothing has changed.
    fn bound(&mut self) {
        let over = self.same.len().saturating_sub(MOST_STATES);
        self.same.drain(1..=over);
    }

    pub fn snapshot(&self) -> &str {
        &self.snapshot
    }

    /// The matches in the later state. Nothing when what was read of it is not as it should be.
    pub fn carry(&self, recent: &Recent<'_>) -> Option<Matches> {
        let (changed, found) = (read(recent.changed)?, read(recent.found)?);
        let mut matches = Matches { changes: recent.changes, snapshot: recent.snapshot.into(), ..self.clone() };
        if !found.is_empty() || !matches.ids.is_disjoint(&changed) {
            matches.same.clear();
            matches.ids -= changed;
            matches.ids |= found;
        }
        matches.same.push(recent.changes);
        matches.bound();
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
    pub(super) fn put(&mut self, question: Question, mut matches: Matches) {
        if let Some(place) = self.0.iter().position(|(other, _)| *other == question) {
            if self.0[place].1.changes > matches.changes {
                return;
            }
            if let Some((_, before)) = self.0.remove(place) {
                matches.join(&before);
            }
        }
        let matches = Arc::new(matches);
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

    fn later(changes: i64, changed: &'static str, found: Option<&'static str>) -> Recent<'static> {
        Recent { changes, snapshot: "", changed: Some(changed), found }
    }

    #[test]
    fn a_page_is_the_same_in_states_in_which_the_very_same_records_were_found() {
        let before = matches(7, "1,2,3");
        let after = before.carry(&later(9, "8,9", None)).expect("it is carried");
        assert!(after.is_same_page(7, &[2], false) && after.is_same_page(9, &[2], false));
        assert!(!after.is_same_page(6, &[2], true), "what was before is not known");
        for (changed, found) in [("3", Some("3")), ("3", None), ("4", Some("4"))] {
            let touched = after.carry(&later(11, changed, found)).expect("it is carried");
            assert!(!touched.is_same_page(9, &[1], true) && touched.is_same_page(11, &[1], false));
        }
    }

    #[test]
    fn what_came_and_went_between_two_looks_is_on_no_page_any_more() {
        let after = matches(7, "1,2,3").carry(&later(9, "4", None)).expect("it is carried");
        assert!(!after.is_same_page(8, &[1, 2, 3, 4], true), "4 was found in the eighth state");
        assert!(!after.is_same_page(8, &[3], false), "what stood before the page then is not known");
        assert!(after.is_same_page(8, &[1, 2], true), "what is gone stood behind it");
    }

    #[test]
    fn who_looked_at_the_same_time_adds_what_was_seen() {
        let (before, mut shelf) = (matches(7, "1,2,3"), Shelf::default());
        let look = |changes| before.carry(&later(changes, "8", None)).expect("it is carried");
        shelf.put(question(0), look(9));
        shelf.put(question(0), look(10));
        assert!(shelf.find(&question(0)).is_some_and(|kept| kept.same == [7, 9, 10]));
        shelf.put(question(0), matches(11, "1,2,3"));
        assert!(shelf.find(&question(0)).is_some_and(|kept| kept.same == [11]), "another beginning is another set");
        let many =
            (8..2_000).fold(before.clone(), |set, state| set.carry(&later(state, "8", None)).expect("it is carried"));
        assert_eq!((many.same.len(), many.same[0], many.same[MOST_STATES - 1]), (MOST_STATES, 7, 1_999));
    }

    #[test]
    fn sets_that_nobody_asks_for_make_room_and_an_older_state_takes_no_place() {
        let mut shelf = Shelf::default();
        for number in 0..MOST {
            shelf.put(question(number), matches(1, "1"));
        }
        assert!(shelf.find(&question(0)).is_some());
        shelf.put(question(MOST), matches(1, "1"));
        assert!(shelf.find(&question(1)).is_none() && shelf.find(&question(0)).is_some());
        shelf.put(question(0), matches(3, "1,2"));
        shelf.put(question(0), matches(2, "1"));
        assert_eq!(shelf.find(&question(0)).map(|kept| kept.total()), Some(2));
    }

    #[test]
    fn sets_are_kept_in_bounded_memory() {
        let mut shelf = Shelf::default();
        // Far apart, so that each takes much room.
        let ids: RoaringTreemap = (0..400_000u64).map(|id| id << 16).collect();
        let large = Matches { changes: 1, same: vec![1], snapshot: "".into(), ids };
        let each = large.ids.serialized_size() as u64;
        for number in 0..MOST {
            shelf.put(question(number), large.clone());
        }
        assert_eq!(shelf.0.len() as u64, MOST_BYTES / each);
    }
}
