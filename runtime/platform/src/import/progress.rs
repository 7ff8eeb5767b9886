//! The progress of an import and its report, written in the transaction of a portion.

use charter_core::db::{Connection, Sql};
use charter_core::error::{Error, FieldErrors, Result};
use charter_core::ops::{Context, State};
use sea_orm::EntityTrait;
use serde_json::{Value, json};

use super::record::{DONE, Entity, Model, RUNNING};
use crate::lease::{Claim, LEASE};

/// The counts of outcomes, each with its column.
const COUNTS: [(&str, &str); 6] = [
    ("created", "created_count"),
    ("changed", "changed_count"),
    ("unchanged", "unchanged_count"),
    ("refused", "refused_count"),
    ("undone", "undone_count"),
    ("left", "left_count"),
];

/// One line of the report.
#[derive(Debug)]
pub(super) struct Line {
    pub number: i64,
    pub outcome: &'static str,
    pub record_id: Option<i64>,
    pub errors: Value,
}

impl Line {
    pub(super) fn new(number: i64, outcome: &'static str, record_id: Option<i64>) -> Line {
        Line { number, outcome, record_id, errors: json!({}) }
    }

    pub(super) fn refused(number: i64, errors: FieldErrors) -> Line {
        Line { number, outcome: "refused", record_id: None, errors: errors_json(errors) }
    }
}

/// Messages by field, as the API shows them.
pub(super) fn errors_json(errors: FieldErrors) -> Value {
    Error::Invalid(errors).body("-")["errors"].take()
}

/// Loads an import.
///
/// # Errors
/// [`Error::NotFound`] if it was deleted.
pub(super) async fn load(connection: &Connection, id: i64) -> Result<Model> {
    Entity::find_by_id(id).one(connection).await?.ok_or(Error::NotFound)
}

/// Restarts the report: deletes its lines and sets the counts to 0. Returns false if the import is no longer this
/// worker's.
pub(super) async fn restart(state: &State, claim: &Claim, status: &str) -> Result<bool> {
    let transaction = state.db.begin().await?;
    let mut sql = Sql::new(state.db.dialect(), "UPDATE \"imports\" SET \"rows_done\" = 0");
    for (_, column) in COUNTS {
        sql.push(", ").name(column).push(" = 0");
    }
    claim.write_own(&mut sql, status);
    if sql.run(&transaction).await? == 0 {
        return Ok(false);
    }
    let mut sql = Sql::new(state.db.dialect(), "DELETE FROM \"import_rows\" WHERE \"import_id\" = ");
    sql.bind(claim.id);
    sql.run(&transaction).await?;
    transaction.commit().await?;
    Ok(true)
}

/// Adds the lines of a portion to the report.
pub(super) async fn add_lines(state: &State, connection: &Connection, id: i64, lines: &[Line]) -> Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let rows = lines.iter().map(|line| json!([line.number, line.outcome, line.record_id, line.errors])).collect();
    let mut sql = Sql::new(
        state.db.dialect(),
        "INSERT INTO \"import_rows\" (\"import_id\", \"number\", \"outcome\", \"record_id\", \"errors\") SELECT ",
    );
    sql.push("CAST(").bind(id).push(" AS BIGINT), v.\"number\", v.\"outcome\", v.\"record_id\", v.\"errors\" FROM ");
    let columns = [("number", "bigint"), ("outcome", "text"), ("record_id", "bigint"), ("errors", "jsonb")];
    sql.values_table(rows, &columns).push(" AS v");
    sql.run(connection).await.map(drop)
}

/// Adds a portion to the progress and extends the lease. Returns false if the import is no longer this worker's: the
/// portion must be rolled back.
pub(super) async fn advance(
    state: &State,
    connection: &Connection,
    claim: &Claim,
    status: &str,
    rows: usize,
    outcomes: impl Iterator<Item = &'static str>,
) -> Result<bool> {
    let mut counts = [0_i64; COUNTS.len()];
    for outcome in outcomes {
        if let Some(index) = COUNTS.iter().position(|(known, _)| *known == outcome) {
            counts[index] += 1;
        }
    }
    let now = state.clock.now();
    let mut sql = Sql::new(state.db.dialect(), "UPDATE \"imports\" SET \"rows_done\" = \"rows_done\" + ");
    sql.bind(i64::try_from(rows).unwrap_or(i64::MAX));
    for ((_, column), count) in COUNTS.iter().zip(counts).filter(|(_, count)| *count > 0) {
        sql.push(", ").name(column).push(" = ").name(column).push(" + ").bind(count);
    }
    sql.push(", \"updated_at\" = ").bind(now).push(", \"lease_until\" = ").bind(now + LEASE);
    claim.write_own(&mut sql, status);
    Ok(sql.run(connection).await? == 1)
}

/// Extends the lease in a transaction, which then holds the import. Returns false if it is no longer this worker's.
pub(super) async fn extend(state: &State, connection: &Connection, claim: &Claim, status: &str) -> Result<bool> {
    advance(state, connection, claim, status, 0, std::iter::empty()).await
}

/// [`extend`] in a transaction of its own, while the worker waits for the file.
pub(super) async fn keep(state: &State, claim: &Claim, status: &str) -> Result<bool> {
    let transaction = state.db.begin().await?;
    let is_own = extend(state, &transaction, claim, status).await?;
    transaction.commit().await?;
    Ok(is_own)
}

/// Ends the work of a worker, with the reason if it failed.
pub(super) async fn end(state: &State, claim: &Claim, (from, to): (&str, &str), error: Option<&str>) -> Result<()> {
    let now = state.clock.now();
    let transaction = state.db.begin().await?;
    let mut sql = Sql::new(state.db.dialect(), "UPDATE \"imports\" SET \"status\" = ");
    sql.bind(to).push(", \"error\" = ").bind(error.map(str::to_string)).push(", \"finished_at\" = ").bind(now);
    sql.push(", \"updated_at\" = ").bind(now).push(", \"lease_owner\" = NULL, \"lease_until\" = NULL");
    claim.write_own(&mut sql, from);
    sql.run(&transaction).await?;
    transaction.commit().await
}

/// An earlier import of the same file that has written records, unless it was undone.
pub(super) async fn earlier_run(context: &Context<'_>, import: &Model) -> Result<Option<i64>> {
    let mut sql = Sql::new(context.state().db.dialect(), "SELECT \"id\" FROM \"imports\" WHERE \"entity_type\" = ");
    sql.bind(import.entity_type.as_str()).push(" AND \"digest\" = ").bind(import.digest.as_str());
    sql.push(" AND \"id\" <> ").bind(import.id);
    sql.push(&format!(" AND (\"status\" IN ('{DONE}', '{RUNNING}') OR \"created_count\" > \"undone_count\")"));
    sql.push(" AND \"has_run\" = ").bind(true).push(" ORDER BY \"id\" LIMIT 1");
    Ok(sql.one(context.db()).await?.map(|row| row.try_get("", "id")).transpose()?)
}
