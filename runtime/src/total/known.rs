//! Totals that were counted and pages that were found, remembered for as long as nothing has changed that they depend on.

use std::sync::{Arc, Mutex, PoisonError};

use super::matches::{Matches, Shelf};
use crate::db::Sql;
use crate::generations::{Generations, Weigh};

/// So many are remembered of each of two generations, none of them for a longer question than this.
const MOST: usize = 2_048;
const LONGEST: usize = 4_096;
/// The ids of so many records are read at most, to be carried on.
pub const MOST_MATCHES: i64 = 1 << 20;

/// What this process has counted and found.
#[derive(Debug, Default)]
pub struct Known(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    totals: Generations<Question, Total, MOST>,
    pages: Generations<Question, Arc<KeptPage>, MOST>,
    matches: Shelf,
}

/// The records of a page, in the order in which they were found.
#[derive(Debug)]
pub struct KeptPage {
    /// How often their table had changed.
    pub changes: i64,
    pub ids: Box<[i64]>,
}

/// A statement, with its values.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Question(Box<str>);

#[derive(Debug, Clone, Copy)]
struct Total {
    /// How often the tables had changed.
    changes: i64,
    total: i64,
}

/// What is known of a question.
#[derive(Debug)]
pub enum Found {
    Total(i64),
    /// The records of another state of the table: what changed since is to be looked at.
    Matches(Arc<Matches>),
    /// Only that it is asked again and again while the table changes: its matches are worth reading.
    Asked,
    Nothing,
}

impl Question {
    /// Nothing for a statement that is too long to remember.
    pub fn of(sql: &Sql) -> Option<Question> {
        let text = sql.written_out();
        (text.len() <= LONGEST).then(|| Question(text.into()))
    }
}

impl Known {
    /// What is known of a question whose tables have changed so often.
    pub fn find(&self, question: &Question, changes: i64) -> Found {
        let mut memory = self.lock();
        let Some(known) = memory.totals.get(question).copied() else { return Found::Nothing };
        if known.changes == changes {
            return Found::Total(known.total);
        }
        match memory.matches.find(question) {
            Some(matches) => Found::Matches(matches),
            None if known.total <= MOST_MATCHES => Found::Asked,
            None => Found::Nothing,
        }
    }

    /// Remembers a total that was counted when the tables had changed so often.
    pub fn put(&self, question: Question, changes: i64, total: i64) {
        let mut memory = self.lock();
        // A statement that began earlier and took longer knows less.
        if memory.totals.get(&question).is_none_or(|known| known.changes <= changes) {
            memory.totals.put(question, Total { changes, total });
        }
    }

    /// Remembers the matches of a question, and with them its total.
    pub fn keep(&self, question: Question, matches: Matches) {
        let (changes, total) = (matches.changes(), matches.total());
        self.lock().matches.put(question.clone(), matches);
        self.put(question, changes, total);
    }

    /// Lets go of matches that cannot be carried on any more.
    pub fn forget(&self, question: &Question) {
        self.lock().matches.forget(question);
    }

    /// The page that a statement found.
    pub fn page(&self, statement: &Question) -> Option<Arc<KeptPage>> {
        self.lock().pages.get(statement).cloned()
    }

    /// Remembers the page that a statement found when its table had changed so often.
    pub fn keep_page(&self, statement: Question, changes: i64, ids: Box<[i64]>) {
        let mut memory = self.lock();
        if memory.pages.get(&statement).is_none_or(|kept| kept.changes <= changes) {
            memory.pages.put(statement, Arc::new(KeptPage { changes, ids }));
        }
    }

    /// Whether a page of a question is the same in a later state as when it was found; `first` when it is the list's first.
    pub fn is_same(&self, question: &Question, page: &KeptPage, first: bool, to: i64) -> bool {
        let matches = self.lock().matches.find(question);
        matches.is_some_and(|matches| to <= matches.changes() && matches.is_same_page(page.changes, &page.ids, first))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Weigh for Total {}

impl Weigh for Arc<KeptPage> {}

#[cfg(test)]
mod tests {
    use super::super::matches::Recent;
    use super::*;
    use crate::db::Dialect;

    fn question(value: &str) -> Question {
        let mut sql = Sql::new(Dialect::Sqlite, "SELECT ");
        sql.bind(value);
        Question::of(&sql).expect("it is short")
    }

    #[test]
    fn a_total_is_known_until_something_changes() {
        let known = Known::default();
        known.put(question("a"), 7, 3);
        assert!(matches!(known.find(&question("a"), 7), Found::Total(3)));
        assert!(matches!(known.find(&question("b"), 7), Found::Nothing));
        assert!(matches!(known.find(&question("a"), 8), Found::Asked));
        known.put(question("a"), 6, 1);
        assert!(matches!(known.find(&question("a"), 7), Found::Total(3)), "what was counted before tells nothing new");
    }

    #[test]
    fn matches_are_found_in_another_state_and_not_read_of_too_many() {
        let known = Known::default();
        known.keep(question("a"), Matches::read(7, "", Some("1,2")).expect("they are numbers"));
        assert!(matches!(known.find(&question("a"), 7), Found::Total(2)));
        assert!(matches!(known.find(&question("a"), 9), Found::Matches(matches) if matches.changes() == 7));
        known.put(question("b"), 7, MOST_MATCHES);
        assert!(matches!(known.find(&question("b"), 8), Found::Asked));
        known.put(question("b"), 8, MOST_MATCHES + 1);
        assert!(matches!(known.find(&question("b"), 9), Found::Nothing));
    }

    #[test]
    fn a_page_is_the_same_while_no_match_is_touched() {
        let known = Known::default();
        known.keep_page(question("page"), 7, [1, 2].into());
        assert!(known.page(&question("page")).is_some_and(|page| page.changes == 7 && *page.ids == [1, 2]));
        known.keep_page(question("page"), 6, [3].into());
        assert!(
            known.page(&question("page")).is_some_and(|page| page.changes == 7),
            "an older state tells nothing new"
        );
        let matches = Matches::read(7, "", Some("1,2,3")).expect("they are numbers");
        let recent = Recent { changes: 9, snapshot: "", changed: Some("8,9"), found: None };
        known.keep(question("a"), matches.carry(&recent).expect("it is carried"));
        let page = known.page(&question("page")).expect("it is kept");
        assert!(known.is_same(&question("a"), &page, false, 9) && known.is_same(&question("a"), &page, false, 8));
        assert!(!known.is_same(&question("a"), &page, false, 10), "what comes after is not known");
        assert!(!known.is_same(&question("b"), &page, false, 9), "nor what nobody asked");
    }

    #[test]
    fn what_is_asked_for_stays_and_the_rest_goes() {
        let known = Known::default();
        known.put(question("a"), 1, 1);
        known.put(question("b"), 1, 2);
        for number in 0..MOST * 3 {
            known.put(question(&number.to_string()), 1, 0);
            assert!(matches!(known.find(&question("a"), 1), Found::Total(1)));
        }
        assert!(matches!(known.find(&question("b"), 1), Found::Nothing));
        let memory = known.lock();
        assert!(memory.totals.both().iter().all(|generation| generation.len() <= MOST));
    }

    #[test]
    fn values_are_told_apart_and_a_long_question_is_not_remembered() {
        let two = |one: &str, other: &str| {
            let mut sql = Sql::new(Dialect::Sqlite, "SELECT ");
            sql.bind(one).bind(other);
            Question::of(&sql)
        };
        assert_ne!(two("a\nb", "c"), two("a", "b\nc"));
        assert_eq!(two("a", &"x".repeat(LONGEST)), None);
    }
}
