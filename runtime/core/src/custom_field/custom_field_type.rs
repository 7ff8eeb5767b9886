//! Types of custom fields, each with the kind that reads its values and their comparison in JSON.

use crate::meta::{Kind, TimestampForm};
use crate::number::{CUSTOM_DIGITS, CUSTOM_PLACES};

/// Type of a custom field, by its word in `field_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CustomFieldType {
    String,
    Text,
    Integer,
    Decimal,
    Boolean,
    Date,
    Time,
    Timestamp,
    Choice,
}

/// The name of each type, the kind that reads its values, and their comparison in JSON.
pub const TYPES: &[(CustomFieldType, &str, Kind, CustomKind)] = &[
    (CustomFieldType::String, "string", Kind::String { max: 255 }, CustomKind::Text),
    (CustomFieldType::Text, "text", Kind::Text, CustomKind::LongText),
    (CustomFieldType::Integer, "integer", Kind::BigInt, CustomKind::Integer),
    (CustomFieldType::Decimal, "decimal", DECIMAL, CustomKind::Decimal),
    (CustomFieldType::Boolean, "boolean", Kind::Boolean, CustomKind::Boolean),
    (CustomFieldType::Date, "date", Kind::Date, CustomKind::Time),
    (CustomFieldType::Time, "time", Kind::Time, CustomKind::Time),
    (CustomFieldType::Timestamp, "timestamp", Kind::Timestamp { form: TimestampForm::Millis }, CustomKind::Time),
    (CustomFieldType::Choice, "choice", Kind::String { max: 255 }, CustomKind::Choice),
];

const DECIMAL: Kind = Kind::Decimal { precision: CUSTOM_DIGITS as u8, places: CUSTOM_PLACES as u8 };

impl CustomFieldType {
    pub fn from_name(name: &str) -> Option<CustomFieldType> {
        TYPES.iter().find(|(_, known, ..)| *known == name).map(|(of_type, ..)| *of_type)
    }

    /// The kind that parses and validates its values.
    pub fn kind(self) -> Kind {
        self.row().map_or(Kind::Text, |(_, _, kind, _)| *kind)
    }

    /// How its values are compared in JSON.
    pub fn comparison_type(self) -> CustomKind {
        self.row().map_or(CustomKind::LongText, |(_, _, _, compared)| *compared)
    }

    /// Its row, which every type has.
    fn row(self) -> Option<&'static (CustomFieldType, &'static str, Kind, CustomKind)> {
        TYPES.iter().find(|(of_type, ..)| *of_type == self)
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
