//! Values of the field types: their column, their null, how they are read, written and compared.
//!
//! A type whose values are text of one form in JSON has a file with its [`Codec`]. A new one is that file and its row in
//! `CODECS`. Numbers, text and JSON need none.

mod date;
mod time;
mod timestamp;
mod timestamp_form;
mod uuid;

use std::cmp::Ordering;

use charter_model::Storage;
use chrono::{DateTime, Utc};
use sea_orm::sea_query::{ArrayType, ColumnType, StringLen};
use sea_orm::{QueryResult, TryGetable, Value};

use crate::db::Cell;
use crate::error::Result;
use crate::meta::Kind;
pub use timestamp::read_instant;
pub use timestamp_form::write_timestamp;

/// The Rust types of fields, which generated code names.
pub mod rust {
    pub use sea_orm::prelude::{Date, DateTimeUtc, Json, Time, Uuid};

    pub use crate::decimal::Decimal;
}

/// The functions of a type whose values are text of one form in JSON.
pub struct Codec {
    pub column: ColumnType,
    pub array: ArrayType,
    pub null: Value,
    /// Reads a text, or returns the end of an error: `must be a UUID`.
    pub read: fn(&str) -> Result<Value, String>,
    /// The value of a named column.
    pub stored: fn(&QueryResult, &str) -> Result<Option<Value>>,
    /// Writes a cell as a JSON string. `None` for null.
    pub write: fn(&mut Vec<u8>, Cell<'_>) -> Result<Option<()>>,
    /// The text of a value of the type.
    pub text: fn(&Value) -> Option<String>,
    /// The order of two values of the type.
    pub order: fn(&Value, &Value) -> Option<Ordering>,
    /// The value of the default `now`.
    pub now: Option<fn(DateTime<Utc>) -> Value>,
}

/// The codec of each storage type that has one.
static CODECS: &[(Storage, &Codec)] = &[
    (Storage::Date, &date::CODEC),
    (Storage::Time, &time::CODEC),
    (Storage::Timestamp, &timestamp::CODEC),
    (Storage::Uuid, &uuid::CODEC),
];

/// The codec of a storage type; none for a number, text or JSON.
pub fn codec(storage: Storage) -> Option<&'static Codec> {
    CODECS.iter().find(|(known, _)| *known == storage).map(|(_, codec)| *codec)
}

fn codecs() -> impl Iterator<Item = &'static Codec> {
    CODECS.iter().map(|(_, codec)| *codec)
}

/// The codec of a field's type.
pub fn codec_of(kind: Kind) -> Option<&'static Codec> {
    kind.storage().and_then(codec)
}

/// The text of a value that has a codec.
pub fn text(value: &Value) -> Option<String> {
    codecs().find_map(|codec| (codec.text)(value))
}

/// Compares two values of one type. Unequal values without an order count as less: no rule about an order fits them.
pub fn order(one: &Value, two: &Value) -> Ordering {
    match (one, two) {
        (Value::Decimal(Some(a)), Value::Decimal(Some(b))) => a.cmp(b),
        (Value::Int(Some(a)), Value::Int(Some(b))) => a.cmp(b),
        (Value::BigInt(Some(a)), Value::BigInt(Some(b))) => a.cmp(b),
        (a, b) if a == b => Ordering::Equal,
        (a, b) => codecs().find_map(|codec| (codec.order)(a, b)).unwrap_or(Ordering::Less),
    }
}

/// The value of the default `now`: the time of the request in the form of the type.
pub fn now(kind: Kind, now: DateTime<Utc>) -> Value {
    codec_of(kind).and_then(|codec| codec.now).map_or_else(|| now.into(), |value| value(now))
}

/// The null value of a kind, with the type of its column.
pub fn null(kind: Kind) -> Value {
    match kind.storage() {
        Some(Storage::Integer) => Value::Int(None),
        Some(Storage::Id | Storage::SingletonId | Storage::BigInt) => Value::BigInt(None),
        Some(Storage::Boolean) => Value::Bool(None),
        Some(Storage::Decimal(..)) => Value::Decimal(None),
        Some(Storage::Json | Storage::List) => Value::Json(None),
        _ => codec_of(kind).map_or(Value::String(None), |codec| codec.null.clone()),
    }
}

/// The type of a column, for SeaORM's tools.
pub fn column_type(kind: Kind) -> ColumnType {
    match kind.storage() {
        Some(Storage::String(max)) => ColumnType::String(StringLen::N(max)),
        Some(Storage::Word) => ColumnType::String(StringLen::N(255)),
        Some(Storage::Integer) => ColumnType::Integer,
        Some(Storage::Id | Storage::SingletonId | Storage::BigInt) => ColumnType::BigInteger,
        Some(Storage::Boolean) => ColumnType::Boolean,
        Some(Storage::Decimal(precision, places)) => {
            ColumnType::Decimal(Some((u32::from(precision), u32::from(places))))
        }
        Some(Storage::Json | Storage::List) => ColumnType::JsonBinary,
        _ => codec_of(kind).map_or(ColumnType::Text, |codec| codec.column.clone()),
    }
}

/// The array type of a column's values.
pub fn array_type(kind: Kind) -> ArrayType {
    match kind.storage() {
        Some(Storage::Integer) => ArrayType::Int,
        Some(Storage::Id | Storage::SingletonId | Storage::BigInt) => ArrayType::BigInt,
        Some(Storage::Boolean) => ArrayType::Bool,
        Some(Storage::Decimal(..)) => ArrayType::Decimal,
        Some(Storage::Json | Storage::List) => ArrayType::Json,
        _ => codec_of(kind).map_or(ArrayType::String, |codec| codec.array.clone()),
    }
}

/// The value of a named column of a Rust type that the driver reads.
fn stored<T: TryGetable + Into<Value>>(row: &QueryResult, name: &str) -> Result<Option<Value>> {
    Ok(row.try_get::<Option<T>>("", name)?.map(Into::into))
}
