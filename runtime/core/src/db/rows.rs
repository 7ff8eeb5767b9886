//! Rows of a statement that several requests can read concurrently.

use std::sync::Arc;

use sea_orm::{DbErr, QueryResult};

use super::row_buffer::{BufferedRow, RowBuffer, Stored};

/// All rows of a statement.
#[derive(Debug)]
pub struct Rows(Source);

#[derive(Debug)]
enum Source {
    /// Rows of the driver. Rows of SQLite are used by one request only: reading a value can convert it in place,
    /// which is not thread-safe although the driver's types are `Sync`.
    Driver(Vec<QueryResult>),
    Buffer(RowBuffer),
}

/// One of the rows.
#[derive(Debug, Clone, Copy)]
pub enum Row<'r> {
    Driver(&'r QueryResult),
    Buffered(BufferedRow<'r>),
}

/// A row that keeps the other rows of its statement alive.
#[derive(Debug, Clone)]
pub struct SharedRow {
    rows: Arc<Rows>,
    index: usize,
}

impl Rows {
    pub(super) fn of_driver(rows: Vec<QueryResult>) -> Rows {
        Rows(Source::Driver(rows))
    }

    pub fn len(&self) -> usize {
        match &self.0 {
            Source::Driver(rows) => rows.len(),
            Source::Buffer(rows) => rows.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, index: usize) -> Option<Row<'_>> {
        match &self.0 {
            Source::Driver(rows) => rows.get(index).map(Row::Driver),
            Source::Buffer(rows) => rows.row(index).map(Row::Buffered),
        }
    }

    pub fn first(&self) -> Option<Row<'_>> {
        self.get(0)
    }

    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}

impl From<RowBuffer> for Rows {
    fn from(rows: RowBuffer) -> Rows {
        Rows(Source::Buffer(rows))
    }
}

impl Row<'_> {
    /// The integer at a position.
    ///
    /// # Errors
    /// The value is not an integer.
    pub fn integer(self, position: usize) -> Result<i64, DbErr> {
        match self {
            Row::Driver(row) => Ok(row.try_get_by_index(position)?),
            Row::Buffered(row) => match row.value(position) {
                Some(Stored::Integer(number)) => Ok(number),
                _ => Err(DbErr::Type(format!("column {position} is not an integer"))),
            },
        }
    }
}

impl SharedRow {
    pub(super) fn new(rows: Arc<Rows>, index: usize) -> Option<SharedRow> {
        (index < rows.len()).then_some(SharedRow { rows, index })
    }

    /// The row. It exists, because the constructor checked the index.
    pub fn row(&self) -> Option<Row<'_>> {
        self.rows.get(self.index)
    }
}

impl<'r> From<&'r QueryResult> for Row<'r> {
    fn from(row: &'r QueryResult) -> Row<'r> {
        Row::Driver(row)
    }
}
