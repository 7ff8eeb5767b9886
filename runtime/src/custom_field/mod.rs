//! Custom fields: fields that operators define at runtime, with a name and a type.

mod definition;
mod definition_cache;
mod value;

use std::collections::HashMap;
use std::sync::Arc;

pub use definition::{ActiveModel, CustomFieldType, Definition, Entity, Model, TYPES, load, route, stale_references};
pub use definition_cache::{DefinitionCache, Definitions, Types, table, write_changes, write_definitions};
use sea_orm::Value;
pub use value::{merge, readable_value};

use crate::context::Context;
use crate::db::Sql;
use crate::error::{Error, Result};
use crate::field_type;
use crate::record::Cell;

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
pub async fn load_types(context: &Context<'_>, entity_type: &'static str) -> Result<Arc<Types>> {
    let mut sql = Sql::new(context.state().db.dialect(), "SELECT ");
    write_changes(&mut sql);
    // Returns at least one row, which has the version.
    sql.push(
        ", f.\"name\", f.\"field_type\" FROM (SELECT 1) AS one \
         LEFT JOIN \"custom_fields\" AS f ON f.\"entity_type\" = ",
    );
    sql.bind(entity_type);
    let rows = context.read(sql).await?;
    let first = rows.first().map_or(Ok(None), |row| Cell::new(row, 0)?.integer())?;
    let mut of = CustomFieldTypes::with_capacity(rows.len());
    for row in rows.iter() {
        let text = |position| Ok::<_, Error>(Cell::new(row, position)?.text()?.unwrap_or_default());
        let Some(of_type) = CustomFieldType::from_name(text(2)?) else { continue };
        of.insert(text(1)?.to_string(), of_type);
    }
    let types = Arc::new(Types { of, changes: first.unwrap_or_default() });
    context.state().custom_fields.store_types(entity_type, types.clone());
    Ok(types)
}
