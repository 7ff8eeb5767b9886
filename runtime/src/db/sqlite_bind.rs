//! Values as SQLite stores them when they are bound, one by one or as a list.

use chrono::{DateTime, SecondsFormat, Utc};
use sea_orm::Value;
use serde_json::Value as Json;

use super::Stored;

/// A time as SQLite stores it, which PostgreSQL reads as well.
pub fn time_text(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::AutoSi, false)
}

/// The value that the driver would bind, written into `text` where it is one; `None` for a type that no field has.
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
        Value::Uuid(Some(value)) => Stored::Blob(value.as_bytes()),
        Value::Double(value) => value.map_or(Stored::Null, Stored::Real),
        Value::Bytes(Some(value)) => Stored::Blob(value),
        Value::Json(Some(value)) => {
            *text = value.to_string();
            Stored::Text(text.as_bytes())
        }
        Value::ChronoDateTimeUtc(None) | Value::ChronoDate(None) | Value::Uuid(None) => Stored::Null,
        Value::Decimal(None) | Value::Json(None) | Value::Bytes(None) => Stored::Null,
        // An integer that counts the column's last place.
        Value::Decimal(Some(value)) => Stored::Integer(i64::try_from(value.mantissa()).ok()?),
        _ => return None,
    })
}

/// Values as one text of JSON.
pub(super) struct List {
    pub text: String,
    /// What makes an element of `json_each` what would be bound.
    pub element: &'static str,
}

/// The values as a list that `json_each` reads; nothing where JSON has none of that kind.
pub(super) fn json_array(values: &[Value]) -> Option<List> {
    let (mut list, mut blobs) = (Vec::with_capacity(values.len()), 0);
    for value in values {
        let mut text = String::new();
        list.push(match to_sqlite(value, &mut text)? {
            Stored::Integer(number) => Json::from(number),
            // SQLite ends a text of JSON at a zero.
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
    fn a_long_list_is_one_value_on_sqlite_where_json_has_its_like() {
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
        assert_eq!(bound(Dialect::Sqlite, uuids).len(), 21, "they are of two kinds");
        let zeros = vec![Value::from("a\0b"); 21];
        assert_eq!(bound(Dialect::Sqlite, zeros).len(), 21, "what stands behind the zero would be lost");
    }
}
