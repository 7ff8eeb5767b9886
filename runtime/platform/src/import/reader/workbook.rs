//! Reader of XLSX workbooks: the first visible sheet, cell by cell.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;

use calamine::{DataRef, ExcelDateTime, Reader, SheetVisible, Xlsx, XlsxError};

use super::{Cell, MAX_COLUMNS, OnRow, Row, check_columns, fit, text_cell};

/// The first bytes of a compound file: an old `.xls`, or an encrypted workbook (MS-CFB, 2.2).
pub(super) const COMPOUND_FILE: [u8; 8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/// Maximum size of all parts of a workbook, and of its shared texts, which stay in memory, when they are unpacked.
const MAX_UNPACKED_BYTES: u64 = 1 << 30;
const MAX_SHARED_TEXT_BYTES: u64 = 48 << 20;

const NO_WORKBOOK: &str = "is no workbook in the format XLSX";

/// The problem of a compound file.
pub(super) fn compound_file_problem(path: &Path) -> String {
    // The name of the stream that an encrypted workbook has (MS-OFFCRYPTO, 2.3.4.4).
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => return format!("could not be read: {error}"),
    };
    match bytes.windows(name.len()).any(|window| window == name) {
        true => "is protected by a password: save it without one".into(),
        false => "is a workbook in the old format XLS: save it as XLSX".into(),
    }
}

pub(super) fn read(path: &Path, on_row: OnRow<'_>) -> Result<Vec<String>, String> {
    check_size(path)?;
    let file = File::open(path).map_err(|error| format!("could not be read: {error}"))?;
    let mut workbook: Xlsx<BufReader<File>> = Xlsx::new(BufReader::new(file)).map_err(problem)?;
    let sheets = workbook.sheets_metadata();
    let sheet = sheets.iter().find(|sheet| sheet.visible == SheetVisible::Visible).or(sheets.first());
    let name = sheet.map(|sheet| sheet.name.clone()).ok_or_else(|| "has no sheet".to_string())?;
    let mut cells = workbook.worksheet_cells_reader(&name).map_err(problem)?;
    let mut sheet = Sheet { columns: None, number: 0, cells: Vec::new(), error: None };
    while let Some(cell) = cells.next_cell().map_err(problem)? {
        let (row, column) = cell.get_position();
        let number = i64::from(row) + 1;
        if number != sheet.number {
            if let ControlFlow::Break(()) = sheet.end_row(on_row)? {
                return sheet.columns.ok_or_else(|| "is empty".into());
            }
            sheet.number = number;
        }
        sheet.add(column as usize, cell.get_value());
    }
    let _ = sheet.end_row(on_row)?;
    sheet.columns.ok_or_else(|| "is empty".into())
}

/// The rows of a sheet as they are read.
struct Sheet {
    columns: Option<Vec<String>>,
    /// The current row.
    number: i64,
    cells: Vec<Cell>,
    error: Option<String>,
}

impl Sheet {
    fn add(&mut self, column: usize, value: &DataRef<'_>) {
        let cell = match cell(value) {
            Ok(Cell::Empty) => return,
            Ok(cell) => cell,
            Err(why) => {
                self.error.get_or_insert(why);
                return;
            }
        };
        // A cell far to the right must not make the row long.
        if column >= MAX_COLUMNS {
            self.error.get_or_insert_with(|| format!("has a value in column {}", column + 1));
            return;
        }
        if self.cells.len() <= column {
            self.cells.resize(column + 1, Cell::Empty);
        }
        self.cells[column] = cell;
    }

    fn end_row(&mut self, on_row: OnRow<'_>) -> Result<ControlFlow<()>, String> {
        let (cells, error) = (std::mem::take(&mut self.cells), self.error.take());
        if cells.is_empty() && error.is_none() {
            return Ok(ControlFlow::Continue(()));
        }
        let Some(columns) = &self.columns else {
            if let Some(why) = error {
                return Err(format!("{why} in its first row"));
            }
            let names = cells.into_iter().map(|cell| if let Cell::Text(text) = cell { text } else { String::new() });
            self.columns = Some(check_columns(names.collect())?);
            return Ok(ControlFlow::Continue(()));
        };
        let cells = match error {
            Some(why) => Err(why),
            None => match fit(cells, columns.len()) {
                Some(cells) => cells,
                None => return Ok(ControlFlow::Continue(())),
            },
        };
        Ok(on_row(Row { number: self.number, cells }))
    }
}

