//! Reader of CSV (RFC 4180), separated by commas, semicolons or tabs.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;

use csv::{ByteRecord, ReaderBuilder};

use super::text_source::TextSource;
use super::{OnRow, Row, check_columns, fit, text_cell};

/// The separators, in order of preference.
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

/// Bytes in which the first line is looked for.
const MAX_HEADER_BYTES: u64 = 64 << 10;

pub(super) fn read(path: &Path, on_row: OnRow<'_>) -> Result<Vec<String>, String> {
    let problem = |error: io::Error| format!("could not be read: {error}");
    let mut head = Vec::new();
    TextSource::open(path).and_then(|source| source.take(MAX_HEADER_BYTES).read_to_end(&mut head)).map_err(problem)?;
    let source = TextSource::open(path).map_err(problem)?;
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).delimiter(separator(&head)).from_reader(source);
    let (mut record, mut columns) = (ByteRecord::new(), None);
    loop {
        match reader.read_byte_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => return Err(format!("could not be read: {error}")),
        }
        let end = reader.position();
        // The reader counts the line break that ends a record only once it has consumed it, and skips empty lines
        // before a record.
        let has_ended = reader.get_ref().byte_before(end.byte()) == Some(b'\n');
        let inside = record.as_slice().iter().filter(|byte| **byte == b'\n').count() as u64;
        let line = end.line().saturating_sub(u64::from(has_ended) + inside);
        let number = i64::try_from(line).unwrap_or(i64::MAX);
        let texts: Result<Vec<&str>, _> = record.iter().map(std::str::from_utf8).collect();
        let texts = texts.map_err(|_| {
            format!("has bytes in line {number} that are not UTF-8; save it as CSV in UTF-8, or as XLSX")
        })?;
        let Some(count) = columns.as_ref().map(Vec::len) else {
            columns = Some(check_columns(texts.into_iter().map(str::to_string).collect())?);
            continue;
        };
        if let Some(cells) = fit(texts.into_iter().map(text_cell).collect(), count)
            && let ControlFlow::Break(()) = on_row(Row { number, cells })
        {
            break;
        }
    }
    columns.ok_or_else(|| "is empty".into())
}

/// The separator that is most frequent in the first line that is not empty, outside of quotes.
fn separator(head: &[u8]) -> u8 {
    let mut counts = [0; SEPARATORS.len()];
    let (mut is_quoted, mut is_begun) = (false, false);
    for byte in head {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\r' | b'\n' if is_begun && !is_quoted => break,
            byte if !is_quoted => {
                if let Some(index) = SEPARATORS.iter().position(|known| known == byte) {
                    counts[index] += 1;
                }
            }
            _ => {}
        }
        is_begun |= !byte.is_ascii_whitespace();
    }
    // The first of several equal counts.
    let most = counts.iter().copied().max().unwrap_or_default();
    let index = counts.iter().position(|count| *count == most).unwrap_or_default();
    SEPARATORS[index]
}

#[cfg(test)]
mod tests {
    use crate::import::reader::tests::read_bytes;
    use crate::import::reader::{Cell, Row};

    fn numbers(bytes: &[u8]) -> Vec<i64> {
        read_bytes(bytes).unwrap().1.iter().map(|row| row.number).collect()
    }

    #[test]
    fn rows_have_the_numbers_of_their_lines() {
        for end in ["\n", "\r\n"] {
            let text = ["name,text", "a,1", "", "b,\"two", "", "lines\"", "", "", "c,3", ",", "d,4"].join(end);
            assert_eq!(numbers(text.as_bytes()), [2, 4, 9, 11], "{end:?}");
            assert_eq!(numbers(format!("{text}{end}").as_bytes()), [2, 4, 9, 11], "{end:?}");
            assert_eq!(numbers(format!("{end}{end}{text}").as_bytes()), [4, 6, 11, 13], "{end:?}");
        }
        // More than one buffer of the reader.
        let long: String = (0..5_000).map(|index| format!("n{index},{}\r\n", "x".repeat(index % 40))).collect();
        let numbers = numbers(format!("name,text\r\n{long}").as_bytes());
        assert_eq!(numbers, (2..5_002).collect::<Vec<i64>>());
    }

    #[test]
    fn separator_and_encoding_are_recognized() {
        let expected = vec![Row { number: 2, cells: Ok(vec![Cell::Text("Ä,b".into()), Cell::Empty]) }];
        let utf_16 = |text: &str, big: bool| {
            let text = format!("\u{feff}{text}");
            let bytes = text.encode_utf16();
            bytes.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect::<Vec<u8>>()
        };
        for bytes in [
            b"name,sku\n\"\xc3\x84,b\",\n".to_vec(),
            b"\xef\xbb\xbfname,sku\r\n\"\xc3\x84,b\",\r\n".to_vec(),
            b"name;sku\n\xc3\x84,b;".to_vec(),
            b"name\tsku\n\xc3\x84,b\n".to_vec(),
            utf_16("name\tsku\r\nÄ,b\t\r\n", false),
            utf_16("\"name\";\"sku\"\n\"Ä,b\";\n", true),
        ] {
            let (columns, rows) = read_bytes(&bytes).unwrap();
            assert_eq!((columns, rows), (vec!["name".to_string(), "sku".into()], expected.clone_rows()), "{bytes:?}");
        }
        assert!(read_bytes(b"name\nGr\xfcn\n").unwrap_err().contains("line 2"));
        assert!(read_bytes(b"\xff\xfea\0\x00\xd8b\0").unwrap_err().contains("UTF-16"));
    }

    #[test]
    fn row_with_more_cells_than_columns_cannot_be_read() {
        let (_, rows) = read_bytes(b"name,sku\na\nb,1,,\nc,1,2\n").unwrap();
        assert!(rows[0].cells.is_ok() && rows[1].cells.is_ok());
        assert!(rows[2].cells.as_ref().unwrap_err().contains("3 cells"));
    }

    trait CloneRows {
        fn clone_rows(&self) -> Vec<Row>;
    }

    impl CloneRows for Vec<Row> {
        fn clone_rows(&self) -> Vec<Row> {
            self.iter().map(|row| Row { number: row.number, cells: row.cells.clone() }).collect()
        }
    }
}
