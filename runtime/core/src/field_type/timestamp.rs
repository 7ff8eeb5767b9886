//! Values of the type `timestamp`: points in time. JSON writes them in the form of their field.

use chrono::{DateTime, Datelike, SubsecRound, Timelike, Utc};
use sea_orm::Value;
use sea_orm::sea_query::{ArrayType, ColumnType};

use super::{Codec, stored, write_timestamp};
use crate::meta::TimestampForm;

pub(super) static CODEC: Codec = Codec {
    column: ColumnType::TimestampWithTimeZone,
    array: ArrayType::ChronoDateTimeUtc,
    null: Value::ChronoDateTimeUtc(None),
    read: |text| read_time(text).map(Value::from),
    stored: stored::<DateTime<Utc>>,
    write: |out, cell| {
        Ok(cell.time()?.map(|time| {
            out.push(b'"');
            write_timestamp(out, time, TimestampForm::Millis);
            out.push(b'"');
        }))
    },
    text: |value| match value {
        // A year that JSON cannot hold stays what it is, so that it is refused.
        Value::ChronoDateTimeUtc(Some(time)) if !YEARS.contains(&time.year()) => Some(time.to_rfc3339()),
        Value::ChronoDateTimeUtc(Some(time)) => {
            let mut text = Vec::new();
            write_timestamp(&mut text, *time, TimestampForm::Millis);
            Some(String::from_utf8_lossy(&text).into_owned())
        }
        _ => None,
    },
    order: |one, two| match (one, two) {
        (Value::ChronoDateTimeUtc(Some(one)), Value::ChronoDateTimeUtc(Some(two))) => Some(one.cmp(two)),
        _ => None,
    },
    now: Some(Value::from),
};

/// Years with more than four digits do not sort as text.
const YEARS: std::ops::RangeInclusive<i32> = 1..=9999;

/// Reads an RFC 3339 time with any offset, truncated to milliseconds.
fn read_time(text: &str) -> Result<DateTime<Utc>, String> {
    read_instant(text).map(|time| time.trunc_subsecs(3))
}

/// Reads an RFC 3339 time with any offset. A leap second becomes the first second of the next minute, because neither
/// database has leap seconds.
pub fn read_instant(text: &str) -> Result<DateTime<Utc>, String> {
    let problem = || "must be an RFC 3339 timestamp such as 2026-03-21T10:00:00Z".to_string();
    let text = text.trim();
    // The `+` of an offset that was not escaped in the query string arrives as a space.
    let repaired = match text.len().checked_sub(6).and_then(|at| Some((text.get(..at)?, text.get(at..)?))) {
        Some((time, offset)) if offset.starts_with(' ') && offset.contains(':') => format!("{time}+{}", &offset[1..]),
        _ => text.to_string(),
    };
    // The parser also accepts non-ASCII signs in offsets, which RFC 3339 does not.
    let read = DateTime::parse_from_rfc3339(&repaired).ok().filter(|_| repaired.is_ascii());
    let time = read.ok_or_else(problem)?.with_timezone(&Utc);
    let (over, nanoseconds) = (time.nanosecond() / 1_000_000_000, time.nanosecond() % 1_000_000_000);
    // A leap second is the last second of a day.
    if over > 0 && (time.hour(), time.minute()) != (23, 59) {
        return Err(problem());
    }
    let time = DateTime::from_timestamp(time.timestamp() + i64::from(over), nanoseconds).ok_or_else(problem)?;
    if YEARS.contains(&time.year()) { Ok(time) } else { Err("must be of the years 0001 to 9999, in UTC".into()) }
}

#[cfg(test)]
mod tests {
    use super::read_time;

    #[test]
    fn timestamp_needs_an_offset_and_a_four_digit_year() {
        assert!(read_time("2026-01-09T00:00:00Z").is_ok());
        assert_eq!(read_time("2026-01-09T02:00:00+02:00"), read_time("2026-01-09T00:00:00Z"));
        assert_eq!(read_time("2026-01-09T02:00:00 02:00"), read_time("2026-01-09T00:00:00Z"));
        assert_eq!(read_time("2016-12-31T23:59:60.5Z"), read_time("2017-01-01T00:00:00.5Z"));
        for bad in [
            "9999-12-31T23:59:60Z",
            "2016-12-31T10:30:60Z",
            "2016-12-31T10:30:00\u{2212}02:00",
            "2026-01-09",
            "2026-01-09T00:00:00",
            "+12026-01-09T00:00:00Z",
            "now",
            "",
        ] {
            assert!(read_time(bad).is_err(), "{bad}");
        }
    }
}
