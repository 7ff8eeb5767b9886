//! Check of `doctor` for tables whose records cannot be told apart or created.

use super::from_db::faults::{self, Fault};
use super::from_db::table;
use charter_core::error::Result;
use charter_core::ops::Context;

/// The faults of each table, with the plural of its resource. Missing tables are skipped.
pub(super) async fn find(context: &Context<'_>) -> Result<Vec<(&'static str, Fault)>> {
    let dialect = context.state().db.dialect();
    let tables = table::names(dialect, context.db()).await?;
    let mut found = Vec::new();
    for meta in context.catalog().entries().iter().map(|entry| entry.meta) {
        if !tables.iter().any(|name| name == meta.table) {
            continue;
        }
        let existing = table::read(dialect, context.db(), meta.table).await?;
        let is_field = |column: &str| meta.fields.iter().any(|field| field.name == column);
        let faults = faults::find(dialect, &existing, is_field, meta.singleton);
        found.extend(faults.into_iter().map(|fault| (meta.plural, fault)));
    }
    Ok(found)
}
