//! Rows of SQLite in one buffer: the values in sequence, each after a byte for its type.

use rusqlite::types::ValueRef;

const NULL: u8 = 0;
const INTEGER: u8 = 1;
const REAL: u8 = 2;
const TEXT: u8 = 3;
const BYTES: u8 = 4;

/// A value in SQLite's storage class.
pub type Stored<'r> = ValueRef<'r>;

/// All rows of a statement.
#[derive(Debug)]
pub struct RowBuffer {
    bytes: Vec<u8>,
    /// Offset of each value, row by row.
    offsets: Vec<u32>,
    columns: usize,
}

/// One row of a buffer.
#[derive(Debug, Clone, Copy)]
pub struct BufferedRow<'r> {
    bytes: &'r [u8],
    offsets: &'r [u32],
}

/// Builder of a buffer. Values are added row by row.
pub(super) struct RowBufferBuilder(RowBuffer);

impl RowBufferBuilder {
    pub(super) fn new(columns: usize) -> RowBufferBuilder {
        let (bytes, offsets) = (Vec::with_capacity(1024), Vec::with_capacity(columns));
        RowBufferBuilder(RowBuffer { bytes, offsets, columns })
    }

    /// Adds the next value. The type is followed by the 8 bytes of a number, or by a length of 4 bytes and the bytes
    /// of text or a blob, of which SQLite stores at most 2 GB.
    pub(super) fn add(&mut self, value: ValueRef<'_>) {
        let RowBuffer { bytes, offsets, .. } = &mut self.0;
        // `finish` rejects a buffer that is too large for 32-bit offsets.
        offsets.push(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        let (kind, length, value): (u8, Option<u32>, &[u8]) = match &value {
            ValueRef::Null => (NULL, None, &[]),
            ValueRef::Integer(number) => (INTEGER, None, &number.to_le_bytes()),
            ValueRef::Real(number) => (REAL, None, &number.to_le_bytes()),
            ValueRef::Text(text) => (TEXT, Some(text.len() as u32), text),
            ValueRef::Blob(blob) => (BYTES, Some(blob.len() as u32), blob),
        };
        bytes.push(kind);
        bytes.extend_from_slice(length.map(u32::to_le_bytes).as_ref().map_or(&[], |length| &length[..]));
        bytes.extend_from_slice(value);
    }

    /// The buffer. `None` if it has more than 4 GiB.
    pub(super) fn finish(self) -> Option<RowBuffer> {
        u32::try_from(self.0.bytes.len()).is_ok().then_some(self.0)
    }
}

impl RowBuffer {
    pub(super) fn len(&self) -> usize {
        self.offsets.len() / self.columns.max(1)
    }

    pub(super) fn row(&self, index: usize) -> Option<BufferedRow<'_>> {
        let offsets = self.offsets.get(index * self.columns..(index + 1) * self.columns)?;
        Some(BufferedRow { bytes: &self.bytes, offsets })
    }
}

impl<'r> BufferedRow<'r> {
    /// The value at a position. `None` if the row has no such column.
    pub fn value(self, position: usize) -> Option<Stored<'r>> {
        let value = self.bytes.get(*self.offsets.get(position)? as usize..)?;
        let (kind, value) = value.split_first()?;
        let length_prefixed = || {
            let (length, bytes) = value.split_first_chunk()?;
            bytes.get(..u32::from_le_bytes(*length) as usize)
        };
        Some(match *kind {
            NULL => ValueRef::Null,
            INTEGER => ValueRef::Integer(i64::from_le_bytes(*value.first_chunk()?)),
            REAL => ValueRef::Real(f64::from_le_bytes(*value.first_chunk()?)),
            TEXT => ValueRef::Text(length_prefixed()?),
            _ => ValueRef::Blob(length_prefixed()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_has_the_values_that_were_added() {
        let values = [
            ValueRef::Null,
            ValueRef::Integer(-5),
            ValueRef::Real(1.5),
            ValueRef::Text("Ä\0b".as_bytes()),
            ValueRef::Blob(&[0, 255]),
            ValueRef::Text(b""),
        ];
        let mut builder = RowBufferBuilder::new(6);
        values.into_iter().chain((0..6).map(ValueRef::Integer)).for_each(|value| builder.add(value));
        let rows = builder.finish().unwrap();
        assert_eq!(rows.len(), 2);
        let row = rows.row(0).unwrap();
        assert_eq!((0..6).map(|position| row.value(position).unwrap()).collect::<Vec<_>>(), values);
        assert_eq!(row.value(6), None);
        assert_eq!(rows.row(1).unwrap().value(5), Some(ValueRef::Integer(5)));
        assert!(rows.row(2).is_none());
        assert_eq!(RowBufferBuilder::new(2).finish().unwrap().len(), 0);
    }
}
