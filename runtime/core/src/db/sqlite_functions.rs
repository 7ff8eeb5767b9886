//! SQL functions that the server registers on each SQLite connection. Migrations define them on PostgreSQL.
//!
//! - `charter_fold(text)`: the case-folded text, for every script. Orders and substring predicates use it, so that
//!   both databases find and sort alike.
//! - `charter_decimal(text)`: a decimal custom field as an integer scaled by 10^8, or NULL if the text is not a
//!   number.
//! - `charter_period(value, period, zone)`: the first day of the day, week, month or year with a date, or with a time in a
//!   time zone, as its number of days since 1970.

use std::ptr::NonNull;
use std::str::FromStr;

use chrono_tz::Tz;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;

use super::sqlite_value;
use crate::calendar::{Period, day_number};
use crate::number::{self, CUSTOM_DIGITS, CUSTOM_PLACES, Scaled};

/// Length of a stored date, `2026-03-21`. Times are longer.
const DATE_BYTES: usize = 10;

/// Case-folds text: lower case, with one form of sigma, because the choice of the final form depends on the context.
pub fn fold(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.to_lowercase().replace('ς', "σ") }
}

/// The text of a value. Numbers are formatted.
fn text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Text(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Null | ValueRef::Blob(_) => None,
    }
}

/// True for the stored format of decimal custom fields, as in PostgreSQL's expression.
fn is_stored_decimal(text: &str) -> bool {
    number::is_written_out(text, (CUSTOM_DIGITS - CUSTOM_PLACES) as usize, CUSTOM_PLACES as usize)
}

/// Registers the functions on an open connection of the driver.
pub(super) fn register(handle: NonNull<rusqlite::ffi::sqlite3>) -> rusqlite::Result<()> {
    // SAFETY: sqlx holds the connection locked for the length of this call and keeps it open afterwards;
    // `from_handle` borrows it (it does not close it), and the registered functions own all they use.
    register_on(&unsafe { rusqlite::Connection::from_handle(handle.as_ptr()) }?)
}

/// Registers the functions on a connection of rusqlite.
pub(super) fn register_on(connection: &rusqlite::Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("charter_fold", 1, flags, move |arguments| {
        Ok(text(arguments.get_raw(0)).map(|text| fold(&text)))
    })?;
    connection.create_scalar_function("charter_decimal", 1, flags, |arguments| {
        let text = text(arguments.get_raw(0)).filter(|text| is_stored_decimal(text));
        Ok(text.and_then(|text| match number::scale(&text, CUSTOM_PLACES) {
            Some(Scaled::Exact(value)) => Some(value),
            _ => None,
        }))
    })?;
    connection.create_scalar_function("charter_period", 3, flags, period)
}

/// `charter_period`.
fn period(arguments: &Context<'_>) -> rusqlite::Result<Option<i64>> {
    let wrong = |problem: &str| rusqlite::Error::UserFunctionError(problem.into());
    let value = arguments.get_raw(0);
    if value == ValueRef::Null {
        return Ok(None);
    }
    let (name, zone) = (arguments.get_raw(1).as_str()?, arguments.get_raw(2).as_str()?);
    let period = Period::from_name(name).ok_or_else(|| wrong("an unknown period"))?;
    let zone = Tz::from_str(zone).map_err(|_| wrong("an unknown time zone"))?;
    let day = match value {
        ValueRef::Text(bytes) if bytes.len() == DATE_BYTES => sqlite_value::date(value),
        value => sqlite_value::time(value).map(|time| time.with_timezone(&zone).date_naive()),
    };
    let day = day.map_err(|_| wrong("an unreadable date or time"))?;
    Ok(Some(day_number(period.start(day))))
}

#[cfg(test)]
mod tests {
    use super::{fold, is_stored_decimal};

    #[test]
    fn only_the_stored_format_is_a_decimal() {
        for text in ["0", "-12.5", "1234567890.00000001"] {
            assert!(is_stored_decimal(text), "{text}");
        }
        for text in
            ["+1", "1e3", " 7", "7 ", "", "-", ".5", "5.", "1.123456789", "12345678901", "92233720368", "true", "١"]
        {
            assert!(!is_stored_decimal(text), "{text}");
        }
    }

    #[test]
    fn folding_ignores_case_in_every_script() {
        assert_eq!(fold("LMP-1"), "lmp-1");
        assert_eq!(fold("Äpfel"), fold("ÄPFEL"));
        assert_eq!(fold("ΟΔΟΣ"), fold("οδος"));
        assert_eq!(fold("ЖУК"), "жук");
    }
}
