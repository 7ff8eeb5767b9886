//! Reader of XLSX workbooks: the first visible sheet, cell by cell.
//!
//! It trusts no count and no size that the file claims. The hint `dimension` and the counts of texts and styles are not
//! read at all.

mod package;
mod parts;
#[cfg(test)]
mod tests;
mod values;
mod xml;

use std::fmt::Display;
use std::ops::ControlFlow;
use std::path::Path;

use package::Package;
use parts::{Book, rich_text};
use values::{number_text, time_text, unescape};
use xml::{Element, Piece, Xml};

use super::{Cell, MAX_COLUMNS, MAX_ROW_BYTES, OnRow, Row, check_columns, fit, text_cell};

/// The first bytes of a compound file: an old `.xls`, or an encrypted workbook (MS-CFB, 2.2).
pub(super) const COMPOUND_FILE: [u8; 8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/// The rows and columns of a sheet, whatever has a value in it.
const SHEET_ROWS: i64 = 1_048_576;
const SHEET_COLUMNS: usize = 16_384;

const NO_WORKBOOK: &str = "is no workbook in the format XLSX";

/// Characters of the reason why a file is no workbook, which may contain names of the file.
const MAX_REASON_CHARACTERS: usize = 200;

/// Maximum length of a number, a truth value, or the name of an error.
const MAX_PLAIN_BYTES: usize = 400;

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

/// The problem of a file that does not have the form of a workbook.
fn malformed(why: impl Display) -> String {
    let why: String = why.to_string().chars().take(MAX_REASON_CHARACTERS).collect();
    format!("{NO_WORKBOOK}: {why}")
}

pub(super) fn read(path: &Path, on_row: OnRow<'_>) -> Result<Vec<String>, String> {
    let mut package = Package::open(path)?;
    let book = Book::read(&mut package)?;
    let mut xml = package.streamed_part(&book.sheet)?.ok_or_else(|| malformed("it has no part for its sheet"))?;
    let outside = loop {
        match xml.next()? {
            Piece::Start(element) if element.name() == "sheetData" => break element.depth - 1,
            Piece::Eof => return Err(malformed("its sheet has no rows")),
            _ => {}
        }
    };
    let mut sheet = Sheet { columns: None, number: 0, cells: Vec::new(), error: None, bytes: 0 };
    let mut column = 0;
    loop {
        match xml.next()? {
            Piece::Start(element) if element.name() == "row" => {
                let number = match element.attribute("r")? {
                    Some(text) => row_number(&text)?,
                    None => sheet.number + 1,
                };
                column = 0;
                if sheet.move_to(number, on_row)?.is_break() {
                    break;
                }
            }
            Piece::Start(element) if element.name() == "c" => {
                let position = element.attribute("r")?.map(|text| reference(&text)).transpose()?;
                let (row, at) = position.unwrap_or((sheet.number, column));
                let kind = CellKind::of(&element, &book)?;
                drop(element);
                let value = read_cell(&mut xml, kind, &book)?;
                if row != sheet.number && sheet.move_to(row, on_row)?.is_break() {
                    break;
                }
                sheet.add(at, value)?;
                column = at + 1;
            }
            Piece::End(depth) if depth == outside => {
                let _ = sheet.end_row(on_row)?;
                break;
            }
            _ => {}
        }
    }
    sheet.columns.ok_or_else(|| "is empty".into())
}

/// The number of a row, from 1.
fn row_number(text: &str) -> Result<i64, String> {
    let number = text.parse().ok().filter(|number| (1..=SHEET_ROWS).contains(number));
    number.ok_or_else(|| malformed(format_args!("there is no row {text}")))
}

/// The number of the row, from 1, and the index of the column of a reference such as `B7`.
fn reference(text: &str) -> Result<(i64, usize), String> {
    let length = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (letters, digits) = text.split_at(length);
    // Three letters suffice for each column of a sheet.
    let column = match length {
        1..=3 => {
            letters.bytes().fold(0, |column, letter| column * 26 + usize::from(letter.to_ascii_uppercase() - b'@'))
        }
        _ => 0,
    };
    match column {
        1..=SHEET_COLUMNS => Ok((row_number(digits)?, column - 1)),
        _ => Err(malformed(format_args!("there is no cell {text}"))),
    }
}

/// How the text of a cell is read.
#[derive(Clone, Copy)]
enum CellKind {
    Number,
    Time,
    Bool,
    Error,
    /// The position of a text that other cells may have as well.
    Shared,
    /// A text, also that of a formula, or a date as text.
    Text,
    /// A text with formats, in an element of its own.
    Inline,
}

impl CellKind {
    fn of(element: &Element<'_>, book: &Book) -> Result<CellKind, String> {
        Ok(match element.attribute("t")?.as_deref() {
            None | Some("n") => {
                let style = element.attribute("s")?.and_then(|style| style.parse().ok()).unwrap_or_default();
                if book.is_time(style) { CellKind::Time } else { CellKind::Number }
            }
            Some("b") => CellKind::Bool,
            Some("e") => CellKind::Error,
            Some("s") => CellKind::Shared,
            Some("str" | "d") => CellKind::Text,
            Some("inlineStr" | "is") => CellKind::Inline,
            Some(other) => return Err(malformed(format_args!("there are no cells of the type {other}"))),
        })
    }
}

/// A value, or the reason why a cell has none.
type Value = Result<Cell, String>;

/// Reads the element of a cell that has begun to its end.
fn read_cell(xml: &mut Xml<'_>, kind: CellKind, book: &Book) -> Result<Value, String> {
    let outside = xml.depth().saturating_sub(1);
    let mut value = Ok(Cell::Empty);
    loop {
        match xml.next()? {
            Piece::Start(element) if element.name() == "v" && !matches!(kind, CellKind::Inline) => {
                drop(element);
                let text = xml.text()?;
                value = read_value(xml, kind, text, book)?;
            }
            Piece::Start(element) if element.name() == "is" => {
                drop(element);
                value = Ok(text_cell(rich_text(xml)?));
            }
            // A formula: the file has its result as well.
            Piece::Start(element) => {
                drop(element);
                xml.skip()?;
            }
            Piece::End(depth) if depth == outside => return Ok(value),
            _ => {}
        }
    }
}

fn read_value(xml: &mut Xml<'_>, kind: CellKind, text: String, book: &Book) -> Result<Value, String> {
    if matches!(kind, CellKind::Text | CellKind::Inline) {
        return Ok(Ok(text_cell(unescape(&text))));
    }
    let plain = text.trim();
    if plain.is_empty() {
        return Ok(Ok(Cell::Empty));
    }
    if plain.len() > MAX_PLAIN_BYTES {
        return Err(malformed("a cell has a text, but the type of a number"));
    }
    let number = || plain.parse::<f64>().ok().filter(|number| number.is_finite());
    Ok(match kind {
        CellKind::Shared => {
            let shared = plain.parse().ok().and_then(|index| book.text(index));
            let shared = shared.ok_or_else(|| malformed(format_args!("it has no shared text {plain}")))?;
            xml.charge(shared.len())?;
            Ok(text_cell(shared))
        }
        CellKind::Bool => match plain {
            "1" | "true" => Ok(Cell::Text("true".into())),
            "0" | "false" => Ok(Cell::Text("false".into())),
            _ => return Err(malformed(format_args!("{plain} is no truth value"))),
        },
        CellKind::Error => Err(format!("has the error {plain} in a cell")),
        CellKind::Time => Ok(Cell::Text(number().map_or_else(|| plain.into(), |days| time_text(days, book.is_1904)))),
        // Some programs write texts without a type.
        _ => Ok(Cell::Text(number().map_or_else(|| plain.into(), number_text))),
    })
}

/// The rows of a sheet as they are read.
struct Sheet {
    columns: Option<Vec<String>>,
    /// The current row.
    number: i64,
    cells: Vec<Cell>,
    error: Option<String>,
    /// Bytes of the texts in the current row.
    bytes: usize,
}

impl Sheet {
    /// Ends the current row and begins a later one.
    fn move_to(&mut self, number: i64, on_row: OnRow<'_>) -> Result<ControlFlow<()>, String> {
        if number <= self.number || number > SHEET_ROWS {
            return Err(malformed(format_args!("row {number} follows row {}", self.number)));
        }
        let flow = self.end_row(on_row)?;
        self.number = number;
        Ok(flow)
    }

    fn add(&mut self, column: usize, value: Value) -> Result<(), String> {
        let cell = match value {
            Ok(Cell::Empty) => return Ok(()),
            Ok(cell) => cell,
            Err(why) => {
                self.error.get_or_insert(why);
                return Ok(());
            }
        };
        // A cell far to the right must not make the row long.
        if column >= MAX_COLUMNS {
            self.error.get_or_insert_with(|| format!("has a value in column {}", column + 1));
            return Ok(());
        }
        self.bytes += cell.bytes();
        if self.bytes > MAX_ROW_BYTES {
            return Err(format!("has more than {MAX_ROW_BYTES} bytes of text in row {}", self.number));
        }
        if self.cells.len() <= column {
            self.cells.resize(column + 1, Cell::Empty);
        }
        self.cells[column] = cell;
        Ok(())
    }

    fn end_row(&mut self, on_row: OnRow<'_>) -> Result<ControlFlow<()>, String> {
        let (cells, error) = (std::mem::take(&mut self.cells), self.error.take());
        self.bytes = 0;
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
