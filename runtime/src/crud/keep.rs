//! Storing a record with its event and its audit entry, in one statement: all of it or none. What several requests store
//! at the same time is one statement too.

use super::changes::Changes;
use super::show::Read;
use super::update::Cause;
use super::{ahead, references, store, visibility};
use crate::audit::{trail, write_difference};
use crate::catalog::Entry;
use crate::context::Context;
use crate::db::{Company, GIVEN, Given, Operand, PLACE, Sql, TRUE};
use crate::error::{Error, REFERRED_TO, Result};
use crate::event;

/// Which row is stored.
#[derive(Debug, Clone, Copy)]
pub enum Row<'r> {
    /// A new one, with an id that it has taken.
    New(i64),
    /// One that is there, while it is as it was seen; where `beside`, also while what is shown of other rows is as this
    /// text.
    Found { seen: &'r Seen, beside: Option<&'r str> },
}

/// A row as it was found.
#[derive(Debug, Clone)]
pub struct Seen {
    pub id: i64,
    /// The transaction that wrote it: another version of the row is another one's.
    pub version: String,
    /// Where that version stands in its table, which an index need not be asked again.
    pub at: String,
}

impl Seen {
    pub fn give(&self, given: &mut Given) {
        given.cell("charter_id", self.id).cell("charter_version", self.version.as_str());
        given.cell("charter_at", self.at.as_str());
    }

    /// Writes the condition that a row is the one that was given and still the same.
    pub fn write_same(sql: &mut Sql, row: &str) {
        sql.push(row).push(".\"ctid\" = g.\"charter_at\"::tid AND ").push(row).push(".\"id\" = g.\"charter_id\" AND ");
        sql.push(row).push(".\"xmin\"::text = g.\"charter_version\"");
    }
}

/// Stores the record, or does nothing where the row is no longer as it was found, another transaction holds it, or what it
/// refers to is gone.
pub async fn keep(
    context: &Context<'_>,
    entry: &Entry,
    changes: &Changes,
    row: Row<'_>,
    cause: Cause,
    record: &Read,
) -> Result<bool> {
    let mut given = Given::default();
    let id = match row {
        Row::New(id) => {
            given.cell("charter_id", id);
            id
        }
        Row::Found { seen, beside } => {
            seen.give(&mut given);
            if let Some(beside) = beside {
                given.cell("charter_beside", beside);
            }
            seen.id
        }
    };
    ahead::write_cells(&mut given, changes)?;
    let name = event::name(entry, cause.event);
    if entry.meta.events {
        let data = event::data(entry, changes, record.answer())?;
        let audience = visibility::audience(context, entry, |field| changes.current(field.name)).await?;
        given.cell("charter_body", event::body(&name, context.now(), &data));
        given.cell("charter_owner", audience.stored());
        given.cell("charter_told_at", context.now());
    }
    let mut difference = Vec::with_capacity(512);
    write_difference(&mut difference, changes)?;
    let entered = trail::values(context, id, &difference).map(|(column, value)| {
        given.cell(column, value);
        Operand::Of("k", column)
    });
    match row {
        Row::New(_) => write_insert(&mut given, changes),
        Row::Found { beside, .. } => write_update(&mut given, entry, changes, beside.is_some()),
    }
    let sql = &mut given.sql;
    if entry.meta.events {
        sql.push(", \"charter_told\" AS (");
        let [body, owner, at] = ["charter_body", "charter_owner", "charter_told_at"].map(|cell| Operand::Of("k", cell));
        event::write_insert(sql, name, body, owner, at);
        sql.push(" FROM \"charter_kept\" AS k)");
    }
    sql.push(", \"charter_entered\" AS (");
    trail::write_insert(sql, entry, cause.action, entered);
    sql.push(" FROM \"charter_kept\" AS k) SELECT ").name(PLACE).push(" FROM \"charter_kept\"");
    let company = company(context, entry, changes).await?;
    let stored = match context.state().db.given(context.db(), given, company).await {
        // What it refers to has just gone, which is told under its name where each is looked at.
        Err(Error::Conflict(message)) if message == REFERRED_TO && !context.db().has_begun() => false,
        stored => stored.map_err(|error| store::taken(error, changes))?.is_some(),
    };
    if stored && entry.meta.events {
        context.db().announce();
    }
    Ok(stored)
}

/// Who stores a unique value waits for whoever is storing the same one, which is nobody else's concern.
async fn company(context: &Context<'_>, entry: &Entry, changes: &Changes) -> Result<Company> {
    let may_wait = references::judged(changes).next().is_some()
        || context.state().outspoken.has_uniques(context, entry.meta).await?;
    Ok(if may_wait { Company::None } else { Company::Any })
}

fn write_insert(given: &mut Given, changes: &Changes) {
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
    sql.push(" FROM ").name(GIVEN).push(" AS g RETURNING \"id\"), \"charter_kept\" AS (SELECT g.* FROM ").name(GIVEN);
    sql.push(" AS g JOIN \"charter_stored\" AS s ON s.\"id\" = g.\"charter_id\")");
}

/// A row that another transaction holds is left alone: those who go together would all wait for it.
fn write_update(given: &mut Given, entry: &Entry, changes: &Changes, is_beside: bool) {
    let sql = &mut given.sql;
    sql.push(", \"charter_held\" AS MATERIALIZED (SELECT t.\"ctid\" AS \"charter_row\", g.* FROM ").name(GIVEN);
    sql.push(" AS g JOIN ").name(entry.meta.table);
    sql.push(" AS t ON ");
    Seen::write_same(sql, "t");
    sql.push(" WHERE ").push(TRUE);
    if let Some(now) = entry.beside.now().filter(|_| is_beside) {
        sql.push(" AND ").push(now).push(" = g.\"charter_beside\"");
    }
    sql.push(" FOR NO KEY UPDATE OF t SKIP LOCKED), \"charter_kept\" AS (UPDATE ").name(entry.meta.table);
    sql.push(" AS t SET ");
    for (index, (field, _)) in changes.iter().enumerate() {
        sql.push(if index > 0 { ", " } else { "" }).name(field.name).push(" = h.").name(field.name);
    }
    sql.push(" FROM \"charter_held\" AS h WHERE t.\"ctid\" = h.\"charter_row\" AND t.\"id\" = h.\"charter_id\" RETURNING h.*)");
}
