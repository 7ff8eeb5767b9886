//! Conversion of values for SQLite, single or as a JSON list.

use chrono::{DateTime, SecondsFormat, Utc};
use sea_orm::Value;
use serde_json::Value as Json;

use super::Stored;

/// A time in SQLite's storage format, which PostgreSQL parses as well.
pub fn time_text(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::AutoSi, false)
}

/// The value in its storage class, as the driver would bind it. `text` is a buffer for formatted values. `None` for a
/// type that no field has.
pub(super) fn to_sqlite<'v>(value: &'v Value, text: &'v mut String) -> Option<Stored<'v>> {
    Some(match value {
        Value::Bool(value) => value.map_or(Stored::Null, |value| Stored::Integer(value.into())),
        Value::SmallInt(value) => value.map_or(Stored::Null, |value| Stored::Integer(value.into())),
        Value::Int(value) => value.map_or(Stored::Null, |value| Stored::Integer(value.into())),
        Value::BigInt(value) => value.map_or(Stored::Null, Stored::Integer),
        Value::String(Some(value)) => Stored::Text(value.as_bytes()),
        Value::String(None) => Stored::Null,
        Value::ChronoDateTimeUtc(Some(value)) => {
            *text = time_text(*value);
            Stored::Text(text.as_bytes())
        }
        Value::ChronoDate(Some(value)) => {
            *text = value.format("%F").to_string();
            Stored::Text(text.as_bytes())
        }
        Value::ChronoTime(Some(value)) => {
            *text = value.format("%T%.f").to_string();
            Stored::Text(text.as_bytes())
        }
        Value::ChronoDateTime(Some(value)) => {
            *text = value.format("%F %T%.f").to_string();
            Stored::Text(text.as_bytes())
        }
        Value::Uuid(Some(value)) => Stored::Blob(value.as_bytes()),
        Value::Double(value) => value.map_or(Stored::Null, Stored::Real),
        Value::Bytes(Some(value)) => Stored::Blob(value),
        Value::Json(Some(value)) => {
            *text = value.to_string();
            Stored::Text(text.as_bytes())
        }
        Value::ChronoDateTimeUtc(None) | Value::ChronoDate(None) | Value::Uuid(None) => Stored::Null,
        Value::ChronoTime(None) | Value::ChronoDateTime(None) => Stored::Null,
        Value::Decimal(None) | Value::Json(None) | Value::Bytes(None) => Stored::Null,
        // Unscaled integer of the column's scale.
        Value::Decimal(Some(value)) => Stored::Integer(i64::try_from(value.mantissa()).ok()?),
        _ => return None,
    })
}

/// Values as one JSON array.
pub(super) struct List {
    pub text: String,
    /// Expression that converts an element of `json_each` to the bound value.
    pub element: &'static str,
}

/// The values as a JSON array for `json_each`. `None` if JSON cannot represent them.
pub(super) fn json_array(values: &[Value]) -> Option<List> {
    let (mut list, mut blobs) = (Vec::with_capacity(values.len()), 0);
    for value in values {
        let mut text = String::new();
        list.push(match to_sqlite(value, &mut text)? {
            Stored::Integer(number) => Json::from(number),
            // SQLite's JSON ends a text at a null character.
            Stored::Text(bytes) if !bytes.contains(&0) => Json::from(std::str::from_utf8(bytes).ok()?),
            Stored::Blob(bytes) => {
                blobs += 1;
                Json::from(hex::encode(bytes))
            }
            _ => return None,
        });
    }
    let element = match blobs {
        0 => "value",
        _ if blobs == list.len() => "unhex(value)",
        _ => return None,
    };
    Some(List { text: serde_json::to_string(&list).ok()?, element })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{Dialect, Sql};

    #[test]
    fn long_list_is_one_json_value_on_sqlite_if_json_can_represent_it() {
        let bound = |dialect, values: Vec<Value>| {
            let mut sql = Sql::new(dialect, "");
            sql.values_list(&values);
            sql.values
        };
        let numbers = |count: i64| (0..count).map(Value::from).collect::<Vec<_>>();
        assert_eq!(bound(Dialect::Sqlite, numbers(20)).len(), 20);
        assert_eq!(bound(Dialect::Postgres, numbers(21)).len(), 21);
        let list: Vec<String> = (0..21).map(|number| number.to_string()).collect();
        assert_eq!(bound(Dialect::Sqlite, numbers(21)), [format!("[{}]", list.join(",")).into()]);
        let mut uuids = vec![Value::from(uuid::Uuid::nil()); 21];
        let list = vec!["0".repeat(32); 21].join("\",\"");
        assert_eq!(bound(Dialect::Sqlite, uuids.clone()), [format!("[\"{list}\"]").into()]);
        uuids[0] = 1.into();
        assert_eq!(bound(Dialect::Sqlite, uuids).len(), 21, "the list has two types");
        let zeros = vec![Value::from("a\0b"); 21];
        assert_eq!(bound(Dialect::Sqlite, zeros).len(), 21, "JSON would cut the text at the null character");
    }
}
