//! A page that is asked for again: the same bytes, while no table has changed that it is read from.
//!
//! The database is asked each time how often these tables have changed, which is the same short statement for all pages of
//! them, so that those who come at the same time ask together. To find the page, to read it and to write it takes several
//! times as long. SQLite is not asked as long as it tells without that nothing at all was written since.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::count::{BASIS, Basis};
use super::include;
use super::page::{Part, Reading, select};
use super::written::look;
use crate::catalog::Entry;
use crate::context::Context;
use crate::custom_field;
use crate::db::{Sql, Version};
use crate::error::Result;
use crate::generations::{Generations, Weigh};
use crate::query::{Condition, Count};
use crate::record::{Cell, Shape};
use crate::total;
use crate::view::View;

/// Each of two generations takes so many bytes.
const ROOM: usize = 8 << 20;
/// No answer of more is kept.
const LONGEST: usize = 128 << 10;
/// What is known of a page takes about so many bytes beside its answer, with the room that a table of them leaves.
const EACH: usize = 384;

/// So often in a row another state of the tables is found, before it is not looked for each time: they change more often
/// than they are read.
const PATIENCE: u32 = 3;
/// The longest that is waited until it is looked for again: two to the power of so many requests.
const LONGEST_REST: u32 = 6;

/// The answers of pages that may be given again.
#[derive(Debug, Default)]
pub struct Answers(Mutex<Generations<Key, Known, ROOM>>);

/// A digest of all that an answer depends on beside what the tables hold.
type Key = [u8; 32];

/// What is known of a page.
#[derive(Debug, Clone, Default)]
struct Known {
    /// How often the tables had changed, and the answer then.
    answer: Option<(i64, Answer)>,
    /// What all of the database was when this was found to be so still.
    version: Option<Version>,
    /// The last state in which they had changed since, and how many there were in a row.
    missed: (i64, u32),
    /// So many requests do not look.
    rest: u32,
}

/// A page that is asked for, and how often its tables have changed, if it was worth asking.
pub(super) struct Again {
    key: Key,
    tables: Vec<&'static str>,
    changes: Option<i64>,
}

/// What an answer depends on: the tables, and all else.
#[derive(Default)]
pub(super) struct Ground {
    tables: Vec<&'static str>,
    said: Sha256,
}

/// A page as it was answered.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    pub body: Bytes,
    /// The cursor of the next page.
    pub next: Option<String>,
}

impl Ground {
    /// It depends on this too.
    pub fn say(&mut self, part: impl AsRef<[u8]>) {
        let part = part.as_ref();
        self.said.update(part.len().to_le_bytes());
        self.said.update(part);
    }

    /// It depends on a table of the service's.
    pub fn read(&mut self, table: &'static str) {
        self.tables.push(table);
    }

    /// It depends on records of a resource in this shape, of which the condition says which they are.
    pub fn records(&mut self, entry: &Entry, shape: &Shape, condition: &Condition) {
        self.tables.push(entry.meta.table);
        condition.tables(&mut self.tables);
        shape.columns.iter().for_each(|column| column.source.tables(&mut self.tables));
    }
}

impl Again {
    /// Nothing where the answer depends on more than the tables hold: a total that is estimated, fields that are computed for
    /// each answer. Nor within a transaction, as what it has changed is nobody else's.
    ///
    /// # Errors
    /// When the catalog contradicts itself.
    pub(super) fn of(context: &Context<'_>, reading: Reading<'_>, view: Option<&View>) -> Result<Option<Again>> {
        let Reading { entry, shape, condition, plan, cursor, definitions, .. } = reading;
        if !shape.computed.is_empty() || plan.count == Count::Estimate || context.transaction().is_some() {
            return Ok(None);
        }
        let mut ground = Ground::default();
        ground.records(entry, shape, condition);
        plan.sources().iter().for_each(|source| source.tables(&mut ground.tables));
        if let Some(changes) = definitions {
            ground.read(custom_field::table());
            // What is left out of a plan because it names no field of then is no part of the statement.
            ground.say(changes.to_le_bytes());
        }
        let part = match cursor {
            None => Part::Numbered,
            Some(_) => Part::Behind { place: None, most: plan.per_page + 1 },
        };
        ground.say(select(context, reading, &Basis::of(reading), part).written_out());
        // Beyond all records more than one page has the same offset.
        ground.say(plan.page.to_le_bytes());
        if let (Some((cursor, _)), Some(place)) = (cursor, &plan.cursor) {
            ground.say(cursor.fingerprint());
            ground.say(place);
        }
        ground.say(look(reading));
        ground.say(view.map(|view| view.meta().to_string()).unwrap_or_default());
        include::depend(context, entry, shape, &plan.includes, &mut ground)?;
        let Ground { mut tables, said } = ground;
        tables.sort_unstable();
        tables.dedup();
        Ok(Some(Again { key: said.finalize().into(), tables, changes: None }))
    }

