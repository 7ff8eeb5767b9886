//! The rows that a statement read, which several requests may have asked for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use sea_orm::{ConnectionTrait, DbErr, QueryResult, RuntimeErr};

use tokio::time::sleep;

use super::held::Held;
use super::packed::{MOST_COLUMNS, Packed, PackedRow, Stored, packing};
use super::{Connection, Dialect, Sql};
use crate::error::is_changing;

/// The rows of a statement, and what somebody who has them made of them last.
#[derive(Debug)]
pub struct Rows {
    read: Read,
    made: Mutex<Option<Made>>,
}

#[derive(Debug)]
enum Read {
    /// As the driver has them. On SQLite they are one request's alone: to read a value may change how SQLite keeps it, so
    /// that no two threads may do so at once, whatever the driver's types say.
    Driver(Vec<QueryResult>),
    Packed(Packed),
}

/// What tables that change keep from being answered is asked again so many times, and after so long.
const AGAIN: usize = 5;
const REST: Duration = Duration::from_millis(2);

/// What is made of rows is kept up to so many bytes.
const LONGEST_MADE: usize = 128 << 10;

/// What was to be made, and what it came to.
#[derive(Debug)]
struct Made {
    what: Vec<u8>,
    bytes: Bytes,
}

/// One of the rows.
#[derive(Debug, Clone, Copy)]
pub enum Row<'r> {
    Driver(&'r QueryResult),
    Packed(PackedRow<'r>),
}

/// A row that was read together with those that others asked for.
#[derive(Debug, Clone)]
pub struct SharedRow {
    rows: Arc<Rows>,
    index: usize,
}

impl Sql {
    /// Says how many columns its rows have. Of SQLite they may be shared then.
    pub fn of_columns(mut self, columns: usize) -> Sql {
        self.columns = columns;
        self
    }

    /// Whether its rows may be read by several threads.
    pub(super) fn is_shared(&self) -> bool {
        self.dialect == Dialect::Postgres || self.is_packed()
    }

    fn is_packed(&self) -> bool {
        self.dialect == Dialect::Sqlite && (1..=MOST_COLUMNS).contains(&self.columns)
    }

    /// Reads its rows.
    pub(super) async fn rows(self, connection: &Connection) -> Result<Rows, DbErr> {
        let (sql, packed) = self.packed();
        for _ in 0..sql.tries() {
            match connection.query_all_raw(sql.clone().statement()).await {
                Err(error) if is_changing(&error) => sleep(REST).await,
                answered => return Rows::of(answered?, packed),
            }
        }
        Rows::of(connection.query_all_raw(sql.statement()).await?, packed)
    }

    /// Reads its rows on a connection that is held.
    pub(super) async fn rows_on(self, held: &mut Held) -> Result<Rows, DbErr> {
        let (sql, packed) = self.packed();
        for _ in 0..sql.tries() {
            match held.all(sql.clone()).await {
                Err(error) if is_changing(&error) => sleep(REST).await,
                answered => return Rows::of(answered?, packed),
            }
        }
        Rows::of(held.all(sql).await?, packed)
    }

    /// How often it is asked again while the tables change, which keeps an index of substrings from being opened: a custom field
    /// that is defined makes indexes.
    fn tries(&self) -> usize {
        if self.is_uncounted { AGAIN } else { 0 }
    }

    /// What is asked of the database, and how many columns each row has of those that come as one value.
    fn packed(mut self) -> (Sql, Option<usize>) {
        let columns = self.is_packed().then_some(self.columns);
        if let Some(columns) = columns {
            self.text = packing(&self.text, columns);
        }
        (self, columns)
    }
}

impl Rows {
    fn of(rows: Vec<QueryResult>, packed: Option<usize>) -> Result<Rows, DbErr> {
        let Some(columns) = packed else { return Ok(Read::Driver(rows).into()) };
        let bytes = rows.first().map(|row| row.try_get_by_index(0)).transpose()?.unwrap_or_default();
        let packed = Packed::new(bytes, columns);
        packed.map(Rows::from).ok_or_else(|| DbErr::Query(RuntimeErr::Internal("what was read is no rows".into())))
    }

    pub fn has_made(&self) -> bool {
        self.last_made().is_some()
    }

    /// What was made of them last, if it was to be this.
    pub fn made(&self, what: &[u8]) -> Option<Bytes> {
        self.last_made().as_ref().filter(|made| made.what == what).map(|made| made.bytes.clone())
    }

    /// Keeps what was made of them, in the place of what was made before, unless it is long.
    pub fn keep_made(&self, what: Vec<u8>, bytes: Bytes) {
        if bytes.len() <= LONGEST_MADE {
            *self.last_made() = Some(Made { what, bytes });
        }
    }

    fn last_made(&self) -> MutexGuard<'_, Option<Made>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn len(&self) -> usize {
        match &self.read {
            Read::Driver(rows) => rows.len(),
            Read::Packed(rows) => rows.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, index: usize) -> Option<Row<'_>> {
        match &self.read {
            Read::Driver(rows) => rows.get(index).map(Row::Driver),
            Read::Packed(rows) => rows.row(index).map(Row::Packed),
        }
    }

    pub fn first(&self) -> Option<Row<'_>> {
        self.get(0)
    }

    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}

impl From<Read> for Rows {
    fn from(read: Read) -> Rows {
        Rows { read, made: Mutex::default() }
    }
}

impl From<Packed> for Rows {
    fn from(packed: Packed) -> Rows {
        Read::Packed(packed).into()
    }
}

impl Row<'_> {
    /// The whole number at a position.
    ///
    /// # Errors
    /// When there is none.
    pub fn integer(self, position: usize) -> Result<i64, DbErr> {
        match self {
            Row::Driver(row) => Ok(row.try_get_by_index(position)?),
            Row::Packed(row) => match row.value(position) {
                Some(Stored::Integer(number)) => Ok(number),
                _ => Err(DbErr::Type(format!("no whole number at {position}"))),
            },
        }
    }
}

impl SharedRow {
    pub(super) fn new(rows: Arc<Rows>, index: usize) -> Option<SharedRow> {
        (index < rows.len()).then_some(SharedRow { rows, index })
    }

    /// The row, which was there when it was found.
    pub fn row(&self) -> Option<Row<'_>> {
        self.rows.get(self.index)
    }
}

impl<'r> From<&'r QueryResult> for Row<'r> {
    fn from(row: &'r QueryResult) -> Row<'r> {
        Row::Driver(row)
    }
}
