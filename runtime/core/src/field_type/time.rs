//! Values of the type `time`: times of day in whole seconds.

use std::io::Write;

use chrono::NaiveTime;
use sea_orm::Value;
use sea_orm::sea_query::{ArrayType, ColumnType};

use super::{Codec, stored};
use crate::db::{Stored, sqlite_text};
use crate::error::Error;

pub(super) static CODEC: Codec = Codec {
    column: ColumnType::Time,
    array: ArrayType::ChronoTime,
    null: Value::ChronoTime(None),
    read: |text| read(text).map(Value::from),
    stored: stored::<NaiveTime>,
    write: |out, cell| Ok(cell.read(decode)?.map(|time| drop(write!(out, "\"{}\"", time.format("%T"))))),
    text: |value| match value {
        Value::ChronoTime(Some(time)) => Some(time.format("%T").to_string()),
        _ => None,
    },
    order: |one, two| match (one, two) {
        (Value::ChronoTime(Some(one)), Value::ChronoTime(Some(two))) => Some(one.cmp(two)),
        _ => None,
    },
    now: None,
};

/// Decodes a time of day on SQLite, in one of the formats that the driver accepts.
fn decode(stored: Stored<'_>) -> Result<NaiveTime, Error> {
    let text = sqlite_text(stored)?;
    let read = NaiveTime::parse_from_str(text, "%T%.f").or_else(|_| NaiveTime::parse_from_str(text, "%R"));
    read.map_err(Error::internal)
}

/// Reads `14:30:00` or `14:30`.
fn read(text: &str) -> Result<NaiveTime, String> {
    let problem = || "must be a time of day such as 14:30:00".to_string();
    let part = |text: &str| match text.as_bytes() {
        [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => Some(u32::from(tens - b'0') * 10 + u32::from(ones - b'0')),
        _ => None,
    };
    let parts: Option<Vec<u32>> = text.trim().split(':').map(part).collect();
    let time = match parts.as_deref() {
        Some([hours, minutes]) => NaiveTime::from_hms_opt(*hours, *minutes, 0),
        Some([hours, minutes, seconds]) => NaiveTime::from_hms_opt(*hours, *minutes, *seconds),
        _ => None,
    };
    time.ok_or_else(problem)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn time_has_hours_and_minutes_and_no_zone() {
        assert_eq!(read(" 14:30 "), read("14:30:00"));
        assert!(read("00:00:00").is_ok() && read("23:59:59").is_ok());
        for bad in [
            "24:00:00",
            "23:59:60",
            "14",
            "9:30",
            "14:30:00.5",
            "14:30:00Z",
            "14:30:00+01:00",
            "2:30 pm",
            "１４:30",
            "",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
