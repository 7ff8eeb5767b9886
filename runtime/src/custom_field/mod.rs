//! Custom fields: fields that operators define at runtime, with a name and a type.

mod definition;
mod definition_cache;
mod value;

use std::collections::HashMap;
use std::sync::Arc;

pub use definition::{ActiveModel, Definition, Entity, Model, load, route, stale_references};
pub use definition_cache::{DefinitionCache, Definitions, Types, table, write_changes, write_definitions};
use sea_orm::Value;
pub use value::{merge, readable_value};

use crate::context::Context;
use crate::db::Sql;
use crate::error::{Error, Result};
use crate::meta::{Kind, TimestampForm};
use crate::number::{CUSTOM_DIGITS, CUSTOM_PLACES};
use crate::query::condition::CustomKind;
use crate::record::{Cell, write_timestamp};

/// Types of the custom fields of one entity type, by name.
pub type CustomFieldTypes = HashMap<String, CustomFieldType>;

/// Type of a custom field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CustomFieldType {
    String,
    Text,
    Integer,
    Decimal,
    Boolean,
    Date,
    Timestamp,
    Choice,
}

/// Names of the types in `field_type`.
pub const TYPES: &[(&str, CustomFieldType)] = &[
    ("string", CustomFieldType::String),
    ("text", CustomFieldType::Text),
    ("integer", CustomFieldType::Integer),
    ("decimal", CustomFieldType::Decimal),
    ("boolean", CustomFieldType::Boolean),
    ("date", CustomFieldType::Date),
    ("timestamp", CustomFieldType::Timestamp),
    ("choice", CustomFieldType::Choice),
];

impl CustomFieldType {
    pub fn from_name(name: &str) -> Option<CustomFieldType> {
        TYPES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    /// The kind that parses and validates its values.
    pub fn kind(self) -> Kind {
        match self {
            CustomFieldType::String | CustomFieldType::Choice => Kind::String { max: 255 },
            CustomFieldType::Text => Kind::Text,
            CustomFieldType::Integer => Kind::BigInt,
            CustomFieldType::Decimal => Kind::Decimal { precision: CUSTOM_DIGITS as u8, places: CUSTOM_PLACES as u8 },
            CustomFieldType::Boolean => Kind::Boolean,
            CustomFieldType::Date => Kind::Date,
            CustomFieldType::Timestamp => Kind::Timestamp { form: TimestampForm::Millis },
        }
    }

    /// How its values are compared in JSON.
    pub fn comparison_type(self) -> CustomKind {
        match self {
            CustomFieldType::Integer => CustomKind::Integer,
            CustomFieldType::Decimal => CustomKind::Decimal,
            CustomFieldType::Boolean => CustomKind::Boolean,
            CustomFieldType::Date | CustomFieldType::Timestamp => CustomKind::Time,
            CustomFieldType::Text => CustomKind::LongText,
            CustomFieldType::Choice => CustomKind::Choice,
            CustomFieldType::String => CustomKind::Text,
        }
    }
}

/// Converts a value for comparison with JSON, in which dates and times are text.
pub fn json_operand(value: Value) -> Value {
    match value {
        Value::ChronoDate(Some(date)) => date.to_string().into(),
        Value::ChronoDateTimeUtc(Some(time)) => {
            let mut text = Vec::new();
            write_timestamp(&mut text, time, TimestampForm::Millis);
            String::from_utf8_lossy(&text).into_owned().into()
        }
        other => other,
    }
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
