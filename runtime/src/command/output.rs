//! Output of commands: lines, and lists as a table or as JSON.

use std::io::{ErrorKind, Write, stdout};

use clap::ArgMatches;
use serde::Serialize;
use serde_json::Value;

use charter_core::error::{Error, Result};
use charter_model::invisible::{escape_json, escape_line, escape_lines};

/// Prints lines. Text of users in them must not move the cursor or reorder what the terminal shows. A closed pipe is not
/// an error, as with `head`.
///
/// # Errors
/// When writing fails, for example on a full disk.
pub(super) fn line(text: &str) -> Result<()> {
    let mut out = stdout().lock();
    match writeln!(out, "{}", escape_lines(text)).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::internal(format!("could not write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints JSON with one value a line.
pub(super) fn json(value: &(impl Serialize + ?Sized)) -> Result<()> {
    line(&escape_json(&serde_json::to_string_pretty(value).map_err(Error::internal)?))
}

/// True if a list is to be printed as JSON, by `--format`.
pub(super) fn is_json(matches: &ArgMatches) -> bool {
    matches.get_one::<String>("format").is_some_and(|format| format == "json")
}

/// Prints rows in the format of `--format`.
pub(super) fn print(matches: &ArgMatches, columns: &[&str], rows: &[Value]) -> Result<()> {
    if is_json(matches) {
        return json(rows);
    }
    let text = |value: &Value| match value {
        Value::Null => "-".to_string(),
        Value::String(text) => text.clone(),
        Value::Array(list) => {
            list.iter().map(|v| v.as_str().map_or_else(|| v.to_string(), String::from)).collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    };
    // A line break in a cell would forge a row.
    let text = |value: &Value| escape_line(&text(value)).into_owned();
    let cells: Vec<Vec<String>> = std::iter::once(columns.iter().map(ToString::to_string).collect())
        .chain(rows.iter().map(|row| columns.iter().map(|column| text(&row[*column])).collect()))
        .collect();
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let aligned = |row: &Vec<String>| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        cells.join("  ").trim_end().to_string()
    };
    line(&cells.iter().map(aligned).collect::<Vec<_>>().join("\n"))
}
