//! Rows as JSON text.

use std::io::Write;

use charter_model::Storage;
use sea_orm::Value;

use super::{Cell, Column, Shape, write_timestamp};
use crate::db::Row;
use crate::error::{Error, Result};
use crate::field_type::{self, codec};
use crate::meta::{FieldMeta, Kind, TimestampForm};
use crate::number;

/// Writes `"id":1,"name":"Lamp"`: the members without braces, so that includes can follow.
pub fn write_record(out: &mut Vec<u8>, shape: &Shape, row: Row<'_>) -> Result<()> {
    let mut first = true;
    for (position, column) in shape.columns.iter().enumerate() {
        if column.hidden {
            continue;
        }
        if !first {
            out.push(b',');
        }
        first = false;
        out.extend_from_slice(column.key.as_bytes());
        write_value(out, column, row, position)?;
    }
    Ok(())
}

/// Writes one value in the format of its kind, or null.
pub fn write_value(out: &mut Vec<u8>, column: &Column, row: Row<'_>, position: usize) -> Result<()> {
    let cell = Cell::new(row, position)?;
    let written = match column.source.field.kind {
        Kind::Code { values } if column.source.labels.is_some() => {
            cell.integer()?.map(|code| match values.iter().find(|(known, _)| i64::from(*known) == code) {
                Some((_, label)) => write_text(out, label),
                None => out.extend_from_slice(b"null"),
            })
        }
        Kind::CustomFields if column.only.is_some() => match cell.json()? {
            Some(text) => {
                let only = column.only.as_deref().unwrap_or_default();
                Some(write_members(out, text, |name| only.iter().any(|selected| selected == name))?)
            }
            None => None,
        },
        Kind::Json if column.without.is_some() => match (cell.json()?, &column.without) {
            (Some(text), Some(hidden)) => {
                let of_type = Cell::new(row, hidden.column)?.text()?.and_then(|text| hidden.by_text.get(text));
                let is_hidden = |name: &str| of_type.is_some_and(|names| names.contains(&name));
                Some(write_members(out, text, |name| !is_hidden(name))?)
            }
            _ => None,
        },
        kind => match kind.storage() {
            Some(Storage::Id | Storage::SingletonId | Storage::Integer | Storage::BigInt) => {
                cell.integer()?.map(|number| drop(write!(out, "{number}")))
            }
            Some(Storage::Boolean) => {
                cell.boolean()?.map(|b| out.extend_from_slice(if b { b"true" } else { b"false" }))
            }
            Some(Storage::Decimal(_, places)) => cell.scaled(u32::from(places))?.map(|scaled| {
                let mut text = String::with_capacity(24);
                number::write(&mut text, scaled, u32::from(places));
                out.push(b'"');
                out.extend_from_slice(text.as_bytes());
                out.push(b'"');
            }),
            Some(Storage::Timestamp) => cell.time()?.map(|time| {
                let form = if let Kind::Timestamp { form } = kind { form } else { TimestampForm::Millis };
                out.push(b'"');
                write_timestamp(out, time, form);
                out.push(b'"');
            }),
            Some(Storage::Json | Storage::List) => cell.json()?.map(|text| out.extend_from_slice(text.as_bytes())),
            Some(storage) => match codec(storage) {
                Some(codec) => (codec.write)(out, cell)?,
                None => cell.text()?.map(|text| write_text(out, text)),
            },
            None => return Err(Error::internal(format!("`{}` has no column of its own", column.name))),
        },
    };
    if written.is_none() {
        out.extend_from_slice(b"null");
    }
    Ok(())
}

/// Writes a JSON string.
pub fn write_text(out: &mut Vec<u8>, text: &str) {
    // Writing to memory does not fail.
    let _ = serde_json::to_writer(out, text);
}

/// Writes the selected members of a JSON object.
fn write_members(out: &mut Vec<u8>, object: &str, is_selected: impl Fn(&str) -> bool) -> Result<()> {
    let mut map: serde_json::Map<String, serde_json::Value> = serde_json::from_str(object).map_err(Error::internal)?;
    map.retain(|name, _| is_selected(name));
    serde_json::to_writer(out, &map).map_err(Error::internal)
}

/// Writes a value that is not from a row, such as an action's output or a change, in the format of its field.
pub fn write_single_value(out: &mut Vec<u8>, field: &FieldMeta, value: &Value) {
    match (field.kind, value) {
        (_, Value::Bool(Some(value))) => drop(write!(out, "{value}")),
        (_, Value::Int(Some(value))) => drop(write!(out, "{value}")),
        (_, Value::BigInt(Some(value))) => drop(write!(out, "{value}")),
        (_, Value::String(Some(value))) => write_text(out, value),
        (Kind::Decimal { places, .. }, Value::Decimal(Some(value))) => {
            let mut value = *value;
            value.rescale(u32::from(places));
            let _ = write!(out, "\"{value}\"");
        }
        (Kind::Timestamp { form }, Value::ChronoDateTimeUtc(Some(value))) => {
            out.push(b'"');
            write_timestamp(out, *value, form);
            out.push(b'"');
        }
        (_, Value::Json(Some(value))) => drop(serde_json::to_writer(out, value)),
        (_, value) => match field_type::text(value) {
            Some(text) => write_text(out, &text),
            None => out.extend_from_slice(b"null"),
        },
    }
}
