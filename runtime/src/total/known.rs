//! Totals that were counted, remembered for as long as nothing has changed that they depend on.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

use crate::db::Sql;

/// So many are remembered of each of two generations, none of them for a longer question than this.
const MOST: usize = 2_048;
const LONGEST: usize = 4_096;

/// The totals that this process has counted.
#[derive(Debug, Default)]
pub struct Known(Mutex<Generations>);

/// What was asked lately is in the new generation. Once that is full it becomes the old one, and what is asked of that
/// one comes back: so what nobody asks for goes.
#[derive(Debug, Default)]
struct Generations {
    new: HashMap<Question, Total>,
    old: HashMap<Question, Total>,
}

/// A statement that counts, with its values.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Question(Box<str>);

#[derive(Debug, Clone, Copy)]
struct Total {
    /// How often the tables had changed.
    changes: i64,
    total: i64,
}

impl Question {
    /// Nothing for a statement that is too long to remember.
    pub fn of(sql: &Sql) -> Option<Question> {
        let mut text = sql.text.clone();
        for value in &sql.values {
            // Quoted, so that no value looks like two.
            let _ = write!(text, "\n{value:?}");
            if text.len() > LONGEST {
                return None;
            }
        }
        Some(Question(text.into()))
    }
}

impl Known {
    /// The total, if the tables have not changed since it was counted.
    pub fn find(&self, question: &Question, changes: i64) -> Option<i64> {
        let mut generations = self.lock();
        let found = match generations.new.get(question) {
            Some(found) => *found,
            None => {
                let found = generations.old.remove(question)?;
                generations.put(question.clone(), found);
                found
            }
        };
        (found.changes == changes).then_some(found.total)
    }

    /// Remembers a total that was counted when the tables had changed so often.
    pub fn put(&self, question: Question, changes: i64, total: i64) {
        let mut generations = self.lock();
        // A statement that began earlier and took longer knows less.
        if generations.new.get(&question).is_none_or(|known| known.changes <= changes) {
            generations.put(question, Total { changes, total });
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Generations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Generations {
    fn put(&mut self, question: Question, total: Total) {
        if self.new.len() >= MOST {
            self.old = std::mem::take(&mut self.new);
        }
        self.new.insert(question, total);
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(known.find(&question("a"), 7), Some(3));
        assert_eq!(known.find(&question("b"), 7), None);
        assert_eq!(known.find(&question("a"), 8), None);
        known.put(question("a"), 6, 1);
        assert_eq!(known.find(&question("a"), 7), Some(3), "what was counted before tells nothing new");
    }

    #[test]
    fn what_is_asked_for_stays_and_the_rest_goes() {
        let known = Known::default();
        known.put(question("a"), 1, 1);
        known.put(question("b"), 1, 2);
        for number in 0..MOST * 3 {
            known.put(question(&number.to_string()), 1, 0);
            assert_eq!(known.find(&question("a"), 1), Some(1));
        }
        assert_eq!(known.find(&question("b"), 1), None);
        let generations = known.lock();
        assert!(generations.new.len() <= MOST && generations.old.len() <= MOST);
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
