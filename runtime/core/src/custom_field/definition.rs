//! Definitions of custom fields, as the rows of `custom_fields` have them.

use sea_orm::QueryResult;

use super::TABLE;
use crate::db::{Connection, Dialect, Sql};
use crate::error::Result;

/// The definition of a custom field.
#[derive(Debug, Clone)]
pub struct Definition {
    pub id: i64,
    /// The plural of the resource whose records have the field.
    pub entity_type: String,
    pub name: String,
    pub label: String,
    pub field_type: String,
    pub choices: Vec<String>,
    pub required: bool,
}

/// Loads the definitions of an entity type, in the order of their ids.
///
/// # Errors
/// When the database fails.
pub async fn load(connection: &Connection, entity_type: &str) -> Result<Vec<Definition>> {
    let mut sql = select();
    sql.push(" WHERE \"entity_type\" = ").bind(entity_type);
    read(connection, sql).await
}

/// Loads all definitions.
///
/// # Errors
/// When the database fails.
pub async fn load_all(connection: &Connection) -> Result<Vec<Definition>> {
    read(connection, select()).await
}

fn select() -> Sql {
    let mut sql = Sql::new(Dialect::Postgres, "SELECT \"id\", \"entity_type\", \"name\", \"label\", \"field_type\", ");
    sql.push("\"choices\", \"required\" FROM ").name(TABLE);
    sql
}

async fn read(connection: &Connection, mut sql: Sql) -> Result<Vec<Definition>> {
    let rows = sql.push(" ORDER BY \"id\"").clone().all(connection).await?;
    rows.iter().map(definition).collect()
}

fn definition(row: &QueryResult) -> Result<Definition> {
    let choices: serde_json::Value = row.try_get("", "choices")?;
    Ok(Definition {
        id: row.try_get("", "id")?,
        entity_type: row.try_get("", "entity_type")?,
        name: row.try_get("", "name")?,
        label: row.try_get("", "label")?,
        field_type: row.try_get("", "field_type")?,
        choices: serde_json::from_value(choices).unwrap_or_default(),
        required: row.try_get("", "required")?,
    })
}
