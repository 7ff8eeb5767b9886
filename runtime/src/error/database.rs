//! What the database says, as what a client is told.

use std::borrow::Cow;

use sea_orm::error::ConnAcquireErr;
use sea_orm::sqlx::error::DatabaseError;
use sea_orm::sqlx::postgres::PgDatabaseError;
use sea_orm::{DbErr, RuntimeErr, SqlErr};

use super::Error;

/// What a foreign key that stands in the way comes to.
pub(crate) const REFERRED_TO: &str = "Another record still refers to this one, or the one it refers to is gone.";

impl From<DbErr> for Error {
    /// A database that cannot be reached is 503; a broken reference 409; all else is the server's fault.
    fn from(error: DbErr) -> Error {
        match error.sql_err() {
            Some(SqlErr::ForeignKeyConstraintViolation(_)) => {
                return Error::Conflict(REFERRED_TO.into());
            }
            Some(SqlErr::UniqueConstraintViolation(_)) => {
                return Error::Taken(violated(&error));
            }
            _ => {}
        }
        if is_restricted(&error) {
            return Error::Conflict(REFERRED_TO.into());
        }
        if is_ended(&error) {
            return Error::too_long();
        }
        if is_lost(&error) {
            return Error::Unavailable(INDEXED_ANEW.into());
        }
        if let Some((name, sqlstate)) = database_code(&error).and_then(|code| conflict(&code)) {
            tracing::warn!(%error, sqlstate, "{name}");
            return Error::Unavailable("Others are changing the same records. Try again in a moment.".into());
        }
        if is_outdated(&error) {
            return Error::Unavailable("The tables have just been changed. Try again in a moment.".into());
        }
        let away = match &error {
            DbErr::ConnectionAcquire(ConnAcquireErr::Timeout) => {
                tracing::warn!("no connection to the database was free in time");
                return Error::Unavailable("The database is busy, or cannot be reached. Try again in a moment.".into());
            }
            DbErr::ConnectionAcquire(_) | DbErr::Conn(_) => true,
            DbErr::Exec(RuntimeErr::SqlxError(e)) | DbErr::Query(RuntimeErr::SqlxError(e)) => is_away(e),
            _ => false,
        };
        if away {
            tracing::warn!(%error, "the database is away");
            Error::Unavailable(
                "The database cannot be reached or written, or has no room. Try again in a moment.".into(),
            )
        } else {
            Error::internal(error)
        }
    }
}

/// Whether the database ended the statement because of the time that it took: PostgreSQL's `query_canceled`, SQLite's
/// `SQLITE_INTERRUPT`.
fn is_ended(error: &DbErr) -> bool {
    database_code(error).is_some_and(|code| matches!(&*code, "57014" | "9"))
}

/// How the tables of indexes of substrings of SQLite are called.
pub(crate) const SEARCH: &str = "charter_search_";

/// What a request is told whose index of substrings has gone meanwhile.
pub(crate) const INDEXED_ANEW: &str = "What is searched is being indexed anew. Try again in a moment.";

/// Whether an index of substrings of SQLite, or what keeps it, has gone between two statements of a request.
fn is_lost(error: &DbErr) -> bool {
    let is_gone = |message: &str| {
        let what = message.strip_prefix("no such table: ").or(message.strip_prefix("no such column: "));
        what.is_some_and(|what| what.starts_with(SEARCH))
    };
    is_changing(error) || said(error).is_some_and(|error| is_gone(error.message()))
}

/// Whether SQLite could not open an index of substrings, because another connection changed the tables meanwhile, and again
/// (`SQLITE_SCHEMA`). Nothing was read; the next try may find them at rest.
pub(crate) fn is_changing(error: &DbErr) -> bool {
    database_code(error).is_some_and(|code| code == "17")
}

/// The unique index that a row stood in the way of. SQLite says which columns it is over: its name follows from them.
fn violated(error: &DbErr) -> String {
    let Some(said) = said(error) else { return String::new() };
    match (said.constraint(), said.message().split_once("constraint failed: ")) {
        (Some(name), _) => name.to_string(),
        (None, Some((_, columns))) => {
            let table = columns.split('.').next().unwrap_or_default();
            let columns = columns.split(", ").filter_map(|column| column.split_once('.'));
            columns.fold(table.to_string(), |name, (_, column)| format!("{name}_{column}")) + "_key"
        }
        (None, None) => String::new(),
    }
}

