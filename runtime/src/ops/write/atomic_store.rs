//! Stores a record with its event and its audit entry in one statement of PostgreSQL: all of it or nothing.

use super::candidate;
use super::update::Cause;
use crate::audit::{trail, write_difference};
use crate::catalog::Entry;
use crate::context::Context;
use crate::db::{INPUT_CTE, InputRow, Operand, Sql};
use crate::error::{Error, REFERRED_TO, Result};
use crate::event;
use crate::ops::input::changeset::Changes;
use crate::ops::show::Read;
use crate::ops::{records, visibility};

/// Which row is stored.
#[derive(Debug, Clone, Copy)]
pub enum Target<'r> {
    /// A new one, with an id that it has taken.
    New(i64),
    /// The row of a record, if its version is still the one that was seen.
    Found(&'r RowVersion),
}

/// A row as it was found.
#[derive(Debug, Clone)]
pub struct RowVersion {
    pub id: i64,
    /// The transaction that wrote it: another version of the row is another one's.
    pub version: String,
    /// Where that version stands in its table, which an index need not be asked again.
    pub at: String,
}

impl RowVersion {
    pub fn give(&self, given: &mut InputRow) {
        given.bind_column("charter_id", self.id).bind_column("charter_version", self.version.as_str());
        given.bind_column("charter_at", self.at.as_str());
    }

    /// Writes the condition that a row is the one that was given and still the same.
    pub fn write_same(sql: &mut Sql, row: &str) {
        sql.push(row).push(".\"ctid\" = g.\"charter_at\"::tid AND ").push(row).push(".\"id\" = g.\"charter_id\" AND ");
        sql.push(row).push(".\"xmin\"::text = g.\"charter_version\"");
    }
}

/// Stores the record. Answers false, and changes nothing, when the row has another version by now, or when what the record
/// refers to is gone.
pub async fn store(
    context: &Context<'_>,
    entry: &Entry,
    changes: &Changes,
    row: Target<'_>,
    cause: Cause,
    record: &Read,
) -> Result<bool> {
    let mut given = InputRow::default();
    let id = match row {
        Target::New(id) => {
            given.bind_column("charter_id", id);
            id
        }
        Target::Found(seen) => {
            seen.give(&mut given);
            seen.id
        }
    };
    candidate::write_cells(&mut given, changes)?;
    let name = event::name(entry, cause.event);
    if entry.meta.events {
        let data = event::data(entry, changes, record.answer())?;
        let audience = visibility::audience(context, entry, |field| changes.current(field.name)).await?;
        given.bind_column("charter_body", event::body(&name, context.now(), &data));
        given.bind_column("charter_owner", audience.stored());
        given.bind_column("charter_told_at", context.now());
        given.bind_column("charter_trace", event::trace_text(context));
    }
    let mut difference = Vec::with_capacity(512);
    write_difference(&mut difference, changes)?;
    let entered = trail::values(context, id, &difference).map(|(column, value)| {
        given.bind_column(column, value);
        Operand::Column("k", column)
    });
    match row {
        Target::New(_) => write_insert(&mut given, changes),
        Target::Found(_) => write_update(&mut given, entry, changes),
    }
    let sql = &mut given.sql;
    if entry.meta.events {
        sql.push(", \"charter_told\" AS (");
        let cells = ["charter_body", "charter_owner", "charter_told_at", "charter_trace"];
        event::write_insert(sql, name, cells.map(|cell| Operand::Column("k", cell)));
        sql.push(" FROM \"charter_kept\" AS k)");
    }
    sql.push(", \"charter_entered\" AS (");
    trail::write_insert(sql, entry, cause.action, entered);
    sql.push(" FROM \"charter_kept\" AS k) SELECT 1 FROM \"charter_kept\"");
    let stored = match context.state().db.query_input_row(context.db(), given).await {
        // What it refers to has just gone, which is told under its name where each is looked at.
        Err(Error::Conflict(message)) if message == REFERRED_TO && !context.db().is_open() => false,
        stored => stored.map_err(|error| records::map_unique_violation(error, changes))?.is_some(),
    };
    if stored && entry.meta.events {
        context.db().notify_commit();
    }
    Ok(stored)
}

fn write_insert(given: &mut InputRow, changes: &Changes) {
    let sql = &mut given.sql;
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
        .push(" AS g RETURNING \"id\"), \"charter_kept\" AS (SELECT g.* FROM ")
        .name(INPUT_CTE);
    sql.push(" AS g JOIN \"charter_stored\" AS s ON s.\"id\" = g.\"charter_id\")");
}

/// The statement waits for a transaction that holds the row, and then sees its new version and updates nothing.
fn write_update(given: &mut InputRow, entry: &Entry, changes: &Changes) {
    let sql = &mut given.sql;
    sql.push(", \"charter_kept\" AS (UPDATE ").name(entry.meta.table).push(" AS t SET ");
    for (index, (field, _)) in changes.iter().enumerate() {
        sql.push(if index > 0 { ", " } else { "" }).name(field.name).push(" = g.").name(field.name);
    }
    sql.push(" FROM ").name(INPUT_CTE).push(" AS g WHERE ");
    RowVersion::write_same(sql, "t");
    sql.push(" RETURNING g.*)");
}
