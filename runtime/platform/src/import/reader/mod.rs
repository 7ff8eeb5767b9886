//! Readers of the files of an import: CSV, NDJSON and XLSX, row by row, whatever the size of the file.

mod csv_file;
mod json_lines;
mod text_source;
mod workbook;

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

/// Maximum number of rows, columns, and characters of a column's name.
pub(super) const MAX_ROWS: i64 = 500_000;
pub(super) const MAX_COLUMNS: usize = 250;
const MAX_NAME_CHARACTERS: usize = 255;

/// Maximum length of a line of NDJSON, and of the texts in a row of a workbook, which can unpack to much more than the
/// file has.
const MAX_ROW_BYTES: usize = 1 << 20;

/// Bytes at the beginning of a file by which its format is recognized.
const HEAD_BYTES: usize = 8 << 10;

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Csv,
    Ndjson,
    Xlsx,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell {
    Empty,
    /// Text, or a number, date or truth value as text.
    Text(String),
    /// A list or an object of NDJSON.
    Json(String),
}

impl Cell {
    fn bytes(&self) -> usize {
        match self {
            Cell::Empty => 0,
            Cell::Text(text) | Cell::Json(text) => text.len(),
        }
    }
}

/// One row that is not empty.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// The line of the file, or the row of the sheet, from 1.
    pub number: i64,
    /// One for each column, or the reason why the row cannot be read.
    pub cells: Result<Vec<Cell>, String>,
}

impl Row {
    /// Bytes of its texts.
    pub(super) fn bytes(&self) -> usize {
        self.cells.iter().flatten().map(Cell::bytes).sum()
    }
}

/// Receives the rows; a break ends the reading.
pub(super) type OnRow<'a> = &'a mut dyn FnMut(Row) -> ControlFlow<()>;

impl Format {
    /// The word in the API.
    pub(super) fn name(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Ndjson => "ndjson",
            Format::Xlsx => "xlsx",
        }
    }

    /// Recognizes the format of a file by its bytes.
    ///
    /// # Errors
    /// Why the file cannot be imported, as a message that completes "this file ...".
    pub(super) fn detect(path: &Path) -> Result<Format, String> {
        let mut head = Vec::new();
        let file = File::open(path).and_then(|file| file.take(HEAD_BYTES as u64).read_to_end(&mut head));
        file.map_err(|error| format!("could not be read: {error}"))?;
        if head.starts_with(b"PK\x03\x04") {
            return Ok(Format::Xlsx);
        }
        if head.starts_with(&workbook::COMPOUND_FILE) {
            return Err(workbook::compound_file_problem(path));
        }
        let is_utf_16 = text_source::utf_16_mark(&head).is_some();
        if !is_utf_16 && head.contains(&0) {
            return Err("is neither CSV, NDJSON nor XLSX".into());
        }
        let ascii: Vec<u8> = head.iter().copied().filter(|byte| (1..0x80).contains(byte)).collect();
        match ascii.iter().find(|byte| !byte.is_ascii_whitespace()) {
            None => Err("is empty".into()),
            Some(b'{') => Ok(Format::Ndjson),
            Some(b'[') => Err("is a JSON list: send NDJSON, one object on each line".into()),
            Some(_) => Ok(Format::Csv),
        }
    }
}

/// Reads the rows of a file and returns its columns, which are those of the first row.
///
/// # Errors
/// Why the file cannot be imported, as a message that completes "this file ...".
pub(super) fn read(path: &Path, format: Format, on_row: OnRow<'_>) -> Result<Vec<String>, String> {
    let mut count = 0;
    let mut is_too_long = false;
    let mut counted = |row: Row| {
        count += 1;
        if count > MAX_ROWS {
            is_too_long = true;
            return ControlFlow::Break(());
        }
        on_row(row)
    };
    let columns = match format {
        Format::Csv => csv_file::read(path, &mut counted),
        Format::Ndjson => json_lines::read(path, &mut counted),
        Format::Xlsx => workbook::read(path, &mut counted),
    }?;
    if is_too_long { Err(format!("has more than {MAX_ROWS} rows")) } else { Ok(columns) }
}

