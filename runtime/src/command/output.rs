//! Lists on standard output: a table for people, JSON for programs.

use clap::ArgMatches;
use serde_json::Value;

use crate::error::{Error, Result};

/// Prints rows of named columns in the format that `--format` asks for.
pub fn print(matches: &ArgMatches, columns: &[&str], rows: &[Value]) -> Result<()> {
    if matches.get_one::<String>("format").is_some_and(|format| format == "json") {
        println!("{}", serde_json::to_string_pretty(rows).map_err(Error::internal)?);
        return Ok(());
    }
    let text = |value: &Value| match value {
        Value::Null => "-".to_string(),
        Value::String(text) => text.clone(),
        Value::Array(list) => {
            list.iter().map(|v| v.as_str().map_or_else(|| v.to_string(), String::from)).collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    };
    let cells: Vec<Vec<String>> = std::iter::once(columns.iter().map(ToString::to_string).collect())
        .chain(rows.iter().map(|row| columns.iter().map(|column| text(&row[*column])).collect()))
        .collect();
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    for row in &cells {
        let line: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        println!("{}", line.join("  ").trim_end());
    }
    Ok(())
}
