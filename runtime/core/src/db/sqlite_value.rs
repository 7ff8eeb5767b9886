//! Decoders from SQLite's storage classes to field types, compatible with the driver's.

use std::fmt::Display;

use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};
use uuid::Uuid;

use super::Stored;
use crate::error::{Error, Result};

/// Formats of SQLite's own date functions, in addition to RFC 3339. All are UTC.
const TIME_FORMATS: [&str; 4] = ["%F %T%.f", "%FT%T%.f", "%F %R", "%FT%R"];

/// # Errors
/// The value is not text.
pub fn text(value: Stored<'_>) -> Result<&str> {
    match value {
        Stored::Text(bytes) | Stored::Blob(bytes) => std::str::from_utf8(bytes).map_err(Error::internal),
        other => Err(type_error("text", other.data_type())),
    }
}

/// # Errors
/// The value is not an integer.
pub(super) fn integer(value: Stored<'_>) -> Result<i64> {
    match value {
        Stored::Integer(number) => Ok(number),
        Stored::Real(number) => Ok(number as i64),
        other => text(other)?.parse().map_err(Error::internal),
    }
}

/// # Errors
/// The value is not a time.
pub(super) fn time(value: Stored<'_>) -> Result<DateTime<Utc>> {
    if let Stored::Integer(seconds) = value {
        return DateTime::from_timestamp(seconds, 0).ok_or_else(|| type_error("time", seconds));
    }
    let text = text(value)?;
    if let Some(time) = parse_own_format(text.as_bytes()) {
        return Ok(time);
    }
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Ok(time.to_utc());
    }
    let mut read = TIME_FORMATS.iter().filter_map(|format| NaiveDateTime::parse_from_str(text, format).ok());
    read.next().map(|time| time.and_utc()).ok_or_else(|| type_error("time", text))
}

/// Parses `2026-03-21T10:05:09.070+00:00`, the format that the server writes. Hand-written, because a list page has
/// some 40 of these.
fn parse_own_format(text: &[u8]) -> Option<DateTime<Utc>> {
    let (text, parts) = (text.strip_suffix(b"+00:00")?, text.split_at_checked(19)?.0);
    let number = |from: usize, to: usize| {
        let digits = parts.get(from..to)?;
        digits.iter().try_fold(0, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + u32::from(digit - b'0')))
    };
    let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    let nanos = match text.get(19..)? {
        [] => 0,
        [b'.', digits @ ..] if digits.len() <= 9 && digits.iter().all(u8::is_ascii_digit) => {
            digits.iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0')) * 10_u32.pow(9 - digits.len() as u32)
        }
        _ => return None,
    };
    let day = NaiveDate::from_ymd_opt(number(0, 4)? as i32, number(5, 7)?, number(8, 10)?)?;
    let time = day.and_hms_nano_opt(number(11, 13)?, number(14, 16)?, number(17, 19)?, nanos)?;
    separators.iter().all(|(at, separator)| parts[*at] == *separator).then(|| time.and_utc())
}

/// # Errors
/// The value is not a date.
pub(super) fn date(value: Stored<'_>) -> Result<NaiveDate> {
    text(value)?.parse().map_err(Error::internal)
}

/// # Errors
/// The value is not a UUID.
pub(super) fn uuid(value: Stored<'_>) -> Result<Uuid> {
    match value {
        Stored::Blob(bytes) => Uuid::from_slice(bytes).map_err(Error::internal),
        other => text(other)?.parse().map_err(Error::internal),
    }
}

fn type_error(expected_type: &str, stored: impl Display) -> Error {
    Error::internal(format!("expected {expected_type}, found {stored}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_read_in_every_stored_format() {
        let expected: DateTime<Utc> = "2026-03-21T10:05:00Z".parse().unwrap();
        for text in [
            "2026-03-21T10:05:00+00:00",
            "2026-03-21T10:05:00.000+00:00",
            "2026-03-21T10:05:00.000000000+00:00",
            "2026-03-21T12:05:00.000+02:00",
            "2026-03-21 10:05:00Z",
            "2026-03-21 10:05:00",
            "2026-03-21T10:05:00.000",
            "2026-03-21 10:05",
        ] {
            assert_eq!(time(Stored::Text(text.as_bytes())).unwrap(), expected, "{text}");
        }
        assert_eq!(time(Stored::Integer(expected.timestamp())).unwrap(), expected);
        assert!(time(Stored::Text(b"soon")).is_err());
    }

    #[test]
    fn value_of_another_type_is_an_error() {
        assert!(text(Stored::Integer(1)).is_err());
        assert!(text(Stored::Text(&[0xff])).is_err());
        assert!(integer(Stored::Text(b"one")).is_err());
        assert!(uuid(Stored::Blob(&[0; 15])).is_err());
        assert!(date(Stored::Text(b"2026-02-30")).is_err());
        assert_eq!(integer(Stored::Text(b"-7")).unwrap(), -7);
    }
}