    /// The answer that was given before, where nothing has changed since. Nothing is asked for a page that nobody asked for
    /// lately.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) async fn answer(&mut self, context: &Context<'_>) -> Result<Option<Answer>> {
        // From before the tables are asked.
        let version = context.state().db.version();
        match context.state().answers.look(self.key, version) {
            Looked::Found(answer) => return Ok(Some(answer)),
            Looked::Ask => {}
            Looked::Rest => return Ok(None),
        }
        let mut sql = Sql::new(context.state().db.dialect(), "SELECT ");
        total::write_changes(&mut sql, &self.tables);
        sql.push(" AS ").name(BASIS);
        let rows = context.read(sql.of_columns(1)).await?;
        self.changes = rows.first().map_or(Ok(None), |row| Cell::new(row, 0)?.integer())?;
        Ok(self.changes.and_then(|changes| context.state().answers.find(self.key, changes, version)))
    }

    /// Keeps the answer, if it may be given again. It was read after its tables were asked how often they had changed: where
    /// they changed in between it is taken for older than it is.
    pub(super) fn keep(self, context: &Context<'_>, answer: &Answer, may_be_given: bool) {
        if let Some(changes) = self.changes {
            let answer = Some(answer).filter(|answer| may_be_given && answer.bytes() <= LONGEST);
            context.state().answers.keep(self.key, changes, answer);
        }
    }
}

/// What is to be done about a page.
enum Looked {
    /// The database is as it was.
    Found(Answer),
    /// It was asked for before, and its tables are mostly found as they were.
    Ask,
    Rest,
}

impl Answers {
    fn look(&self, key: Key, version: Option<Version>) -> Looked {
        let mut answers = self.lock();
        let Some(known) = answers.get(&key) else {
            answers.put(key, Known::default());
            return Looked::Rest;
        };
        if let Some((_, answer)) = &known.answer
            && version.is_some()
            && known.version == version
        {
            return Looked::Found(answer.clone());
        }
        let rests = known.rest > 0;
        known.rest = known.rest.saturating_sub(1);
        if rests { Looked::Rest } else { Looked::Ask }
    }

    /// The answer in this state of the tables, in which they are in this version of the database or a later one.
    fn find(&self, key: Key, changes: i64, version: Option<Version>) -> Option<Answer> {
        let mut answers = self.lock();
        let known = answers.get(&key)?;
        let (then, answer) = known.answer.as_ref()?;
        if *then == changes {
            known.missed.1 = 0;
            known.version = version;
            return Some(answer.clone());
        }
        // Many may come at once after each change.
        if known.missed.0 < changes {
            known.missed = (changes, known.missed.1 + 1);
            known.rest = match known.missed.1.saturating_sub(PATIENCE) {
                0 => 0,
                more => 1 << more.min(LONGEST_REST),
            };
        }
        None
    }

    /// Keeps the answer in this state of the tables, or that there is none to keep.
    fn keep(&self, key: Key, changes: i64, answer: Option<&Answer>) {
        let mut answers = self.lock();
        let known = answers.get(&key).cloned().unwrap_or_default();
        let Some(answer) = answer else {
            answers.put(key, Known { rest: 1 << LONGEST_REST, ..Known::default() });
            return;
        };
        // Who began earlier and took longer knows less.
        if known.answer.as_ref().is_none_or(|(then, _)| *then <= changes) {
            // Its bytes alone: those that it was written into may be many more.
            let answer = Answer { body: Bytes::copy_from_slice(&answer.body), next: answer.next.clone() };
            answers.put(key, Known { answer: Some((changes, answer)), version: None, ..known });
        }
    }

    fn lock(&self) -> MutexGuard<'_, Generations<Key, Known, ROOM>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Weigh for Known {
    fn weight(&self) -> usize {
        EACH + self.answer.as_ref().map_or(0, |(_, answer)| answer.bytes())
    }
}