/// The code in which the database says what is wrong with a statement.
fn database_code(error: &DbErr) -> Option<Cow<'_, str>> {
    said(error).and_then(|error| error.code())
}

/// What the database says of a statement.
fn said(error: &DbErr) -> Option<&dyn DatabaseError> {
    match error {
        DbErr::Exec(RuntimeErr::SqlxError(error)) | DbErr::Query(RuntimeErr::SqlxError(error)) => {
            error.as_database_error()
        }
        _ => None,
    }
}

/// Whether PostgreSQL refused a statement that was prepared for other tables, and has done nothing. The message is in the
/// language of the database, and the code that of everything that it cannot do.
pub(crate) fn is_outdated(error: &DbErr) -> bool {
    let said = said(error).and_then(|error| error.try_downcast_ref::<PgDatabaseError>());
    said.is_some_and(|said| said.routine() == Some("RevalidateCachedQuery"))
}

/// Whether a record was kept because of `ON DELETE RESTRICT`, in the codes that SeaORM does not know: SQLite's, and that
/// of PostgreSQL from 18 on.
fn is_restricted(error: &DbErr) -> bool {
    database_code(error).is_some_and(|code| matches!(&*code, "1811" | "23001"))
}

/// The name of a conflict between transactions, after which the client should retry, and its SQLSTATE; `SQLITE_BUSY` has none.
fn conflict(code: &str) -> Option<(&'static str, Option<&'static str>)> {
    match code {
        "40001" => Some(("serialization failure", Some("40001"))),
        "40P01" => Some(("deadlock detected", Some("40P01"))),
        "5" => Some(("SQLite is busy", None)),
        _ => None,
    }
}

/// Whether the connection, or the database as a whole, failed, and not the statement.
fn is_away(error: &sea_orm::SqlxError) -> bool {
    use sea_orm::SqlxError as E;
    match error {
        E::Io(_) | E::Tls(_) | E::PoolTimedOut | E::PoolClosed | E::WorkerCrashed => true,
        E::Database(e) => e.code().is_some_and(|code| is_of_the_database(&code)),
        _ => false,
    }
}

/// PostgreSQL's classes of a connection that fails (08, also a pooler's word for it), of what is used up (53), of an
/// intervention such as a shutdown or a limit of idle sessions (57P), a standby that takes no writes (25006); SQLite's
/// full and failing disk, a file that cannot be written, and one that cannot be opened, as where no more may be (13, 10, 8, 14,
/// with what it was doing above the byte).
fn is_of_the_database(code: &str) -> bool {
    match code.len() {
        5 => ["08", "53", "57P"].iter().any(|class| code.starts_with(class)) || code == "25006",
        _ => code.parse::<i32>().is_ok_and(|code| matches!(code & 0xff, 8 | 10 | 13 | 14)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_as_a_whole_is_told_from_what_a_statement_did() {
        // A pooler without its server, no connection left, no disk, a shutdown, an idle session, a standby; SQLite's full
        // disk, its failing disk, and the same while it wrote; a file that is only read, and one that cannot be opened.
        for code in
            ["08006", "08P01", "53300", "53100", "57P01", "57P05", "25006", "13", "10", "778", "8", "1032", "14"]
        {
            assert!(is_of_the_database(code), "{code}");
        }
        for code in ["57014", "23505", "42P01", "22001", "40001", "25P02", "1", "5", "9", "19", "2067"] {
            assert!(!is_of_the_database(code), "{code}");
        }
    }

    #[test]
    fn conflict_between_transactions_is_logged_by_its_name_and_sqlstate() {
        assert_eq!(conflict("40P01"), Some(("deadlock detected", Some("40P01"))));
        assert_eq!(conflict("40001"), Some(("serialization failure", Some("40001"))));
        assert_eq!(conflict("5"), Some(("SQLite is busy", None)));
        for other in ["23505", "57014", "1", "9"] {
            assert_eq!(conflict(other), None, "{other}");
        }
    }
}
