//! Short reads of SQLite, on the thread that asks.
//!
//! The driver hands each statement to a thread of the connection's own and the answer back, which takes several times what
//! the record of an id does. Nobody knows beforehand how long a statement takes, so that each has so many steps of SQLite's
//! machine here. One that needs more is broken off and asked through the driver, where it has time; so are those with the
//! same text for a while, and what takes long without a step.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, ErrorCode, OpenFlags, Statement};
use sea_orm::Value;

use super::bound::stored;
use super::packed::Packing;
use super::rows::Rows;
use super::{STATEMENTS, Sql, functions};

/// So many steps are counted at a time, and a statement has so many times as many: about a millisecond.
const COUNTED: i32 = 100;
const MOST: u32 = 400;

/// SQLite looks for the name of each value among all of them, without a step.
const MOST_BOUND: usize = 200;

/// What took more than that is not tried again for so long.
const AVOIDED: Duration = Duration::from_secs(10);
/// The texts of so many statements are known to take long.
const MOST_AVOIDED: usize = 1_000;

/// An answer of more bytes takes long to copy alone.
const LONGEST: usize = 4 << 20;

/// A statement that takes so long by the clock, within its steps, folds long texts or waits for the disk. It is broken off, and
/// for ten times as long the driver's threads wait better, because others are answered meanwhile.
const SLOW: Duration = Duration::from_millis(10);
const REST: u32 = 10;

/// Connections of their own for short reads: as many as there are threads that ask.
#[derive(Debug)]
pub(super) struct Near {
    path: PathBuf,
    /// [`SLOW`], as long as no test says otherwise.
    slow: Duration,
    /// Those that nobody uses; none once it is closed.
    idle: Mutex<Option<Vec<Reader>>>,
    long: Mutex<Long>,
}

/// What is not tried, and until when.
#[derive(Debug, Default)]
struct Long {
    hasher: std::hash::RandomState,
    texts: HashMap<u64, Instant>,
    all: Option<Instant>,
}

#[derive(Debug)]
struct Reader {
    connection: Connection,
    spent: Arc<Spent>,
}

/// What a statement has taken.
#[derive(Debug)]
struct Spent {
    /// How many times [`COUNTED`].
    times: AtomicU32,
    slow: Duration,
    opened: Instant,
    /// When it began, in microseconds since the connection was opened.
    begun: AtomicU64,
}

impl Spent {
    fn begin(&self) {
        self.times.store(0, Ordering::Relaxed);
        self.begun.store(self.now(), Ordering::Relaxed);
    }

    /// Counts once more; whether it is too much, in steps or by the clock.
    fn is_over(&self) -> bool {
        self.times.fetch_add(1, Ordering::Relaxed) >= MOST || self.is_late()
    }

    fn is_late(&self) -> bool {
        Duration::from_micros(self.now().saturating_sub(self.begun.load(Ordering::Relaxed))) > self.slow
    }