/// A value as text, or the reason why it has none.
fn cell(value: &DataRef<'_>) -> Result<Cell, String> {
    Ok(match value {
        DataRef::Empty => Cell::Empty,
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text_cell(text.as_str()),
        DataRef::SharedString(text) => text_cell(*text),
        DataRef::Int(number) => Cell::Text(number.to_string()),
        DataRef::Float(number) => Cell::Text(number_text(*number)),
        DataRef::Bool(value) => Cell::Text(value.to_string()),
        DataRef::DateTime(time) => Cell::Text(time_text(time)),
        DataRef::Error(error) => return Err(format!("has the error {error} in a cell")),
    })
}

/// A number with the 15 digits that spreadsheets show: 0.1 + 0.2 is 0.3.
fn number_text(number: f64) -> String {
    let rounded: f64 = format!("{number:.14e}").parse().unwrap_or(number);
    format!("{rounded}")
}

/// A date, a time of day, or both.
fn time_text(time: &ExcelDateTime) -> String {
    let (year, month, day, hour, minute, second, milli) = time.to_ymd_hms_milli();
    let clock = match milli {
        0 => format!("{hour:02}:{minute:02}:{second:02}"),
        milli => format!("{hour:02}:{minute:02}:{second:02}.{milli:03}"),
    };
    let value = time.as_f64();
    match (value < 1.0, value.fract() == 0.0) {
        (true, _) => clock,
        (false, true) => format!("{year:04}-{month:02}-{day:02}"),
        (false, false) => format!("{year:04}-{month:02}-{day:02}T{clock}"),
    }
}

/// Refuses a workbook whose parts unpack to more than it may have, whatever sizes its directory claims.
fn check_size(path: &Path) -> Result<(), String> {
    let file = File::open(path).map_err(|error| format!("could not be read: {error}"))?;
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(|_| NO_WORKBOOK.to_string())?;
    let mut left = MAX_UNPACKED_BYTES;
    for index in 0..archive.len() {
        let Ok(part) = archive.by_index(index) else { return Err(NO_WORKBOOK.into()) };
        let Ok(name) = part.name().map(|name| name.to_ascii_lowercase()) else { return Err(NO_WORKBOOK.into()) };
        if !name.starts_with("xl/") || !name.ends_with(".xml") {
            continue;
        }
        let most = if name.ends_with("sharedstrings.xml") { left.min(MAX_SHARED_TEXT_BYTES) } else { left };
        let unpacked = io::copy(&mut part.take(most + 1), &mut io::sink()).map_err(|_| NO_WORKBOOK.to_string())?;
        if unpacked > most {
            return Err("is too large when it is unpacked: save it as CSV".into());
        }
        left -= unpacked;
    }
    Ok(())
}

fn problem(error: XlsxError) -> String {
    match error {
        XlsxError::Password => "is protected by a password: save it without one".into(),
        other => format!("{NO_WORKBOOK}: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use calamine::ExcelDateTimeType;

    use super::*;

    #[test]
    fn numbers_and_times_are_read_as_they_are_shown() {
        for (number, text) in [(0.1 + 0.2, "0.3"), (1_000_000.0, "1000000"), (12.5, "12.5"), (-3.0, "-3")] {
            assert_eq!(number_text(number), text);
        }
        let text = |value| time_text(&ExcelDateTime::new(value, ExcelDateTimeType::DateTime, false));
        assert_eq!(text(46_000.0), "2025-12-09");
        assert_eq!(text(46_000.5), "2025-12-09T12:00:00");
        assert_eq!(text(0.25), "06:00:00");
    }
}
