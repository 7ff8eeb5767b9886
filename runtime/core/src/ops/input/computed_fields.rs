//! Computed fields: their values after a write, from those of the fields that their expressions name.

use rust_decimal::Decimal;
use sea_orm::Value;

use super::changeset::Changes;
use crate::error::{Error, Result};
use crate::expression;
use crate::field_type::null;
use crate::meta::{FieldMeta, Kind};
use crate::ops::Context;

/// Sets the computed fields whose expressions name a field that the write sets; all of them in a new record. A value that a
/// hook set is replaced. Fields over values with errors are left out.
///
/// # Errors
/// Those of the database that holds the record.
pub async fn set(context: &Context<'_>, changes: &mut Changes) -> Result<()> {
    changes.leave_rollups();
    let fields = changes.meta.fields;
    let computed: Vec<&'static FieldMeta> = fields.iter().filter(|field| !field.value.is_empty()).collect();
    if computed.is_empty() {
        return Ok(());
    }
    let request = context.request_without_day();
    for field in computed {
        let node = expression::computed(field, fields)
            .map_err(|problem| Error::internal(format!("`{}`: {problem}", field.value)))?;
        let names = node.fields();
        let is_set = |name: &&str| changes.get(name).is_some();
        let is_due = changes.is_new() || changes.get(field.name).is_some() || names.iter().any(is_set);
        if !is_due || names.iter().any(|name| changes.errors.contains(name)) {
            continue;
        }
        let value = expression::value(node, &request, &|other| changes.current(&other.name))?;
        match value.map_or(Some(null(field.kind)), |value| stored(field.kind, value)) {
            Some(value) => set_if_changed(changes, field, value)?,
            // Only a record from before a bound of its fields can have such a value.
            None => changes.errors.add(field.name, "is out of range"),
        }
    }
    Ok(())
}

/// Keeps a stored value out of the changes, so that the audit log shows no change.
fn set_if_changed(changes: &mut Changes, field: &'static FieldMeta, value: Value) -> Result<()> {
    let is_null = value == value.as_null();
    let is_stored = !changes.is_new() && changes.current(field.name)? == (!is_null).then(|| value.clone());
    if !is_stored {
        changes.set(field.name, value);
    }
    Ok(())
}

/// A value of the expression as the column stores it: a scaled number gets the type of the column. None if it is too
/// large.
pub fn stored(kind: Kind, value: Value) -> Option<Value> {
    match (kind, value) {
        (Kind::Integer | Kind::Code { .. }, Value::BigInt(Some(number))) => i32::try_from(number).ok().map(Value::from),
        (Kind::Decimal { precision, places }, Value::BigInt(Some(number))) => {
            let fits = i128::from(number).abs() < 10_i128.pow(precision.into());
            fits.then(|| Decimal::from_i128_with_scale(number.into(), places.into()).into())
        }
        (kind, value) => Some(crate::ops::records::rounded(kind, value)),
    }
}
