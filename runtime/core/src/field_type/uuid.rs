//! Values of the type `uuid`.

use std::io::Write;

use sea_orm::Value;
use sea_orm::sea_query::{ArrayType, ColumnType};
use uuid::Uuid;

use super::{Codec, stored};

pub(super) static CODEC: Codec = Codec {
    column: ColumnType::Uuid,
    array: ArrayType::Uuid,
    null: Value::Uuid(None),
    read: |text| Uuid::parse_str(text.trim()).map(Value::from).map_err(|_| "must be a UUID".into()),
    stored: stored::<Uuid>,
    write: |out, cell| Ok(cell.uuid()?.map(|uuid| drop(write!(out, "\"{uuid}\"")))),
    text: |value| match value {
        Value::Uuid(Some(uuid)) => Some(uuid.to_string()),
        _ => None,
    },
    order: |_, _| None,
    now: None,
};
