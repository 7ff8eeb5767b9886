//! Stores a record, its event and its audit entry in one statement of PostgreSQL (data-modifying CTEs), atomically.

use super::candidate;
use super::update::Cause;
use crate::catalog::Entry;
use crate::db::{INPUT_CTE, InputRow, Operand, Sql};
use crate::error::{Error, FOREIGN_KEY_MESSAGE, Result};
use crate::ops::Context;
use crate::ops::audit::{self, write_diff};
use crate::ops::input::changeset::Changes;
use crate::ops::outbox;
use crate::ops::show::RenderedRecord;
use crate::ops::{records, visibility};

/// The row to store.
#[derive(Debug, Clone, Copy)]
pub enum Target<'r> {
    /// A new row, with an id from the sequence.
    New(i64),
    /// An existing row, if its version is still this one.
    Existing(&'r RowVersion),
}

/// The version of a row as it was read.
#[derive(Debug, Clone)]
pub struct RowVersion {
    pub id: i64,
    /// `xmin`: the transaction that wrote this version of the row.
    pub xmin: String,
    /// `ctid`: the position of this version in the table, which avoids an index lookup.
    pub ctid: String,
}

impl RowVersion {
    /// Binds the version to the input columns `charter_id`, `charter_xmin` and `charter_ctid`.
    pub fn bind(&self, input: &mut InputRow) {
        input.bind_column("charter_id", self.id).bind_column("charter_xmin", self.xmin.as_str());
        input.bind_column("charter_ctid", self.ctid.as_str());
    }

    /// Writes the condition that a row still has the version in the input.
    pub fn write_version_condition(sql: &mut Sql, row: &str) {
        sql.push(row)
            .push(".\"ctid\" = g.\"charter_ctid\"::tid AND ")
            .push(row)
            .push(".\"id\" = g.\"charter_id\" AND ");
        sql.push(row).push(".\"xmin\"::text = g.\"charter_xmin\"");
    }
}

/// Stores the record. Returns false, without a change, if the row has another version by now or a record that it refers
/// to is deleted.
pub async fn store(
    context: &Context<'_>,
    entry: &Entry,
    changes: &Changes,
    row: Target<'_>,
    cause: Cause,
    record: &RenderedRecord,
) -> Result<bool> {
    let mut input = InputRow::default();
    let id = match row {
        Target::New(id) => {
            input.bind_column("charter_id", id);
            id
        }
        Target::Existing(row_version) => {
            row_version.bind(&mut input);
            row_version.id
        }
    };
    candidate::write_cells(&mut input, changes)?;
    let name = outbox::name(entry, cause.event);
    if entry.meta.events {
        let data = outbox::data(entry, changes, record.json())?;
        let audience = visibility::audience(context, entry, |field| changes.current(field.name)).await?;
        input.bind_column("charter_body", outbox::body(&name, context.now(), &data));
        input.bind_column("charter_owner", audience.stored());
        input.bind_column("charter_event_at", context.now());
        input.bind_column("charter_trace", outbox::trace_text(context));
    }
    let mut difference = Vec::with_capacity(512);
    write_diff(&mut difference, changes)?;
    let audit_values = audit::entry_values(context, id, &difference).map(|(column, value)| {
        input.bind_column(column, value);
        Operand::Column("k", column)
    });
    match row {
        Target::New(_) => write_insert(&mut input, changes),
        Target::Existing(_) => write_update(&mut input, entry, changes),
    }
    let sql = &mut input.sql;
    if entry.meta.events {
        sql.push(", \"charter_event\" AS (");
        let columns = ["charter_body", "charter_owner", "charter_event_at", "charter_trace"];
        outbox::write_insert(sql, name, columns.map(|column| Operand::Column("k", column)));
        sql.push(" FROM \"charter_written\" AS k)");
    }
    sql.push(", \"charter_audit\" AS (");
    audit::write_insert(sql, entry.meta.plural, cause.action, audit_values);
    sql.push(" FROM \"charter_written\" AS k) SELECT 1 FROM \"charter_written\"");
    let stored = match context.state().db.query_input_row(context.db(), input).await {
        // A concurrent delete: the slow path checks each reference and names the field.
        Err(Error::Conflict(message)) if message == FOREIGN_KEY_MESSAGE && !context.db().is_open() => false,
        stored => stored.map_err(|error| records::map_unique_violation(error, changes))?.is_some(),
    };
    if stored && entry.meta.events {
        context.db().notify_commit();
    }
    Ok(stored)
}

fn write_insert(input: &mut InputRow, changes: &Changes) {
    let sql = &mut input.sql;
    let columns: Vec<&str> = changes.iter().map(|(field, _)| field.name).collect();
    sql.push(", \"charter_stored\" AS (INSERT INTO ").name(changes.meta.table).push(" (\"id\"");
    for name in &columns {
        sql.push(", ").name(name);
    }
    sql.push(") OVERRIDING SYSTEM VALUE SELECT g.\"charter_id\"");
    for name in &columns {
        sql.push(", g.").name(name);
    }
    sql.push(" FROM ")
        .name(INPUT_CTE)
        .push(" AS g RETURNING \"id\"), \"charter_written\" AS (SELECT g.* FROM ")
        .name(INPUT_CTE);
    sql.push(" AS g JOIN \"charter_stored\" AS s ON s.\"id\" = g.\"charter_id\")");
}

/// The statement waits for a transaction that holds the row. If that changes the row, its version differs and nothing
/// is updated.
fn write_update(input: &mut InputRow, entry: &Entry, changes: &Changes) {
    let sql = &mut input.sql;
    sql.push(", \"charter_written\" AS (UPDATE ").name(entry.meta.table).push(" AS t SET ");
    for (index, (field, _)) in changes.iter().enumerate() {
        sql.push(if index > 0 { ", " } else { "" }).name(field.name).push(" = g.").name(field.name);
    }
    sql.push(" FROM ").name(INPUT_CTE).push(" AS g WHERE ");
    RowVersion::write_version_condition(sql, "t");
    sql.push(" RETURNING g.*)");
}
