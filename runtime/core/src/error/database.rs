//! Conversion of database errors into errors of requests.

use std::borrow::Cow;

use sea_orm::error::ConnAcquireErr;
use sea_orm::sqlx::error::DatabaseError;
use sea_orm::sqlx::postgres::PgDatabaseError;
use sea_orm::{DbErr, RuntimeErr, SqlErr};

use super::Error;

/// Message of a foreign key violation.
pub const FOREIGN_KEY_MESSAGE: &str =
    "Another record still refers to this one, or this one refers to a record that no longer exists.";

/// Message with which a trigger of SQLite refuses a sum out of its range.
pub const ROLLUP_RANGE: &str = "charter_rollup_range";

impl From<DbErr> for Error {
    /// Constraint violations are 409. Timeouts, conflicts between transactions and an unavailable database are 503. Everything else
    /// is 500.
    fn from(error: DbErr) -> Error {
        match error.sql_err() {
            Some(SqlErr::ForeignKeyConstraintViolation(_)) => {
                return Error::Conflict(FOREIGN_KEY_MESSAGE.into());
            }
            Some(SqlErr::UniqueConstraintViolation(_)) => {
                return Error::UniqueViolation(violated_index(&error));
            }
            _ => {}
        }
        if is_rollup_out_of_range(&error) {
            return Error::Conflict("A sum of another record would be larger than it can be.".into());
        }
        if is_restrict_violation(&error) {
            return Error::Conflict(FOREIGN_KEY_MESSAGE.into());
        }
        if is_canceled(&error) {
            return Error::too_long();
        }
        if database_code(&error).is_some_and(|code| code == "55P03") {
            tracing::warn!("timed out waiting for a lock");
            return Error::Unavailable(LOCKED.into());
        }
        if is_search_index_missing(&error) {
            return Error::Unavailable(INDEX_REBUILDING.into());
        }
        if let Some((name, sqlstate)) = database_code(&error).and_then(|code| transaction_conflict(&code)) {
            tracing::warn!(%error, sqlstate, "{name}");
            return Error::Unavailable("Other requests are changing the same records. Try again in a moment.".into());
        }
        if is_stale_statement(&error) {
            return Error::Unavailable("The database schema has just changed. Try again in a moment.".into());
        }
        let is_unavailable = match &error {
            DbErr::ConnectionAcquire(ConnAcquireErr::Timeout) => {
                tracing::warn!("timed out waiting for a database connection");
                return Error::Unavailable("The database is busy or cannot be reached. Try again in a moment.".into());
            }
            DbErr::ConnectionAcquire(_) | DbErr::Conn(_) => true,
            DbErr::Exec(RuntimeErr::SqlxError(e)) | DbErr::Query(RuntimeErr::SqlxError(e)) => is_connection_failure(e),
            _ => false,
        };
        if is_unavailable {
            tracing::warn!(%error, "database unavailable");
            Error::Unavailable(
                "The database cannot be reached or written, or its disk is full. Try again in a moment.".into(),
            )
        } else {
            Error::internal(error)
        }
    }
}

/// Message of a request that waited for a lock of another transaction (`lock_not_available` of PostgreSQL).
const LOCKED: &str = "Another request or program has locked the record. Try again in a moment.";

/// True if the database canceled the statement after its timeout: `query_canceled` of PostgreSQL, `SQLITE_INTERRUPT`.
fn is_canceled(error: &DbErr) -> bool {
    database_code(error).is_some_and(|code| matches!(&*code, "57014" | "9"))
}

/// Prefix of the FTS tables on SQLite.
pub const SEARCH_TABLE_PREFIX: &str = "charter_search_";

/// Message of a request whose FTS index was dropped while it ran.
pub const INDEX_REBUILDING: &str = "The search index is being rebuilt. Try again in a moment.";

/// True if an FTS table of SQLite, or its shadow tables, was dropped between two statements of a request.
fn is_search_index_missing(error: &DbErr) -> bool {
    let is_missing = |message: &str| {
        let name = message.strip_prefix("no such table: ").or(message.strip_prefix("no such column: "));
        name.is_some_and(|name| name.starts_with(SEARCH_TABLE_PREFIX))
    };
    is_schema_changing(error) || statement_error(error).is_some_and(|error| is_missing(error.message()))
}

/// True if SQLite could not open an FTS table because other connections kept changing the schema (`SQLITE_SCHEMA`). Nothing was
/// read, and the statement can be retried.
pub fn is_schema_changing(error: &DbErr) -> bool {
    database_code(error).is_some_and(|code| code == "17")
}

/// The name of the violated unique index. SQLite reports its columns, from which the name is derived.
fn violated_index(error: &DbErr) -> String {
    let Some(error) = statement_error(error) else { return String::new() };
    match (error.constraint(), error.message().split_once("constraint failed: ")) {
        (Some(name), _) => name.to_string(),
        (None, Some((_, columns))) => {
            let table = columns.split('.').next().unwrap_or_default();
            let columns = columns.split(", ").filter_map(|column| column.split_once('.'));
            columns.fold(table.to_string(), |name, (_, column)| format!("{name}_{column}")) + "_key"
        }
        (None, None) => String::new(),
    }
}

/// The SQLSTATE, or the result code of SQLite.
fn database_code(error: &DbErr) -> Option<Cow<'_, str>> {
    statement_error(error).and_then(|error| error.code())
}

