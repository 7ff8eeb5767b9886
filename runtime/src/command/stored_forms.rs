//! Check of `doctor` for values that another program wrote into SQLite in another form than the server does.
//!
//! SQLite compares times, dates and UUIDs as text or bytes. The server reads several forms and shows them alike, but a
//! filter and an order see what is stored.

use super::from_db::table;
use charter_core::db::{Dialect, Sql};
use charter_core::error::Result;
use charter_core::meta::{FieldMeta, Kind, ResourceMeta};
use charter_core::ops::Context;
use charter_core::stale_reference::StaleReference;

const DAY: &str = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]";
const CLOCK: &str = "[0-9][0-9]:[0-9][0-9]:[0-9][0-9]";

/// Each field with values in another form, with the first record that has one. Missing tables and columns are skipped.
pub(super) async fn find(context: &Context<'_>) -> Result<Vec<StaleReference>> {
    let dialect = context.state().db.dialect();
    if dialect != Dialect::Sqlite {
        return Ok(Vec::new());
    }
    let tables = table::names(dialect, context.db()).await?;
    let mut found = Vec::new();
    for entry in context.catalog().entries().iter().filter(|entry| tables.iter().any(|name| name == entry.meta.table)) {
        let existing = table::read(dialect, context.db(), entry.meta.table).await?;
        for field in entry.meta.fields.iter().filter(|field| field.is_column()) {
            let is_there = existing.columns.iter().any(|column| column.name == field.name);
            if let Some(form) = form(field).filter(|_| is_there) {
                found.extend(other_forms(context, entry.meta, field, &form).await?);
            }
        }
    }
    Ok(found)
}

/// The form of a type's values: a condition for `{}`, and an example.
struct Form {
    condition: String,
    example: String,
}

fn form(field: &FieldMeta) -> Option<Form> {
    let text = |condition: String, example: &str| {
        Some(Form { condition: format!("typeof({{}}) = 'text' AND ({condition})"), example: format!("`{example}`") })
    };
    match field.kind {
        Kind::Timestamp { .. } => {
            // As many digits as the fraction needs, in groups of three.
            let with = |digits: usize| {
                let fraction = if digits > 0 { format!(".{}", "[0-9]".repeat(digits)) } else { String::new() };
                format!("{{}} GLOB '{DAY}T{CLOCK}{fraction}+00:00'")
            };
            let forms = [0, 3, 6, 9].map(with).join(" OR ");
            text(format!("({forms}) AND {{}} NOT GLOB '*.*000+00:00'"), "2026-03-21T10:05:09.070+00:00")
        }
        Kind::Date => text(format!("{{}} GLOB '{DAY}'"), "2026-03-21"),
        Kind::Time => text(format!("{{}} GLOB '{CLOCK}'"), "09:30:00"),
        Kind::Uuid => Some(Form {
            condition: "typeof({}) = 'blob' AND length({}) = 16".into(),
            example: "a blob of 16 bytes".into(),
        }),
        _ => None,
    }
}

async fn other_forms(
    context: &Context<'_>,
    meta: &'static ResourceMeta,
    field: &FieldMeta,
    form: &Form,
) -> Result<Option<StaleReference>> {
    let column = format!("\"{}\"", field.name);
    let mut sql = Sql::new(context.state().db.dialect(), "SELECT MIN(\"id\") AS \"first\", COUNT(*) AS \"count\", ");
    sql.push(&format!("CAST(MIN({column}) AS TEXT) AS \"value\" FROM ")).name(meta.table);
    let condition = form.condition.replace("{}", &column);
    sql.push(&format!(" WHERE {column} IS NOT NULL AND NOT ({condition})"));
    let Some(row) = sql.one(context.db()).await? else { return Ok(None) };
    let count: i64 = row.try_get("", "count")?;
    if count == 0 {
        return Ok(None);
    }
    let value: String = row.try_get("", "value")?;
    let records = if count == 1 { "1 record".to_string() } else { format!("{count} records") };
    Ok(Some(StaleReference {
        kind: meta.plural,
        id: row.try_get("", "first")?,
        name: field.name.to_string(),
        problem: format!(
            "is stored as `{value}` and the like in {records}, by another program: filters and sorts are wrong; store it as {}",
            form.example
        ),
    }))
}
