//! Custom fields: fields that operators define at runtime, with a name and a type.

mod custom_field_type;
mod definition;
mod definition_cache;

use std::collections::HashMap;
use std::sync::Arc;

pub use custom_field_type::{CustomFieldType, CustomKind, TYPES};
pub use definition::{Definition, load, load_all};
pub use definition_cache::{DefinitionCache, Definitions, Types, write_changes, write_definitions};
use sea_orm::Value;

use crate::db::{Connection, Db, Sql};
use crate::error::{Error, Result};
use crate::field_type;
use crate::record::Cell;

/// Table of the definitions.
pub const TABLE: &str = "custom_fields";

/// Types of the custom fields of one entity type, by name.
pub type CustomFieldTypes = HashMap<String, CustomFieldType>;

/// Converts a value for comparison with JSON, in which dates and times are text.
pub fn json_operand(value: Value) -> Value {
    field_type::text(&value).map_or(value, Value::from)
}

/// Loads the current types; concurrent requests share one query.
///
/// # Errors
/// If the database fails.
pub async fn load_types(
    cache: &DefinitionCache,
    db: &Db,
    connection: &Connection,
    entity_type: &'static str,
) -> Result<Arc<Types>> {
    let mut sql = Sql::new(db.dialect(), "SELECT ");
    write_changes(&mut sql);
    // Returns at least one row, which has the version.
    sql.push(
        ", f.\"name\", f.\"field_type\" FROM (SELECT 1) AS one \
         LEFT JOIN \"custom_fields\" AS f ON f.\"entity_type\" = ",
    );
    sql.bind(entity_type);
    let rows = db.rows(connection, sql).await?;
    let first = rows.first().map_or(Ok(None), |row| Cell::new(row, 0)?.integer())?;
    let mut of = CustomFieldTypes::with_capacity(rows.len());
    for row in rows.iter() {
        let text = |position| Ok::<_, Error>(Cell::new(row, position)?.text()?.unwrap_or_default());
        let Some(of_type) = CustomFieldType::from_name(text(2)?) else { continue };
        of.insert(text(1)?.to_string(), of_type);
    }
    let types = Arc::new(Types { of, changes: first.unwrap_or_default() });
    cache.store_types(entity_type, types.clone());
    Ok(types)
}
