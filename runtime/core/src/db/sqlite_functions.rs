//! SQL functions that the server registers on each SQLite connection. Migrations define them on PostgreSQL.
//!
//! - `charter_fold(text)`: the case-folded text, for every script. Orders and substring predicates use it, so that
//!   both databases find and sort alike.
//! - `charter_decimal(text)`: a decimal custom field as an integer scaled by 10^8, or NULL if the text is not a
//!   number.

use std::ptr::NonNull;

use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;

use crate::number::{self, CUSTOM_DIGITS, CUSTOM_PLACES, Scaled};

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
    })
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
