//! Limits of the databases for one table: columns, bytes in a row, and joins in a query.

use std::collections::BTreeSet;

use charter_model::Storage;

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Resource, Schema, Type};

/// PostgreSQL allows 1,600 columns in a table and counts dropped columns.
const MAX_TABLE_COLUMNS: usize = 1_500;

/// The most bytes of a row. PostgreSQL stores a row in a page of 8 kB and moves long text and JSON out of it (TOAST).
const MAX_ROW_BYTES: usize = 8_160;

/// The row header of PostgreSQL.
const ROW_HEADER_BYTES: usize = 24;

/// The most joins of one query. SQLite joins at most 64 tables.
const MAX_JOINS: usize = 60;

pub fn check(_: &Schema, resource: &Resource, problems: &mut Problems) {
    let mut refuse = |code: Code, message: String, label: &str, help: &str| {
        problems.push(Diagnostic::new(code, resource.name.span, message, label).help(help));
    };
    let columns = resource.fields.iter().filter(|field| field.is_column()).count();
    if columns > MAX_TABLE_COLUMNS {
        let message = format!("`{}` has {columns} columns; the maximum is {MAX_TABLE_COLUMNS}", resource.name.value);
        refuse(
            Code::Contradiction,
            message,
            "too many fields",
            "divide it into several resources, or store part of it as `json`",
        );
    }
    let longest = resource.fields.iter().filter(|field| field.is_column()).fold(ROW_HEADER_BYTES, |length, field| {
        let (width, place) = field.kind.known().and_then(Type::storage).map_or((1, 1), width);
        length.next_multiple_of(place) + width
    });
    if columns <= MAX_TABLE_COLUMNS && longest > MAX_ROW_BYTES {
        let message = format!(
            "a row of `{}` can have {longest} bytes, even with empty texts; the maximum is {MAX_ROW_BYTES}",
            resource.name.value
        );
        let help = "divide it into several resources, store part of it as `json`, or use smaller types";
        refuse(Code::Contradiction, message, "too many fields", help);
    }
    // Derived fields through one reference share a join; the labels of a code need none.
    let is_code = |name: &str| resource.field(name).is_some_and(|field| field.kind.codes().is_some());
    let joined: BTreeSet<&str> = resource
        .fields
        .iter()
        .filter_map(|field| field.kind.derived())
        .map(|(via, _)| via.as_str())
        .filter(|via| !is_code(via))
        .collect();
    if joined.len() > MAX_JOINS {
        let message = format!(
            "`{}` shows fields of {} other records; the maximum is {MAX_JOINS}",
            resource.name.value,
            joined.len()
        );
        refuse(Code::DerivedPath, message, "too many references", "show some of them with includes");
    }
}

/// The most bytes of a value in a row of PostgreSQL, and its alignment.
fn width(storage: Storage) -> (usize, usize) {
    match storage {
        // PostgreSQL stores four digits in two bytes, counted from the decimal point.
        Storage::Decimal(precision, places) => {
            let groups = (precision - places).div_ceil(4) + places.div_ceil(4);
            (3 + 2 * usize::from(groups), 1)
        }
        _ => storage.facts().width,
    }
}
