//! Custom fields: fields that operators define at runtime, with a name and a type.

mod definition;
mod definition_cache;

use std::collections::HashMap;
use std::sync::Arc;

pub use definition::{Definition, load, load_all};
pub use definition_cache::{DefinitionCache, Definitions, Types, write_changes, write_definitions};
use sea_orm::Value;

use crate::db::{Connection, Db, Sql};
use crate::error::{Error, Result};
use crate::meta::{Kind, TimestampForm};
use crate::number::{CUSTOM_DIGITS, CUSTOM_PLACES};
use crate::record::{Cell, write_timestamp};

/// Table of the definitions.
pub const TABLE: &str = "custom_fields";

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

/// Type by which the value of a custom field is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CustomKind {
    /// Text of at most 255 characters.
    Text,
    /// One of the declared options, compared case-insensitively.
    Choice,
    /// Text of any length, ordered by its first 255 characters.
    LongText,
    Integer,
    Decimal,
    Boolean,
    /// Dates and times, stored as text that sorts chronologically.
    Time,
}

impl CustomKind {
    /// True if values are ordered and searched case-insensitively, and the empty text counts as blank.
    pub fn is_text(self) -> bool {
        matches!(self, CustomKind::Text | CustomKind::Choice | CustomKind::LongText)
    }

    /// The type for ordering. Choices are ordered as text, because some may differ only in case.
    pub fn ordering_type(self) -> CustomKind {
        if self == CustomKind::Choice { CustomKind::Text } else { self }
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