impl Answer {
    fn bytes(&self) -> usize {
        self.body.len() + self.next.as_ref().map_or(0, String::len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Key = [1; 32];

    fn answer(bytes: usize) -> Answer {
        Answer { body: vec![b'x'; bytes].into(), next: None }
    }

    /// Whether the tables of a page are asked.
    fn asks(answers: &Answers) -> bool {
        matches!(answers.look(ONE, None), Looked::Ask)
    }

    #[test]
    fn an_answer_is_given_again_in_the_same_state_alone() {
        let answers = Answers::default();
        assert!(!asks(&answers), "nobody asked for it lately");
        assert!(asks(&answers));
        assert_eq!(answers.find(ONE, 7, None), None);
        answers.keep(ONE, 7, Some(&answer(3)));
        assert_eq!(answers.find(ONE, 7, None), Some(answer(3)));
        assert_eq!(answers.find(ONE, 8, None), None);
        answers.keep(ONE, 6, Some(&answer(2)));
        assert_eq!(answers.find(ONE, 7, None), Some(answer(3)), "what began earlier tells nothing new");
        assert_eq!(answers.find([2; 32], 7, None), None);
    }

    #[test]
    fn nothing_is_asked_while_the_whole_database_is_as_it_was_when_the_answer_was_found_to_hold() {
        let (answers, [one, two]) = (Answers::default(), [1, 2].map(Version::numbered));
        let found = |version| match answers.look(ONE, version) {
            Looked::Found(answer) => Some(answer),
            Looked::Ask | Looked::Rest => None,
        };
        answers.keep(ONE, 7, Some(&answer(3)));
        assert_eq!(found(Some(one)), None, "it may have been read in an earlier one");
        assert_eq!(answers.find(ONE, 7, Some(one)), Some(answer(3)));
        assert_eq!([found(Some(one)), found(Some(two)), found(None)], [Some(answer(3)), None, None]);
        assert_eq!(answers.find(ONE, 8, Some(two)), None);
        assert_eq!(found(Some(two)), None);
        answers.keep(ONE, 8, Some(&answer(4)));
        assert_eq!([found(Some(one)), found(Some(two))], [None, None]);
        // Who cannot tell knows of none.
        assert_eq!(answers.find(ONE, 8, None), Some(answer(4)));
        assert_eq!(found(None), None);
    }

    #[test]
    fn where_tables_change_more_often_than_they_are_read_they_are_asked_now_and_then() {
        let answers = Answers::default();
        let mut asked = 0;
        for changes in 0..1_000 {
            if asks(&answers) {
                asked += 1;
                // Those who come together after a change are one.
                (0..32).for_each(|_| assert_eq!(answers.find(ONE, changes, None), None));
                answers.keep(ONE, changes, Some(&answer(1)));
            }
        }
        assert!((15..30).contains(&asked), "{asked}");
        // As soon as they rest it is seen.
        let found = (0..=1 << LONGEST_REST).any(|_| {
            let worth = asks(&answers);
            let found = worth && answers.find(ONE, 1_000, None).is_some();
            if worth {
                answers.keep(ONE, 1_000, Some(&answer(1)));
            }
            found
        });
        assert!(!found, "it is read once more");
        assert!((0..=1 << LONGEST_REST).any(|_| asks(&answers) && answers.find(ONE, 1_000, None).is_some()));
        assert!(asks(&answers), "and is asked for each time again");
    }

    #[test]
    fn what_cannot_be_kept_is_not_looked_for_each_time() {
        let answers = Answers::default();
        let times = || (0..100).filter(|_| asks(&answers)).count();
        assert_eq!(times(), 99);
        answers.keep(ONE, 7, None);
        assert_eq!((answers.find(ONE, 7, None), times()), (None, 100 - (1 << LONGEST_REST)));
    }

    #[test]
    fn answers_take_a_bounded_room_and_those_that_are_asked_for_stay() {
        let answers = Answers::default();
        answers.keep(ONE, 1, Some(&answer(LONGEST)));
        for number in 0..1_000_u64 {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&number.to_le_bytes());
            answers.keep(key, 1, Some(&answer(LONGEST)));
            assert!(answers.find(ONE, 1, None).is_some());
        }
        let all = answers.lock();
        let values = || all.both().into_iter().flat_map(|generation| generation.values());
        let bytes: usize = values().map(Weigh::weight).sum();
        assert!((ROOM..=2 * ROOM).contains(&bytes), "{bytes}");
        let mut held = values().filter_map(|known| known.answer.as_ref());
        assert!(held.all(|(_, answer)| answer.body.is_unique()), "each has bytes of its own");
    }
}
