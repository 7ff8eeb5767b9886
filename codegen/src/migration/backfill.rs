//! Values that a migration sets in rows that have none.

use super::step::Value;
use super::table::Column;
use crate::snapshot::{Default, Field};

/// The value for rows that have none and need one.
pub fn fill(field: &Field, column: &Column) -> Option<Value> {
    let declared = field.backfill.as_ref().and_then(value);
    let empty = || column.storage.empty_json().map(|json| Value::Literal(json.to_owned()));
    declared.or_else(|| column.default.clone().map(Value::Literal)).or_else(empty)
}

/// The value that `backfill` declares.
pub fn value(backfill: &Default) -> Option<Value> {
    match backfill {
        Default::Literal { value } => Some(Value::Literal(value.clone())),
        Default::Now => Some(Value::Now),
        Default::None | Default::Caller | Default::Hook | Default::Expression { .. } => None,
    }
}
