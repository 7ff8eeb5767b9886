//! Candidate records: one `SELECT` on PostgreSQL reads a record as it will be stored, from its values, and runs all its
//! checks.

use super::atomic_store::RowVersion;
use super::fast_path::CustomFieldDefinitions;
use crate::catalog::Entry;
use crate::custom_field;
use crate::db::{INPUT_CTE, InputRow, Sql};
use crate::error::Result;
use crate::ops::Context;
use crate::ops::input::changeset::Changes;
use crate::ops::input::references;
use crate::ops::records;
use crate::ops::show::RenderedRecord;

/// Returns the id and the JSON of the candidate. `None` if a check fails, or if cached custom-field definitions or the
/// row version are outdated. `row_version` is that of the row to change; a new record has none.
pub async fn evaluate(
    context: &Context<'_>,
    entry: &Entry,
    changes: &Changes,
    definitions: &CustomFieldDefinitions,
    row_version: Option<&RowVersion>,
) -> Result<Option<(i64, RenderedRecord)>> {
    let shape = &entry.single;
    let mut input = InputRow::default();
    if let Some(row_version) = row_version {
        row_version.bind(&mut input);
    }
    write_cells(&mut input, changes)?;
    let sql = &mut input.sql;
    sql.push(" ");
    shape.write_columns(sql);
    sql.push(", t.\"charter_valid\", ");
    match definitions {
        Some(_) => custom_field::write_definitions(sql, entry.meta.plural),
        None => drop(sql.push("''")),
    }
    let mut can_check = Ok(false);
    shape.write_tables_over(sql, entry.meta.table, |sql| {
        sql.push("(SELECT ");
        write_row(sql, changes, row_version.is_some());
        sql.push(", (");
        let value = |name: &str| column(changes, name);
        can_check =
            references::write_validity_condition(sql, context, changes, value, row_version.map(|_| "g.\"charter_id\""));
        sql.push(") AS \"charter_valid\" FROM ").name(INPUT_CTE).push(" AS g");
        if row_version.is_some() {
            sql.push(" JOIN ").name(entry.meta.table);
            sql.push(" AS o ON ");
            RowVersion::write_version_condition(sql, "o");
        }
        sql.push(")");
    });
    if !can_check? {
        return Ok(None);
    }
    let Some(row) = context.state().db.query_input_row(context.read_connection(), input).await? else {
        return Ok(None);
    };
    let is_valid_position = shape.columns.len();
    if let Some(cached) = definitions
        && row.try_get_by_index::<String>(is_valid_position + 1)? != cached.text
    {
        context.state().custom_fields.invalidate(entry.meta.plural);
        return Ok(None);
    }
    let position = shape.position("id").unwrap_or_default();
    let id = row.try_get_by_index::<Option<i64>>(position)?;
    Ok(match id.filter(|_| matches!(row.try_get_by_index(is_valid_position), Ok(true))) {
        Some(id) => Some((id, RenderedRecord::plain(entry, &row)?)),
        None => None,
    })
}

/// Binds the changed values to input columns with the names of the fields. All other input columns begin with
/// `charter_`.
pub fn write_cells(input: &mut InputRow, changes: &Changes) -> Result<()> {
    for (field, value) in changes.iter() {
        input.bind_column(field.name, records::storable(field, value)?);
    }
    Ok(())
}

/// The SQL expression of a field's new value.
fn column(changes: &Changes, name: &str) -> String {
    format!("{}\"{name}\"", source_alias(changes.get(name).is_some()))
}

/// Alias of the table that has the value of a field: the input (`g`) or the existing row (`o`).
fn source_alias(is_changed: bool) -> &'static str {
    if is_changed { "g." } else { "o." }
}

/// Writes every column as it will be stored.
fn write_row(sql: &mut Sql, changes: &Changes, is_update: bool) {
    match is_update {
        true => sql.push("g.\"charter_id\""),
        // Null if the table has no sequence. The subquery looks up the sequence once for all rows.
        false => sql
            .push("nextval((SELECT pg_get_serial_sequence('\"")
            .push(changes.meta.table)
            .push("\"', 'id')::regclass))"),
    };
    sql.push(" AS \"id\"");
    for (field, value) in changes.all().filter(|(field, _)| field.is_column() && field.name != "id") {
        sql.push(", ").push(source_alias(value.is_some())).name(field.name);
    }
}
