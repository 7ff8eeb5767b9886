//! CSV export (RFC 4180): columns, their order, and the text of each value.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::RawValue;

use super::include::Related;
use crate::catalog::Entry;
use crate::db::Row;
use crate::error::{Error, Result};
use crate::json_scan::{Piece, pieces};
use crate::meta::Kind;
use crate::query::Request;
use crate::record::{Cell, Shape, write_value};

/// The byte order mark, by which spreadsheets recognize UTF-8.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The form of a file, by the query parameter `csv`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CsvForm {
    /// Cells that a spreadsheet would take for formulas begin with an apostrophe.
    pub neutral: bool,
    pub byte_order_mark: bool,
}

impl CsvForm {
    /// The words of the parameter.
    pub const WORDS: [&'static str; 2] = ["neutral", "bom"];

    /// Reads the parameter of a request: words separated by commas.
    ///
    /// # Errors
    /// 422 for another word.
    pub fn of(request: &Request) -> Result<CsvForm> {
        let mut form = CsvForm::default();
        for word in request.csv.iter().flat_map(|text| text.split(',')).map(str::trim).filter(|word| !word.is_empty()) {
            match word {
                "neutral" => form.neutral = true,
                "bom" => form.byte_order_mark = true,
                _ => return Err(Error::invalid("csv", format!("must be a list of {}", CsvForm::WORDS.join(", ")))),
            }
        }
        Ok(form)
    }
}

/// The columns of an export.
#[derive(Debug)]
pub struct Csv {
    columns: Vec<Column>,
    form: CsvForm,
}

#[derive(Debug)]
struct Column {
    title: String,
    from: From,
}

#[derive(Debug)]
enum From {
    /// The column at this index of the row.
    Row(usize),
    /// The custom field of this name; the JSON of all custom fields is at this index of the row.
    Custom(usize, String),
    /// An embedded or computed field, loaded separately.
    Related,
}

impl Csv {
    /// The columns of a projection: with a view in its order, the id first; else in the order of the resource's fields.
    /// Each custom field in `custom` has its own column.
    pub fn of(entry: &Entry, shape: &Shape, custom: &[String], view: Option<&[String]>, form: CsvForm) -> Csv {
        let mut columns: Vec<Column> = Vec::new();
        for field in entry.meta.fields {
            let title = field.name.to_string();
            if [&shape.embedded, &shape.computed].iter().any(|list| list.iter().any(|f| f.name == field.name)) {
                columns.push(Column { title, from: From::Related });
                continue;
            }
            let shown = shape.columns.iter().enumerate().find(|(_, c)| c.name == field.name && !c.hidden);
            let Some((position, column)) = shown else { continue };
            if field.kind == Kind::CustomFields {
                let names = column.only.as_deref().unwrap_or(custom);
                columns.extend(
                    names
                        .iter()
                        .map(|name| Column { title: format!("cf.{name}"), from: From::Custom(position, name.clone()) }),
                );
            } else {
                columns.push(Column { title, from: From::Row(position) });
            }
        }
        if let Some(view) = view {
            let position = |title: &str| view.iter().position(|column| column == title);
            columns.sort_by_key(|column| match (position(&column.title), &column.from) {
                (Some(position), _) => position + 1,
                (None, From::Custom(..)) => position("custom_fields").map_or(0, |position| position + 1),
                (None, _) => 0,
            });
        }
        Csv { columns, form }
    }

    /// Writes the header line.
    pub fn write_titles(&self, out: &mut Vec<u8>) {
        if self.form.byte_order_mark {
            out.extend_from_slice(BYTE_ORDER_MARK);
        }
        for (index, column) in self.columns.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            write_text(out, &column.title);
        }
        out.extend_from_slice(b"\r\n");
    }

    /// Writes the line of a record.
    pub fn write(
        &self,
        out: &mut Vec<u8>,
        shape: &Shape,
        row: Row<'_>,
        related: &Related,
        row_index: usize,
    ) -> Result<()> {
        let (line_start, mut json) = (out.len(), Vec::new());
        // All custom fields are one JSON object, parsed once for a row.
        let mut custom: Option<HashMap<Cow<'_, str>, &RawValue>> = None;
        for (index, column) in self.columns.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            match &column.from {
                From::Row(position) => {
                    json.clear();
                    write_value(&mut json, &shape.columns[*position], row, *position)?;
                    self.form.write_json(out, &json)?;
                }
                From::Related => {
                    self.form.write_json(out, related.value(&column.title, row_index).unwrap_or(b"null"))?
                }
                From::Custom(position, name) => {
                    if custom.is_none() {
                        let text = Cell::new(row, *position)?.json()?.unwrap_or("{}");
                        custom = Some(serde_json::from_str(text).map_err(Error::internal)?);
                    }
                    let value = custom.as_ref().and_then(|values| values.get(name.as_str()));
                    self.form.write_json(out, value.map_or(b"null", |value| value.get().as_bytes()))?;
                }
            }
        }
        // Many CSV readers skip an empty line.
        if self.columns.len() == 1 && out.len() == line_start {
            out.extend_from_slice(b"\"\"");
        }
        out.extend_from_slice(b"\r\n");
        Ok(())
    }
}

