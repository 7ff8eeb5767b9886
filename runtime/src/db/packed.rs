//! Rows of SQLite as one value, made by an aggregate function of ours within the statement that reads them.
//!
//! The driver hands over a row at a time, each from its own thread to the one that asked, with a copy of every value; and
//! it may change a value when it is read, so that no two threads may read one. One value that holds all rows costs one
//! hand-over, and is read by whoever wants it.

use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result};

/// The function. It is given the columns of a row, and answers all rows: of each value a byte that tells its type, and the
/// value; before text and bytes how many they are.
const FUNCTION: &str = "charter_rows";

/// So many arguments a function of SQLite takes at most.
pub const MOST_COLUMNS: usize = 1000;

const NULL: u8 = 0;
const INTEGER: u8 = 1;
const REAL: u8 = 2;
const TEXT: u8 = 3;
const BYTES: u8 = 4;

/// Rows that were read as one value.
#[derive(Debug)]
pub struct Packed {
    bytes: Vec<u8>,
    /// Where each value begins, row by row.
    places: Vec<u32>,
    columns: usize,
}

/// One of these rows.
#[derive(Debug, Clone, Copy)]
pub struct PackedRow<'r> {
    bytes: &'r [u8],
    places: &'r [u32],
}

/// A value of such a row.
pub type Stored<'r> = ValueRef<'r>;

/// Rows that are packed here, value by value.
pub(super) struct Packing {
    bytes: Vec<u8>,
    places: Vec<u32>,
    columns: usize,
}

impl Packing {
    pub fn new(columns: usize) -> Packing {
        Packing { bytes: Vec::with_capacity(1024), places: Vec::with_capacity(columns), columns }
    }

    pub fn add(&mut self, value: ValueRef<'_>) {
        // What is longer than these numbers say is nothing, at the end.
        self.places.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
        pack(&mut self.bytes, value);
    }

    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Nothing where they are too long.
    pub fn packed(self) -> Option<Packed> {
        let Packing { bytes, places, columns } = self;
        u32::try_from(bytes.len()).is_ok().then_some(Packed { bytes, places, columns })
    }
}

/// Collects the rows of one statement.
struct Pack;

impl Aggregate<Vec<u8>, Vec<u8>> for Pack {
    fn init(&self, _: &mut Context<'_>) -> Result<Vec<u8>> {
        Ok(Vec::with_capacity(16 * 1024))
    }

    fn step(&self, row: &mut Context<'_>, packed: &mut Vec<u8>) -> Result<()> {
        for column in 0..row.len() {
            pack(packed, row.get_raw(column));
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, packed: Option<Vec<u8>>) -> Result<Vec<u8>> {
        Ok(packed.unwrap_or_default())
    }
}

fn pack(packed: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => packed.push(NULL),
        ValueRef::Integer(number) => write(packed, INTEGER, &number.to_le_bytes()),
        ValueRef::Real(number) => write(packed, REAL, &number.to_le_bytes()),
        ValueRef::Text(text) => write_long(packed, TEXT, text),
        ValueRef::Blob(bytes) => write_long(packed, BYTES, bytes),
    }
}

fn write(packed: &mut Vec<u8>, kind: u8, value: &[u8]) {
    packed.push(kind);
    packed.extend_from_slice(value);
}

fn write_long(packed: &mut Vec<u8>, kind: u8, value: &[u8]) {
    // No value of SQLite has more bytes than this can say.
    write(packed, kind, &(value.len() as u32).to_le_bytes());
    packed.extend_from_slice(value);
}

/// Registers the function on an open connection.
pub(super) fn register(connection: &Connection) -> Result<()> {
    connection.create_aggregate_function(FUNCTION, -1, FunctionFlags::SQLITE_UTF8, Pack)
}

/// The statement that answers the rows of `statement`, which has so many columns, as one value.
pub(super) fn packing(statement: &str, columns: usize) -> String {
    let mut names = String::with_capacity(columns * 4);
    for column in 0..columns {
        if column > 0 {
            names.push(',');
        }
        names.push('c');
        names.push_str(&column.to_string());
    }
    format!("WITH charter_row({names}) AS ({statement}) SELECT {FUNCTION}({names}) FROM charter_row")
}

