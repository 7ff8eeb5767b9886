//! Values of the type `date`: calendar days.

use std::io::Write;

use chrono::{Datelike, NaiveDate};
use sea_orm::Value;
use sea_orm::sea_query::{ArrayType, ColumnType};

use super::{Codec, stored};

pub(super) static CODEC: Codec = Codec {
    column: ColumnType::Date,
    array: ArrayType::ChronoDate,
    null: Value::ChronoDate(None),
    read: |text| read(text).map(Value::from),
    stored: stored::<NaiveDate>,
    write: |out, cell| Ok(cell.date()?.map(|date| drop(write!(out, "\"{date}\"")))),
    text: |value| match value {
        Value::ChronoDate(Some(date)) => Some(date.to_string()),
        _ => None,
    },
    order: |one, two| match (one, two) {
        (Value::ChronoDate(Some(one)), Value::ChronoDate(Some(two))) => Some(one.cmp(two)),
        _ => None,
    },
    now: Some(|now| now.date_naive().into()),
};

fn read(text: &str) -> Result<NaiveDate, String> {
    let text = text.trim();
    // chrono also accepts one-digit months and days and padding spaces, which ten digits and dashes exclude.
    let written = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().filter(|d| written && (1..=9999).contains(&d.year()));
    date.ok_or_else(|| "must be a date such as 2026-03-21".into())
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn date_must_have_ten_characters() {
        assert!(read(" 2026-02-28 ").is_ok());
        for bad in ["2026-2-28", "+2026-02-28", "2026- 2-28", "2026-02-30", "0000-01-01", "26-02-28", "+026-02-28"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
