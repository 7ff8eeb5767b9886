//! A record as it will be, read from its values instead of its table, with everything that decides whether it may be so.

use super::changes::Changes;
use super::show::Read;
use super::whole::Judges;
use super::{references, store};
use crate::catalog::Entry;
use crate::context::Context;
use crate::custom_field;
use crate::db::{Company, GIVEN, Given, PLACE};
use crate::error::Result;

/// The record as it will be, and the id that it has or takes; `None` where it may not be so, or what was known of it is
/// no longer true. `as_found`: the id and the version of the row that is to change.
pub async fn read(
    context: &Context<'_>,
    entry: &Entry,
    changes: &Changes,
    judges: &Judges,
    as_found: Option<(i64, &str)>,
) -> Result<Option<(i64, Read)>> {
    let shape = &entry.single;
    let mut given = Given::default();
    if let Some((id, version)) = as_found {
        given.cell("id", id).cell("version", version);
    }
    write_cells(&mut given, changes)?;
    let sql = &mut given.sql;
    sql.push(" ");
    shape.write_columns(sql);
    sql.push(", t.\"charter_sound\", ");
    match judges {
        Some(_) => custom_field::write_text(sql, entry.meta.plural),
        None => drop(sql.push("''")),
    }
    sql.push(", t.").name(PLACE);
    let mut sound = Ok(false);
    shape.write_tables_over(sql, entry.meta.table, |sql| {
        sql.push("(SELECT ");
        write_row(sql, entry, changes, as_found.is_some());
        sql.push(", (");
        let value = |name: &str| column(changes, name);
        sound = references::write_sound(sql, context, changes, value, as_found.map(|_| "g.\"id\""));
        sql.push(") AS \"charter_sound\", g.").name(PLACE).push(" FROM ").name(GIVEN).push(" AS g");
        if as_found.is_some() {
            sql.push(" JOIN ").name(entry.meta.table);
            sql.push(" AS o ON o.\"id\" = g.\"id\" AND o.\"xmin\"::text = g.\"version\"");
        }
        sql.push(")");
    });
    if !sound? {
        return Ok(None);
    }
    let Some(row) = context.state().db.given(context.ahead(), given, Company::Any).await? else { return Ok(None) };
    let beside = shape.columns.len();
    if let Some(known) = judges
        && row.try_get_by_index::<String>(beside + 1)? != known.text
    {
        context.state().custom_fields.forget(entry.meta.plural);
        return Ok(None);
    }
    let position = shape.position("id").unwrap_or_default();
    let id = row.try_get_by_index::<Option<i64>>(position)?;
    Ok(match id.filter(|_| matches!(row.try_get_by_index(beside), Ok(true))) {
        Some(id) => Some((id, Read::plain(entry, &row)?)),
        None => None,
    })
}

/// Gives the row what changes, by [`cell`].
pub fn write_cells(given: &mut Given, changes: &Changes) -> Result<()> {
    for (field, value) in changes.iter() {
        given.cell(&cell(field.name), store::storable(field, value)?);
    }
    Ok(())
}

/// What the new value of a field is called.
pub fn cell(field: &str) -> String {
    format!("new_{field}")
}

/// The expression of the value that a field will have.
fn column(changes: &Changes, name: &str) -> String {
    match changes.get(name) {
        Some(_) => format!("g.\"{}\"", cell(name)),
        None => format!("o.\"{name}\""),
    }
}

/// Writes every column as it will be stored.
fn write_row(sql: &mut crate::db::Sql, entry: &Entry, changes: &Changes, is_found: bool) {
    match is_found {
        true => sql.push("g.\"id\""),
        // Null where the table makes no ids itself. Which sequence it is is asked once for all rows.
        false => sql.push(&format!(
            "nextval((SELECT pg_get_serial_sequence('\"{}\"', 'id')::regclass)) AS \"id\"",
            entry.meta.table
        )),
    };
    for field in entry.meta.fields.iter().filter(|field| field.is_column() && field.name != "id") {
        sql.push(", ").push(&column(changes, field.name)).push(" AS ").name(field.name);
    }
}
