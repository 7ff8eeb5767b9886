//! The functions that SQLite lacks, registered on each of its connections; migrations define them on PostgreSQL.
//!
//! - `charter_fold(text)`: the text without regard to case, for every script. The order and the substring predicates
//!   compare what it answers, so that both databases find and sort alike.
//! - `charter_decimal(text)`: a decimal custom field as an integer scaled by 10^8; NULL when it is not a number.

use std::ptr::NonNull;

use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;

use crate::number::{self, CUSTOM_DIGITS, CUSTOM_PLACES, Scaled};

/// Text without regard to case: lower case, and one letter for both small sigmas, whose choice depends on what follows.
pub fn fold(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.to_lowercase().replace('ς', "σ") }
}

/// The text of a value; that of a number is how it is written.
fn text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Text(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Null | ValueRef::Blob(_) => None,
    }
}

/// Whether a text is written as decimal custom fields are stored: what PostgreSQL's expression takes too.
fn is_stored(text: &str) -> bool {
    number::is_written_out(text, (CUSTOM_DIGITS - CUSTOM_PLACES) as usize, CUSTOM_PLACES as usize)
}

/// Registers the functions on an open connection of the driver.
pub(super) fn register(handle: NonNull<rusqlite::ffi::sqlite3>) -> rusqlite::Result<()> {
    // SAFETY: sqlx holds the connection locked for the length of this call and keeps it open afterwards;
    // `from_handle` borrows it (it does not close it), and the registered functions own all they use.
    register_on(&unsafe { rusqlite::Connection::from_handle(handle.as_ptr()) }?)
}

/// The same on a connection that is not the driver's.
pub(super) fn register_on(connection: &rusqlite::Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("charter_fold", 1, flags, move |arguments| {
        Ok(text(arguments.get_raw(0)).map(|text| fold(&text)))
    })?;
    connection.create_scalar_function("charter_decimal", 1, flags, |arguments| {
        let text = text(arguments.get_raw(0)).filter(|text| is_stored(text));
        Ok(text.and_then(|text| match number::scale(&text, CUSTOM_PLACES) {
            Some(Scaled::Exact(value)) => Some(value),
            _ => None,
        }))
    })
}

#[cfg(test)]
mod tests {
    use super::{fold, is_stored};

    #[test]
    fn a_decimal_is_what_is_stored_as_one() {
        for text in ["0", "-12.5", "1234567890.00000001"] {
            assert!(is_stored(text), "{text}");
        }
        for text in
            ["+1", "1e3", " 7", "7 ", "", "-", ".5", "5.", "1.123456789", "12345678901", "92233720368", "true", "١"]
        {
            assert!(!is_stored(text), "{text}");
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
