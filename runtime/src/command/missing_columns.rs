//! The columns that the application reads and the database does not have, as where a model was changed without a migration.

use super::from_db::table;
use crate::context::Context;
use crate::error::Result;

/// `table.column` of each that is missing; of a table that is not there the table alone.
pub async fn find(context: &Context<'_>) -> Result<Vec<String>> {
    let dialect = context.state().db.dialect();
    let tables = table::names(dialect, context.db()).await?;
    let mut missing = Vec::new();
    for entry in context.catalog().entries() {
        let name = entry.meta.table;
        if !tables.iter().any(|table| table == name) {
            missing.push(name.to_string());
            continue;
        }
        let there = table::read(dialect, context.db(), name).await?;
        let columns = entry.meta.fields.iter().filter(|field| field.is_column());
        let gone = columns.filter(|field| !there.columns.iter().any(|column| column.name == field.name));
        missing.extend(gone.map(|field| format!("{name}.{}", field.name)));
    }
    Ok(missing)
}