/// Checks the names of columns. Empty names at the end are dropped.
fn check_columns(mut names: Vec<String>) -> Result<Vec<String>, String> {
    for name in &mut names {
        *name = name.trim().to_string();
    }
    while names.last().is_some_and(String::is_empty) {
        names.pop();
    }
    if names.is_empty() {
        return Err("is empty".into());
    }
    if names.len() > MAX_COLUMNS {
        return Err(too_many_columns(names.len()));
    }
    let mut seen = HashSet::new();
    for (index, name) in names.iter().enumerate() {
        if name.is_empty() {
            return Err(format!("has no name for column {} in its first row", index + 1));
        }
        if name.chars().count() > MAX_NAME_CHARACTERS {
            return Err(format!("has a name of more than {MAX_NAME_CHARACTERS} characters for column {}", index + 1));
        }
        if name.contains('\0') {
            return Err("contains null characters".into());
        }
        if !seen.insert(name.as_str()) {
            return Err(format!("has two columns that are called {name}"));
        }
    }
    Ok(names)
}

fn too_many_columns(count: usize) -> String {
    format!("has {count} columns; at most {MAX_COLUMNS} are read")
}

/// Brings the cells of a row to the number of columns. `None` for an empty row.
fn fit(mut cells: Vec<Cell>, columns: usize) -> Option<Result<Vec<Cell>, String>> {
    if cells.iter().all(|cell| *cell == Cell::Empty) {
        return None;
    }
    while cells.len() > columns && cells.last() == Some(&Cell::Empty) {
        cells.pop();
    }
    if cells.len() > columns {
        return Some(Err(format!("has {} cells, and the first row names {columns} columns", cells.len())));
    }
    cells.resize(columns, Cell::Empty);
    Some(Ok(cells))
}

/// A text as a cell.
fn text_cell(text: impl Into<String>) -> Cell {
    let text = text.into();
    if text.is_empty() { Cell::Empty } else { Cell::Text(text) }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The columns and rows of a file with these bytes.
    pub(in crate::import) fn read_bytes(bytes: &[u8]) -> Result<(Vec<String>, Vec<Row>), String> {
        static COUNT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("charter-import-{}-{number}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        let mut rows = Vec::new();
        let read = Format::detect(&path).and_then(|format| {
            read(&path, format, &mut |row| {
                rows.push(row);
                ControlFlow::Continue(())
            })
        });
        std::fs::remove_file(&path).unwrap();
        read.map(|columns| (columns, rows))
    }

    fn problem(bytes: &[u8]) -> String {
        read_bytes(bytes).unwrap_err()
    }

    #[test]
    fn unreadable_files_are_named() {
        assert_eq!(problem(b""), "is empty");
        assert_eq!(problem(b" \r\n\r\n"), "is empty");
        assert!(problem(b"[{\"a\":1}]").contains("NDJSON"));
        assert_eq!(problem(b"a\0b"), "is neither CSV, NDJSON nor XLSX");
        assert_eq!(problem(b"name,name\n1,2\n"), "has two columns that are called name");
        assert_eq!(problem(b"name,,sku\n1,2,3\n"), "has no name for column 2 in its first row");
        let wide: Vec<String> = (0..300).map(|index| format!("c{index}")).collect();
        assert!(problem(wide.join(",").as_bytes()).contains("300 columns"));
        assert!(problem(b"PK\x03\x04 but no workbook").contains("XLSX"));
        let mut old = workbook::COMPOUND_FILE.to_vec();
        old.extend([0; 600]);
        assert!(problem(&old).contains("old format"), "{}", problem(&old));
        old.extend("EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes));
        assert!(problem(&old).contains("password"), "{}", problem(&old));
    }
}
