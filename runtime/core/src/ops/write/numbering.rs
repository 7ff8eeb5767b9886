//! Numbers of fields with `sequence`: the next free one of a counter, by table, field and period.
//!
//! On PostgreSQL, a fast counter is advanced by a statement of its own, on a connection for reads, which no writer can use
//! up: a transaction that waits keeps no other from its number. A gapless counter, and every one on SQLite, is advanced in the
//! transaction of the record.

use charter_model::sequence::{Frame, SequenceFormat};
use chrono::Datelike;
use sea_orm::Value;

use crate::catalog::Entry;
use crate::db::{Connection, Dialect, Sql};
use crate::error::{Error, Result};
use crate::meta::{FieldMeta, Kind, Numbering};
use crate::ops::Context;
use crate::ops::company_zone::company_zone;
use crate::ops::input::changeset::Changes;

/// Taken numbers in a row that are tried one by one, before the counter continues after the greatest number.
const MAX_TRIES: usize = 20;

/// Sets the numbers of a new record that neither the client nor a hook has set.
///
/// # Errors
/// [`Error::Conflict`] if the next number is longer than the field.
pub async fn assign(context: &Context<'_>, entry: &Entry, changes: &mut Changes) -> Result<()> {
    for field in entry.meta.fields.iter().filter(|field| !field.sequence.is_empty()) {
        let is_given = |value: &Value| match value {
            Value::String(Some(text)) => !text.trim().is_empty(),
            other => *other != other.as_null(),
        };
        if !changes.get(field.name).is_some_and(is_given) {
            changes.set(field.name, next(context, entry, field).await?.into());
        }
    }
    Ok(())
}

async fn next(context: &Context<'_>, entry: &Entry, field: &'static FieldMeta) -> Result<String> {
    let format = SequenceFormat::read(field.sequence).map_err(Error::internal)?;
    let now = context.now().with_timezone(&company_zone(context.state()).await?);
    let frame = format.frame(now.year(), now.month());
    let Frame { before, after, .. } = &frame;
    // No format has a brace in its text.
    let counter = format!("{}.{} {before}{{}}{after}", entry.meta.table, field.name);
    let db = context.state().db.dialect();
    let connection = match (db, field.numbering) {
        (Dialect::Postgres, Numbering::Fast) => context.state().db.reader(),
        _ => context.db(),
    };
    for tries in 0.. {
        let advanced = if tries < MAX_TRIES { advance(connection, db, &counter).await? } else { None };
        let number = match advanced {
            Some(number) => number,
            None => {
                let greatest = greatest(context, entry, field, &frame).await?;
                advance_beyond(connection, db, &counter, greatest).await?
            }
        };
        let text = frame.text(number);
        if matches!(field.kind, Kind::String { max } if text.chars().count() > max as usize) {
            return Err(Error::Conflict(format!("The next number, {text}, is longer than {} can be.", field.name)));
        }
        if !is_taken(context, entry, field, &text).await? {
            return Ok(text);
        }
    }
    Err(Error::internal("the numbers have an end"))
}

/// Advances a counter. `None` if it does not exist.
async fn advance(connection: &Connection, dialect: Dialect, counter: &str) -> Result<Option<i64>> {
    let mut sql =
        Sql::new(dialect, "UPDATE \"record_numbers\" SET \"last_number\" = \"last_number\" + 1 WHERE \"counter\" = ");
    sql.bind(counter).push(" RETURNING \"last_number\"");
    let row = sql.one(connection).await?;
    Ok(row.map(|row| row.try_get("", "last_number")).transpose()?)
}

/// Advances a counter to at least one more than a number, and creates it if it does not exist.
async fn advance_beyond(connection: &Connection, dialect: Dialect, counter: &str, number: i64) -> Result<i64> {
    let mut sql = Sql::new(dialect, "INSERT INTO \"record_numbers\" AS n (\"counter\", \"last_number\") VALUES (");
    sql.bind(counter).push(", ").bind(number + 1);
    sql.push(") ON CONFLICT (\"counter\") DO UPDATE SET \"last_number\" = CASE WHEN n.\"last_number\" < ").bind(number);
    sql.push(" THEN ").bind(number).push(" ELSE n.\"last_number\" END + 1 RETURNING \"last_number\"");
    let row = sql.one(connection).await?.ok_or_else(|| Error::internal("the counter returned no row"))?;
    Ok(row.try_get("", "last_number")?)
}

/// The greatest number of the frame in the table, deleted records included; 0 if there is none. It reads the whole table,
/// which happens once for each period, and after [`MAX_TRIES`] taken numbers in a row.
async fn greatest(context: &Context<'_>, entry: &Entry, field: &FieldMeta, frame: &Frame) -> Result<i64> {
    let length = |text: &str| i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let (before, after) = (length(&frame.before), length(&frame.after));
    let column = format!("t.\"{}\"", field.name);
    let dialect = context.state().db.dialect();
    let mut sql = Sql::new(dialect, "SELECT MAX(CAST(\"digits\" AS BIGINT)) AS \"greatest\" FROM (SELECT ");
    let rest = format!("substr({column}, {})", before + 1);
    match (after, dialect) {
        (0, _) => sql.push(&rest),
        (_, Dialect::Postgres) => sql.push(&format!("left({rest}, -{after})")),
        (_, Dialect::Sqlite) => sql.push(&format!("substr({rest}, 1, length({rest}) - {after})")),
    };
    sql.push(" AS \"digits\" FROM ").name(entry.meta.table).push(" AS t WHERE length(").push(&column);
    sql.push(&format!(") > {} AND substr({column}, 1, {before}) = ", before + after)).bind(frame.before.as_str());
    if after > 0 {
        match dialect {
            Dialect::Postgres => sql.push(&format!(" AND right({column}, {after}) = ")),
            Dialect::Sqlite => sql.push(&format!(" AND substr({column}, -{after}) = ")),
        };
        sql.bind(frame.after.as_str());
    }
    // The next number must fit the field: one that a client has set by hand may be the last.
    let most = match field.kind {
        Kind::String { max } => (i64::from(max) - before - after).clamp(1, 18),
        _ => 18,
    };
    sql.push(&format!(") AS \"numbers\" WHERE length(\"digits\") BETWEEN 1 AND {most} AND "));
    sql.push(&format!("\"digits\" <> '{}' AND ", "9".repeat(most as usize)));
    sql.push(match dialect {
        Dialect::Postgres => "\"digits\" ~ '^[0-9]+$'",
        Dialect::Sqlite => "\"digits\" NOT GLOB '*[^0-9]*'",
    });
    let row = sql.one(context.read_connection()).await?;
    let greatest: Option<i64> = row.map(|row| row.try_get("", "greatest")).transpose()?.flatten();
    Ok(greatest.unwrap_or_default())
}

/// True if a record has this number, a deleted one included.
async fn is_taken(context: &Context<'_>, entry: &Entry, field: &FieldMeta, text: &str) -> Result<bool> {
    let mut sql = Sql::new(context.state().db.dialect(), "SELECT 1 FROM ");
    sql.name(entry.meta.table).push(" WHERE ").name(field.name).push(" = ").bind(text).push(" LIMIT 1");
    Ok(sql.one(context.read_connection()).await?.is_some())
}