impl Packed {
    /// Rows of so many columns; nothing when these bytes are none.
    pub(super) fn new(bytes: Vec<u8>, columns: usize) -> Option<Packed> {
        let (mut places, mut at) = (Vec::with_capacity(32 * columns), 0);
        while at < bytes.len() {
            places.push(u32::try_from(at).ok()?);
            at += length(&bytes, at)?;
        }
        (at == bytes.len() && columns > 0 && places.len() % columns == 0).then_some(Packed { bytes, places, columns })
    }

    pub(super) fn len(&self) -> usize {
        self.places.len() / self.columns
    }

    pub(super) fn row(&self, index: usize) -> Option<PackedRow<'_>> {
        let places = self.places.get(index * self.columns..(index + 1) * self.columns)?;
        Some(PackedRow { bytes: &self.bytes, places })
    }
}

/// How many bytes the value at a place takes.
fn length(bytes: &[u8], at: usize) -> Option<usize> {
    Some(match *bytes.get(at)? {
        NULL => 1,
        INTEGER | REAL => 9,
        TEXT | BYTES => 5 + u32::from_le_bytes(fixed(bytes, at)?) as usize,
        _ => return None,
    })
}

/// The fixed bytes behind the one that tells the type.
fn fixed<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at + 1..at + 1 + N)?.try_into().ok()
}

impl<'r> PackedRow<'r> {
    /// The value at a position; nothing when the row has no such column.
    pub fn value(self, position: usize) -> Option<Stored<'r>> {
        let at = *self.places.get(position)? as usize;
        let long = || self.bytes.get(at + 5..at + length(self.bytes, at)?);
        Some(match *self.bytes.get(at)? {
            NULL => ValueRef::Null,
            INTEGER => ValueRef::Integer(i64::from_le_bytes(fixed(self.bytes, at)?)),
            REAL => ValueRef::Real(f64::from_le_bytes(fixed(self.bytes, at)?)),
            TEXT => ValueRef::Text(long()?),
            _ => ValueRef::Blob(long()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use rusqlite::types::ValueRef;

    use super::{Packed, packing, register};

    fn read(statement: &str, columns: usize) -> Packed {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        let bytes = connection.query_row(&packing(statement, columns), [], |row| row.get(0)).unwrap();
        Packed::new(bytes, columns).unwrap()
    }

    #[test]
    fn a_row_has_the_values_that_the_statement_reads() {
        let packed =
            read("SELECT NULL, -5, 1.5, 'Ä' || char(0) || 'b', x'00ff', '' UNION ALL SELECT 1, 2, 3, 4, 5, 6", 6);
        assert_eq!(packed.len(), 2);
        let row = packed.row(0).unwrap();
        let expected = [
            ValueRef::Null,
            ValueRef::Integer(-5),
            ValueRef::Real(1.5),
            ValueRef::Text("Ä\0b".as_bytes()),
            ValueRef::Blob(&[0, 255]),
            ValueRef::Text(b""),
        ];
        assert_eq!((0..6).map(|position| row.value(position).unwrap()).collect::<Vec<_>>(), expected);
        assert_eq!(row.value(6), None);
        assert_eq!(packed.row(1).unwrap().value(5), Some(ValueRef::Integer(6)));
        assert!(packed.row(2).is_none());
    }

    #[test]
    fn rows_keep_the_order_of_the_statement() {
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT i FROM n";
        for (order, first) in [("ORDER BY i DESC", 100), ("ORDER BY i % 10, i LIMIT 20", 10)] {
            let packed = read(&format!("{numbers} {order}"), 1);
            assert_eq!(packed.row(0).unwrap().value(0), Some(ValueRef::Integer(first)), "{order}");
        }
    }

    #[test]
    fn a_statement_without_rows_reads_none() {
        assert_eq!(read("SELECT 1, 2 WHERE 0", 2).len(), 0);
    }

    #[test]
    fn bytes_that_end_within_a_value_are_no_rows() {
        for bytes in [&[1, 0][..], &[3, 4, 0, 0, 0, b'a'], &[9], &[0]] {
            assert!(Packed::new(bytes.to_vec(), 2).is_none(), "{bytes:?}");
        }
    }
}
