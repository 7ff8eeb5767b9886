//! Check of `doctor` for columns that the database lacks, because a model was changed without a migration.

use super::from_db::table;
use charter_core::error::Result;
use charter_core::ops::Context;

/// Each missing column as `table.column`, and each missing table.
pub(super) async fn find(context: &Context<'_>) -> Result<Vec<String>> {
    let dialect = context.state().db.dialect();
    let tables = table::names(dialect, context.db()).await?;
    let mut missing = Vec::new();
    for entry in context.catalog().entries() {
        let name = entry.meta.table;
        if !tables.iter().any(|table| table == name) {
            missing.push(name.to_string());
            continue;
        }
        let existing = table::read(dialect, context.db(), name).await?;
        let columns = entry.meta.fields.iter().filter(|field| field.is_column());
        let missing_fields = columns.filter(|field| !existing.columns.iter().any(|column| column.name == field.name));
        missing.extend(missing_fields.map(|field| format!("{name}.{}", field.name)));
    }
    Ok(missing)
}
