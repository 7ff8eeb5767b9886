//! Custom fields: values that the operators of a service define by name and type while it runs.

mod definition;
mod known;
mod value;

use std::collections::HashMap;
use std::sync::Arc;

pub use definition::{ActiveModel, Definition, Entity, Model, load, route, stale_references};
pub use known::{Definitions, Known, Types, table, write_changes, write_text};
use sea_orm::Value;
pub use value::{merge, shown};

use crate::context::Context;
use crate::db::Sql;
use crate::error::{Error, Result};
use crate::meta::{Kind, TimestampForm};
use crate::number::{CUSTOM_DIGITS, CUSTOM_PLACES};
use crate::query::condition::CustomKind;
use crate::record::{Cell, write_timestamp};

/// The declared custom fields of one entity type, by name.
pub type CustomFieldTypes = HashMap<String, CustomFieldType>;

/// What values a custom field holds.
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

/// The words for the types, as a definition's `field_type` has them.
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

    /// The kind of field that reads and checks its values.
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

    /// How its values are compared once they are in JSON.
    pub fn compared_as(self) -> CustomKind {
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

/// A value as it is compared with what JSON holds, where days and times are text.
pub fn in_json(value: Value) -> Value {
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

/// The types as they are now, read together with those who ask at the same time.
///
/// # Errors
/// When the database fails.
pub async fn load_types(context: &Context<'_>, entity_type: &'static str) -> Result<Arc<Types>> {
    let mut sql = Sql::new(context.state().db.dialect(), "SELECT ");
    write_changes(&mut sql);
    // A row at least, for what it tells first.
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
    context.state().custom_fields.keep_types(entity_type, types.clone());
    Ok(types)
}