    fn now(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

impl Near {
    /// Short reads of the database in a file, which is opened when the first comes.
    pub fn new(path: PathBuf) -> Near {
        Near { path, slow: SLOW, idle: Mutex::new(Some(Vec::new())), long: Mutex::default() }
    }

    /// The rows of a statement; nothing where it takes long, fails, or binds what is not bound here: the driver has the
    /// time, and the words.
    pub fn read(&self, sql: &Sql) -> Option<Arc<Rows>> {
        if sql.columns == 0 || sql.is_uncounted || sql.values.len() > MOST_BOUND {
            return None;
        }
        let text = self.long().try_now(&sql.text)?;
        // Nobody waits for a connection that is being opened.
        let idle = lock(&self.idle).as_mut().map(Vec::pop)?;
        let reader = match idle {
            Some(reader) => reader,
            None => Reader::open(&self.path, self.slow).ok()?,
        };
        let begun = Instant::now();
        reader.spent.begin();
        let rows = reader.read(sql);
        let took = begun.elapsed();
        match rows {
            Ok(rows) => {
                if took > self.slow || rows.is_none() {
                    let mut long = self.long();
                    long.avoid(text);
                    if took > self.slow {
                        long.all = Some(begun + took + took * REST);
                    }
                }
                if let Some(idle) = lock(&self.idle).as_mut() {
                    idle.push(reader);
                }
                rows
            }
            // Its connection goes too: it may have been about to learn of other tables, which the next one does as it opens.
            Err(error) => {
                // What failed for another reason may not fail the next time.
                if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) {
                    self.long().avoid(text);
                }
                tracing::debug!(%error, sql = sql.text, "a statement of SQLite is left to the driver");
                None
            }
        }
    }

    /// Closes every connection that is not used. No other is opened.
    pub fn close(&self) {
        *lock(&self.idle) = None;
    }

    fn long(&self) -> MutexGuard<'_, Long> {
        lock(&self.long)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Long {
    /// What stands for a text, if it may be tried.
    fn try_now(&mut self, text: &str) -> Option<u64> {
        if let Some(until) = self.all {
            if Instant::now() < until {
                return None;
            }
            self.all = None;
        }
        let text = self.hasher.hash_one(text);
        match self.texts.get(&text) {
            Some(until) if Instant::now() < *until => None,
            _ => Some(text),
        }
    }

    fn avoid(&mut self, text: u64) {
        let now = Instant::now();
        if self.texts.len() >= MOST_AVOIDED {
            self.texts.retain(|_, until| now < *until);
        }
        if self.texts.len() < MOST_AVOIDED {
            self.texts.insert(text, now + AVOIDED);
        }
    }
}

impl Reader {
    fn open(path: &Path, slow: Duration) -> rusqlite::Result<Reader> {
        // As the driver opens its own. The file is not made here, and nobody else uses the connection meanwhile.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.pragma_update(None, "query_only", true)?;
        // Who would have to wait for somebody else does so elsewhere.
        connection.busy_timeout(Duration::ZERO)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        let (times, opened, begun) = (AtomicU32::new(0), Instant::now(), AtomicU64::new(0));
        let spent = Arc::new(Spent { times, slow, opened, begun });
        let asked = spent.clone();
        functions::register_on(&connection, move || asked.is_late())?;
        // It learns of all tables and of what is known of them here, where nobody counts.
        drop(connection.prepare("SELECT 1 FROM sqlite_schema")?);
        let counted = spent.clone();
        connection.progress_handler(COUNTED, Some(move || counted.is_over()))?;
        Ok(Reader { connection, spent })
    }

    /// Nothing where a value is not bound here, or the answer is long.
    fn read(&self, sql: &Sql) -> rusqlite::Result<Option<Arc<Rows>>> {
        let mut statement = self.connection.prepare_cached(&sql.text)?;
        if statement.column_count() != sql.columns {
            return Ok(None);
        }
        // SQLite counts them as they come in the text; `$2` is the second value wherever it stands.
        for place in 1..=statement.parameter_count() {
            let number = statement.parameter_name(place).and_then(|name| name.strip_prefix('$')?.parse::<usize>().ok());
            let value = number.and_then(|number| sql.values.get(number.checked_sub(1)?));
            let Some(value) = value else { return Ok(None) };
            if !bind(&mut statement, place, value)? {
                return Ok(None);
            }
        }
        let mut packing = Packing::new(sql.columns);
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            for column in 0..sql.columns {
                packing.add(row.get_ref(column)?);
            }
            if packing.bytes() > LONGEST {
                return Ok(None);
            }
        }
        Ok(packing.packed().map(|rows| Arc::new(rows.into())))
    }
}

/// Binds a value as the driver does; whether it is one that is bound here.
fn bind(statement: &mut Statement<'_>, place: usize, value: &Value) -> rusqlite::Result<bool> {
    let mut text = String::new();
    let Some(stored) = stored(value, &mut text) else { return Ok(false) };
    statement.raw_bind_parameter(place, ToSqlOutput::Borrowed(stored))?;
    Ok(true)
}

#[cfg(test)]
mod tests;
