//! Response cache for list pages, validated by table versions; the same versions make the `ETag` of a page.
//!
//! The database counts the changes of each table. One short statement reads these counts for the tables that a page is read
//! from, and is the same for all pages of them, so that concurrent requests share it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::count::{BASIS, Basis};
use super::include;
use super::page::{Part, Reading, select};
use super::version::tag;
use super::written::look;
use crate::catalog::Entry;
use crate::context::Context;
use crate::custom_field;
use crate::db::Sql;
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

/// The answers of pages that may be given again.
#[derive(Debug, Default)]
pub struct Answers(Mutex<Generations<Key, Known, ROOM>>);

/// A digest of all that an answer depends on beside what the tables hold.
type Key = [u8; 32];

/// A page as it was answered, and how often its tables had changed then.
#[derive(Debug, Clone)]
struct Known {
    changes: i64,
    answer: Answer,
}

/// A page that is asked for.
pub(super) struct Again {
    key: Key,
    tables: Vec<&'static str>,
}

/// A page that is asked for, in the state of its tables.
pub(super) struct Versioned {
    key: Key,
    changes: i64,
    /// The answer that was given in this state before.
    pub answer: Option<Answer>,
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
        // Another release, or another version of the application, may write the same rows otherwise.
        ground.say(env!("CARGO_PKG_VERSION"));
        ground.say(context.catalog().fingerprint());
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
        Ok(Some(Again { key: said.finalize().into(), tables }))
    }

    /// The page in the state in which its tables are now.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) async fn versioned(self, context: &Context<'_>) -> Result<Option<Versioned>> {
        let Again { key, tables } = self;
        let answers = &context.state().answers;
        let mut sql = Sql::new(context.state().db.dialect(), "SELECT ");
        total::write_changes(&mut sql, &tables);
        sql.push(" AS ").name(BASIS);
        let rows = context.read(sql.of_columns(1)).await?;
        let changes = rows.first().map_or(Ok(None), |row| Cell::new(row, 0)?.integer())?;
        Ok(changes.map(|changes| Versioned { key, changes, answer: answers.find(key, changes) }))
    }
}

impl Versioned {
    /// The `ETag` of the page. What is answered under it was read after the versions were, and may be newer: then the tag
    /// matches no later state, and nobody is told that the page is as it was.
    pub(super) fn tag(&self) -> String {
        tag(&[&self.key[..], &self.changes.to_le_bytes()].concat())
    }

    /// Keeps the answer, if it may be given again. Where the tables changed after their versions were read it is taken for older
    /// than it is.
    pub(super) fn keep(self, context: &Context<'_>, answer: &Answer) {
        if answer.bytes() <= LONGEST {
            context.state().answers.keep(self.key, self.changes, answer);
        }
    }
}

impl Answers {
    /// The answer in this state of the tables.
    fn find(&self, key: Key, changes: i64) -> Option<Answer> {
        let mut answers = self.lock();
        answers.get(&key).filter(|known| known.changes == changes).map(|known| known.answer.clone())
    }

    /// Keeps the answer in this state of the tables.
    fn keep(&self, key: Key, changes: i64, answer: &Answer) {
        let mut answers = self.lock();
        // A request that began earlier and took longer has an older state.
        if answers.get(&key).is_none_or(|known| known.changes <= changes) {
            // Its bytes alone: those that it was written into may be many more.
            let answer = Answer { body: Bytes::copy_from_slice(&answer.body), next: answer.next.clone() };
            answers.put(key, Known { changes, answer });
        }
    }

    fn lock(&self) -> MutexGuard<'_, Generations<Key, Known, ROOM>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Weigh for Known {
    fn weight(&self) -> usize {
        EACH + self.answer.bytes()
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

    #[test]
    fn an_answer_is_given_again_in_the_same_state_alone() {
        let answers = Answers::default();
        assert_eq!(answers.find(ONE, 7), None);
        answers.keep(ONE, 7, &answer(3));
        assert_eq!(answers.find(ONE, 7), Some(answer(3)));
        assert_eq!(answers.find(ONE, 8), None);
        answers.keep(ONE, 6, &answer(2));
        assert_eq!(answers.find(ONE, 7), Some(answer(3)), "a request that began earlier has an older state");
        assert_eq!(answers.find([2; 32], 7), None);
    }

    #[test]
    fn a_tag_is_of_one_page_in_one_state() {
        let tag = |key, changes| Versioned { key, changes, answer: None }.tag();
        assert_eq!(tag(ONE, 7), tag(ONE, 7));
        assert!(tag(ONE, 7) != tag(ONE, 8) && tag(ONE, 7) != tag([2; 32], 7));
    }

    #[test]
    fn answers_take_a_bounded_room_and_those_that_are_asked_for_stay() {
        let answers = Answers::default();
        answers.keep(ONE, 1, &answer(LONGEST));
        for number in 0..1_000_u64 {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&number.to_le_bytes());
            answers.keep(key, 1, &answer(LONGEST));
            assert!(answers.find(ONE, 1).is_some());
        }
        let all = answers.lock();
        let values = || all.both().into_iter().flat_map(|generation| generation.values());
        let bytes: usize = values().map(Weigh::weight).sum();
        assert!((ROOM..=2 * ROOM).contains(&bytes), "{bytes}");
        assert!(values().all(|known| known.answer.body.is_unique()), "each has bytes of its own");
    }
}
