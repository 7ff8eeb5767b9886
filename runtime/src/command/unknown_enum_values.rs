//! Check of `doctor` for enum values and codes that are not declared.
//!
//! The tables have no CHECK constraints for them (`docs/decisions/0013-enums-without-check-constraints.md`), so that an older version of a
//! model, or another program, can leave some.

use super::from_db::table;
use charter_core::db::{Dialect, Sql};
use charter_core::error::Result;
use charter_core::meta::{FieldMeta, Kind, ResourceMeta};
use charter_core::ops::Context;
use charter_core::stale_reference::StaleReference;

/// Reported values of a field.
const MAX_VALUES: usize = 20;

/// Each undeclared value of an enum or a code, with the first record that has it. Missing tables and columns are skipped.
pub(super) async fn find(context: &Context<'_>) -> Result<Vec<StaleReference>> {
    let dialect = context.state().db.dialect();
    let tables = table::names(dialect, context.db()).await?;
    let mut found = Vec::new();
    for entry in context.catalog().entries() {
        let meta = entry.meta;
        let fields: Vec<(&FieldMeta, Vec<String>)> = meta
            .fields
            .iter()
            .filter(|field| field.is_column())
            .filter_map(|field| Some((field, known_values(field)?)))
            .collect();
        if fields.is_empty() || !tables.iter().any(|name| name == meta.table) {
            continue;
        }
        let columns = table::read(dialect, context.db(), meta.table).await?.columns;
        for (field, known) in fields {
            if columns.iter().any(|column| column.name == field.name) {
                found.extend(unknown_values(context, meta, field, known).await?);
            }
        }
    }
    Ok(found)
}

/// The declared values of an enum or a code, as text.
fn known_values(field: &FieldMeta) -> Option<Vec<String>> {
    match field.kind {
        Kind::Enum { values } => Some(values.iter().map(|value| (*value).to_string()).collect()),
        Kind::Code { values } => Some(values.iter().map(|(code, _)| code.to_string()).collect()),
        Kind::PolymorphicType { type_names } => Some(type_names.iter().map(|name| (*name).to_string()).collect()),
        _ => None,
    }
}

async fn unknown_values(
    context: &Context<'_>,
    meta: &'static ResourceMeta,
    field: &FieldMeta,
    known: Vec<String>,
) -> Result<Vec<StaleReference>> {
    let text = match context.state().db.dialect() {
        Dialect::Postgres => format!("\"{}\"::text", field.name),
        Dialect::Sqlite => format!("CAST(\"{}\" AS TEXT)", field.name),
    };
    let mut sql = Sql::new(context.state().db.dialect(), "SELECT ");
    sql.push(&text).push(" AS \"value\", MIN(\"id\") AS \"first\", COUNT(*) AS \"count\" FROM ").name(meta.table);
    sql.push(" WHERE ").push(&text).push(" NOT IN (");
    for (index, value) in known.into_iter().enumerate() {
        sql.push(if index > 0 { ", " } else { "" }).bind(value);
    }
    sql.push(&format!(") GROUP BY 1 ORDER BY 1 LIMIT {MAX_VALUES}"));
    let mut found = Vec::new();
    for row in sql.all(context.db()).await? {
        let (value, count): (String, i64) = (row.try_get("", "value")?, row.try_get("", "count")?);
        let others = match count {
            1 => String::new(),
            2 => ", like 1 other record".to_string(),
            count => format!(", like {} other records", count - 1),
        };
        found.push(StaleReference {
            kind: meta.plural,
            id: row.try_get("", "first")?,
            name: field.name.to_string(),
            problem: format!("has the undeclared value `{value}`{others}"),
        });
    }
    Ok(found)
}
