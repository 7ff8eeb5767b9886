//! Reader of NDJSON: one JSON object on each line.

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;

use charter_core::ops::{Body, RawJson};

use super::text_source::TextSource;
use super::{Cell, MAX_COLUMNS, MAX_ROW_BYTES, OnRow, Row, check_columns, text_cell, too_many_columns};

/// Lines whose keys are the columns.
const COLUMN_LINES: usize = 100;

pub(super) fn read(path: &Path, on_row: OnRow<'_>) -> Result<Vec<String>, String> {
    let (mut names, mut known) = (Vec::new(), HashSet::new());
    let mut lines = 0;
    each_line(path, |number, line| {
        lines += 1;
        match Body::read(line, None) {
            Ok(body) => {
                for (name, _) in &body.fields {
                    if known.insert(name.to_string()) {
                        names.push(name.to_string());
                    }
                }
                if names.len() > MAX_COLUMNS {
                    return Err(too_many_columns(names.len()));
                }
            }
            Err(_) if lines == 1 => return Err(format!("has no JSON object in line {number}")),
            Err(_) => {}
        }
        Ok(if lines == COLUMN_LINES { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    let columns = check_columns(names)?;
    each_line(path, |number, line| {
        Ok(match cells(line, &columns) {
            Some(cells) => on_row(Row { number, cells }),
            None => ControlFlow::Continue(()),
        })
    })?;
    Ok(columns)
}

/// Calls a function with each line that is not blank, and its number.
fn each_line(
    path: &Path,
    mut on_line: impl FnMut(i64, &[u8]) -> Result<ControlFlow<()>, String>,
) -> Result<(), String> {
    let problem = |error: io::Error| format!("could not be read: {error}");
    let mut source = BufReader::new(TextSource::open(path).map_err(problem)?);
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        line.clear();
        number += 1;
        let length = source.by_ref().take(MAX_ROW_BYTES as u64 + 1).read_until(b'\n', &mut line).map_err(problem)?;
        if length > MAX_ROW_BYTES {
            return Err(format!("has a line of more than {MAX_ROW_BYTES} bytes, line {number}"));
        }
        if length == 0 {
            return Ok(());
        }
        if std::str::from_utf8(&line).is_err() {
            return Err(format!("has bytes in line {number} that are not UTF-8"));
        }
        if !line.iter().all(u8::is_ascii_whitespace)
            && let ControlFlow::Break(()) = on_line(number, &line)?
        {
            return Ok(());
        }
    }
}

/// The cells of a line; `None` if it has no value.
fn cells(line: &[u8], columns: &[String]) -> Option<Result<Vec<Cell>, String>> {
    let body = match Body::read(line, None) {
        Ok(body) => body,
        Err(error) => return Some(Err(format!("is no JSON object: {}", error.message("-").trim_end_matches('.')))),
    };
    let mut cells = vec![Cell::Empty; columns.len()];
    for (name, raw) in &body.fields {
        let cell = match RawJson::read(raw) {
            RawJson::Null => Cell::Empty,
            RawJson::Bool(value) => Cell::Text(value.to_string()),
            RawJson::Number(text) => Cell::Text(text.to_string()),
            RawJson::Text(text) => text_cell(text),
            RawJson::Nested(text) => Cell::Json(text.to_string()),
        };
        match columns.iter().position(|column| *column == name.trim()) {
            Some(position) => cells[position] = cell,
            None if cell == Cell::Empty => {}
            None => {
                let why = format!("has the key `{name}`, which none of the first {COLUMN_LINES} lines has");
                return Some(Err(why));
            }
        }
    }
    cells.iter().any(|cell| *cell != Cell::Empty).then_some(Ok(cells))
}

#[cfg(test)]
mod tests {
    use crate::import::reader::Cell;
    use crate::import::reader::tests::read_bytes;

    #[test]
    fn keys_are_columns_and_lists_stay_json() {
        let text = "{\"name\":\"a\",\"weight\":1.50}\n\n{\"tags\":[\"x\"],\"name\":null}\n{}\nno\n";
        let (columns, rows) = read_bytes(text.as_bytes()).unwrap();
        assert_eq!(columns, ["name", "weight", "tags"]);
        assert_eq!(rows.iter().map(|row| row.number).collect::<Vec<_>>(), [1, 3, 5]);
        assert_eq!(rows[0].cells, Ok(vec![Cell::Text("a".into()), Cell::Text("1.50".into()), Cell::Empty]));
        assert_eq!(rows[1].cells, Ok(vec![Cell::Empty, Cell::Empty, Cell::Json("[\"x\"]".into())]));
        assert!(rows[2].cells.as_ref().unwrap_err().contains("JSON object"));
    }

    #[test]
    fn lines_with_too_many_keys_are_refused_at_once() {
        let line = |line: usize| {
            let pairs: Vec<String> = (0..900).map(|key| format!("\"line {line} key {key}\":1")).collect();
            format!("{{{}}}\n", pairs.join(","))
        };
        let text: String = (0..100).map(line).collect();
        assert_eq!(read_bytes(text.as_bytes()).unwrap_err(), "has 900 columns; at most 250 are read");
        // Few enough in each line, and too many together.
        let text: String = (0..300).map(|key| format!("{{\"key {}\":1}}\n", key % 100)).collect();
        assert_eq!(read_bytes(text.as_bytes()).unwrap().0.len(), 100);
        let line = |line: usize| (0..60).map(|key| format!("\"{line} {key}\":1")).collect::<Vec<_>>().join(",");
        let text: String = (0..5).map(|number| format!("{{{}}}\n", line(number))).collect();
        assert_eq!(read_bytes(text.as_bytes()).unwrap_err(), "has 300 columns; at most 250 are read");
    }
}