/// The database's error about a statement.
fn statement_error(error: &DbErr) -> Option<&dyn DatabaseError> {
    match error {
        DbErr::Exec(RuntimeErr::SqlxError(error)) | DbErr::Query(RuntimeErr::SqlxError(error)) => {
            error.as_database_error()
        }
        _ => None,
    }
}

/// True if PostgreSQL refused a prepared statement after a schema change ("cached plan must not change result type"). Its message is
/// localized, and its SQLSTATE is shared with other errors; the routine identifies it.
pub fn is_stale_statement(error: &DbErr) -> bool {
    let error = statement_error(error).and_then(|error| error.try_downcast_ref::<PgDatabaseError>());
    error.is_some_and(|error| error.routine() == Some("RevalidateCachedQuery"))
}

/// True if a trigger would set a rollup to a number that its column cannot hold. PostgreSQL says in which function an
/// expression failed.
fn is_rollup_out_of_range(error: &DbErr) -> bool {
    let Some(error) = statement_error(error) else { return false };
    let context = error.try_downcast_ref::<PgDatabaseError>().and_then(|error| error.r#where());
    let is_in_trigger = context.is_some_and(|context| context.contains("charter_rollup_"));
    error.message() == ROLLUP_RANGE || is_in_trigger && error.code().is_some_and(|code| code == "22003")
}

/// True if `ON DELETE RESTRICT` refused the statement, by codes that SeaORM does not know: SQLite's, and PostgreSQL's since 18.
fn is_restrict_violation(error: &DbErr) -> bool {
    database_code(error).is_some_and(|code| matches!(&*code, "1811" | "23001"))
}

/// The name and SQLSTATE of a conflict between transactions, after which the client should retry. `SQLITE_BUSY` has no SQLSTATE.
fn transaction_conflict(code: &str) -> Option<(&'static str, Option<&'static str>)> {
    match code {
        "40001" => Some(("serialization failure", Some("40001"))),
        "40P01" => Some(("deadlock detected", Some("40P01"))),
        "5" => Some(("SQLite is busy", None)),
        _ => None,
    }
}

/// Failure of the database that a failed statement or connection attempt reveals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseFailure {
    ConnectionLost,
    ReadOnly,
    DiskFull,
}

/// The failure of the database that caused an error, if any.
pub fn database_failure(error: &DbErr) -> Option<DatabaseFailure> {
    match database_code(error).as_deref() {
        Some("25006") => Some(DatabaseFailure::ReadOnly),
        Some("53100") => Some(DatabaseFailure::DiskFull),
        Some(code) if code.len() == 5 => {
            (code.starts_with("08") || code.starts_with("57P")).then_some(DatabaseFailure::ConnectionLost)
        }
        // Result codes of SQLite, in the lowest byte of the extended code: SQLITE_READONLY and SQLITE_FULL.
        Some(code) => match code.parse::<i32>().ok()? & 0xff {
            8 => Some(DatabaseFailure::ReadOnly),
            13 => Some(DatabaseFailure::DiskFull),
            _ => None,
        },
        None => {
            let is_lost = match error {
                DbErr::ConnectionAcquire(_) | DbErr::Conn(_) => true,
                DbErr::Exec(RuntimeErr::SqlxError(e)) | DbErr::Query(RuntimeErr::SqlxError(e)) => {
                    is_connection_failure(e)
                }
                _ => false,
            };
            is_lost.then_some(DatabaseFailure::ConnectionLost)
        }
    }
}

/// True if the connection or the database failed, and not the statement.
fn is_connection_failure(error: &sea_orm::SqlxError) -> bool {
    use sea_orm::SqlxError as E;
    match error {
        E::Io(_) | E::Tls(_) | E::PoolTimedOut | E::PoolClosed | E::WorkerCrashed => true,
        E::Database(e) => e.code().is_some_and(|code| is_database_unavailable(&code)),
        _ => false,
    }
}

/// PostgreSQL: connection failures, also those of a pooler (class 08), exhausted resources (53), operator interventions such as a
/// shutdown (57P), and the read-only transactions of a standby (25006). SQLite: read-only file (8), I/O error (10), full disk
/// (13), and a file that cannot be opened (14), each in the lowest byte of the extended code.
fn is_database_unavailable(code: &str) -> bool {
    match code.len() {
        5 => ["08", "53", "57P"].iter().any(|class| code.starts_with(class)) || code == "25006",
        _ => code.parse::<i32>().is_ok_and(|code| matches!(code & 0xff, 8 | 10 | 13 | 14)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_the_database_are_distinguished_from_those_of_a_statement() {
        for code in
            ["08006", "08P01", "53300", "53100", "57P01", "57P05", "25006", "13", "10", "778", "8", "1032", "14"]
        {
            assert!(is_database_unavailable(code), "{code}");
        }
        for code in ["57014", "23505", "42P01", "22001", "40001", "25P02", "1", "5", "9", "19", "2067"] {
            assert!(!is_database_unavailable(code), "{code}");
        }
    }

    #[test]
    fn transaction_conflict_has_a_name_and_an_sqlstate() {
        assert_eq!(transaction_conflict("40P01"), Some(("deadlock detected", Some("40P01"))));
        assert_eq!(transaction_conflict("40001"), Some(("serialization failure", Some("40001"))));
        assert_eq!(transaction_conflict("5"), Some(("SQLite is busy", None)));
        for other in ["23505", "57014", "1", "9"] {
            assert_eq!(transaction_conflict(other), None, "{other}");
        }
    }
}
