//! A record as it will be, read from its values instead of its table, with everything that decides whether it may be so.

use super::atomic_store::RowVersion;
use super::fast_path::CustomFieldDefinitions;
use crate::catalog::Entry;
use crate::context::Context;
use crate::custom_field;
use crate::db::{INPUT_CTE, InputRow, Sql};
use crate::error::Result;
use crate::ops::input::changeset::Changes;
use crate::ops::input::references;
use crate::ops::records;
use crate::ops::show::Read;

/// The record as it will be, and the id that it has or takes; `None` where it may not be so, or what was known of it is
/// no longer true. `as_found`: the row that is to change.
pub async fn evaluate(
    context: &Context<'_>,
    entry: &Entry,
    changes: &Changes,
    judges: &CustomFieldDefinitions,
    as_found: Option<&RowVersion>,
) -> Result<Option<(i64, Read)>> {
    let shape = &entry.single;
    let mut given = InputRow::default();
    if let Some(seen) = as_found {
        seen.give(&mut given);
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
    let mut sound = Ok(false);
    shape.write_tables_over(sql, entry.meta.table, |sql| {
        sql.push("(SELECT ");
        write_row(sql, changes, as_found.is_some());
        sql.push(", (");
        let value = |name: &str| column(changes, name);
        sound = references::write_are_valid(sql, context, changes, value, as_found.map(|_| "g.\"charter_id\""));
        sql.push(") AS \"charter_sound\" FROM ").name(INPUT_CTE).push(" AS g");
        if as_found.is_some() {
            sql.push(" JOIN ").name(entry.meta.table);
            sql.push(" AS o ON ");
            RowVersion::write_same(sql, "o");
        }
        sql.push(")");
    });
    if !sound? {
        return Ok(None);
    }
    let Some(row) = context.state().db.query_input_row(context.read_connection(), given).await? else {
        return Ok(None);
    };
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

/// Gives the row what changes, by the fields' own names; whatever else a row has begins with `charter_`.
pub fn write_cells(given: &mut InputRow, changes: &Changes) -> Result<()> {
    for (field, value) in changes.iter() {
        given.bind_column(field.name, records::storable(field, value)?);
    }
    Ok(())
}

/// The expression of the value that a field will have.
fn column(changes: &Changes, name: &str) -> String {
    format!("{}\"{name}\"", row(changes.get(name).is_some()))
}

/// Where the value of a field is: given, or in the row that was found.
fn row(is_given: bool) -> &'static str {
    if is_given { "g." } else { "o." }
}

/// Writes every column as it will be stored.
fn write_row(sql: &mut Sql, changes: &Changes, is_found: bool) {
    match is_found {
        true => sql.push("g.\"charter_id\""),
        // Null where the table makes no ids itself. Which sequence it is is asked once for all rows.
        false => sql
            .push("nextval((SELECT pg_get_serial_sequence('\"")
            .push(changes.meta.table)
            .push("\"', 'id')::regclass))"),
    };
    sql.push(" AS \"id\"");
    for (field, given) in changes.all().filter(|(field, _)| field.is_column() && field.name != "id") {
        sql.push(", ").push(row(given.is_some())).name(field.name);
    }
}