impl CsvForm {
    /// Writes a line of texts; `None` is an empty field, which differs from an empty text.
    pub fn write_line(self, out: &mut Vec<u8>, cells: &[Option<String>]) {
        let line_start = out.len();
        for (index, cell) in cells.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            match cell {
                Some(text) if self.neutral && is_formula(text) => write_text(out, &format!("'{text}")),
                Some(text) => write_text(out, text),
                None => {}
            }
        }
        if cells.len() == 1 && out.len() == line_start {
            out.extend_from_slice(b"\"\"");
        }
        out.extend_from_slice(b"\r\n");
    }

    /// Writes a JSON value: null as an empty field, a string as its text, everything else as JSON.
    fn write_json(self, out: &mut Vec<u8>, json: &[u8]) -> Result<()> {
        match json.first() {
            Some(b'"') => {
                let text: String = serde_json::from_slice(json).map_err(Error::internal)?;
                match self.neutral && is_formula(&text) {
                    true => write_text(out, &format!("'{text}")),
                    false => write_text(out, &text),
                }
            }
            Some(b'[' | b'{') => write_text(out, &without_spaces(&String::from_utf8_lossy(json))),
            _ if json == b"null" => {}
            _ => out.extend_from_slice(json),
        }
        Ok(())
    }
}

/// True for a text that a spreadsheet may take for a formula (OWASP, "CSV Injection"). The full-width signs are those of
/// East Asian versions. A decimal number is text in JSON and stays a number.
fn is_formula(text: &str) -> bool {
    let text = text.trim_start_matches(' ');
    let is_number = || {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
        [whole, fraction].iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let starts = ['=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];
    text.starts_with(starts) && !is_number()
}

/// JSON without the white space that PostgreSQL adds between tokens and SQLite does not.
fn without_spaces(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for piece in pieces(json) {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Between(tokens) => out.extend(tokens.split_ascii_whitespace()),
        }
    }
    out
}

/// Writes text, quoted if necessary. Empty text is quoted to distinguish it from null.
fn write_text(out: &mut Vec<u8>, text: &str) {
    let is_plain = |byte: u8| !matches!(byte, b',' | b'"' | b'\r' | b'\n');
    let has_outer_space = text.starts_with(' ') || text.ends_with(' ');
    if !text.is_empty() && !has_outer_space && text.bytes().all(is_plain) {
        return out.extend_from_slice(text.as_bytes());
    }
    out.push(b'"');
    for byte in text.bytes() {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(form: CsvForm, json: &str) -> String {
        let mut out = Vec::new();
        form.write_json(&mut out, json.as_bytes()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn csv_value_is_quoted_only_where_necessary() {
        for (json, expected) in [
            ("null", ""),
            ("\"\"", "\"\""),
            ("\"a b\"", "a b"),
            ("\" a\"", "\" a\""),
            ("\"a,b\"", "\"a,b\""),
            ("\"say \\\"hi\\\"\"", "\"say \"\"hi\"\"\""),
            ("\"two\\nlines\"", "\"two\nlines\""),
            ("\"=1+1\"", "=1+1"),
            ("\"\\u00c4pfel\"", "Äpfel"),
            ("12", "12"),
            ("true", "true"),
            ("[\"a\",1]", "\"[\"\"a\"\",1]\""),
            ("{}", "{}"),
            ("[\"a b\", \"c\\\" , d\", 1]", "\"[\"\"a b\"\",\"\"c\\\"\" , d\"\",1]\""),
        ] {
            assert_eq!(written(CsvForm::default(), json), expected, "{json}");
        }
    }

    #[test]
    fn neutral_cell_is_no_formula_and_a_number_stays_one() {
        let form = CsvForm { neutral: true, byte_order_mark: false };
        for (json, expected) in [
            ("\"=1+1\"", "'=1+1"),
            ("\"@SUM(A1)\"", "'@SUM(A1)"),
            ("\"+44 20 7946\"", "'+44 20 7946"),
            ("\"-2+3\"", "'-2+3"),
            ("\"\\t=1\"", "'\t=1"),
            ("\"\\r=1\"", "\"'\r=1\""),
            ("\" =1\"", "' =1"),
            ("\"=HYPERLINK(\\\"x\\\",1)\"", "\"'=HYPERLINK(\"\"x\"\",1)\""),
            ("\"\u{ff1d}1\"", "'\u{ff1d}1"),
            ("\"-12.50\"", "-12.50"),
            ("\"+7\"", "+7"),
            ("-3", "-3"),
            ("\"-\"", "'-"),
            ("\"a=1\"", "a=1"),
            ("\"\"", "\"\""),
            ("null", ""),
            ("[\"=1\"]", "\"[\"\"=1\"\"]\""),
        ] {
            assert_eq!(written(form, json), expected, "{json}");
        }
    }

    #[test]
    fn form_is_a_list_of_words() {
        let read = |text: &str| CsvForm::of(&Request { csv: Some(text.into()), ..Request::default() });
        let both = CsvForm { neutral: true, byte_order_mark: true };
        assert_eq!(read("neutral, bom").unwrap(), both);
        assert_eq!(read(",").unwrap(), CsvForm::default());
        assert!(read("safe").is_err());
    }
}
