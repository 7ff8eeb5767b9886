//! Expressions that give a field a value: defaults of a new record, and what an action sets.

use sea_orm::Value;

use super::changeset::Changes;
use super::computed_fields::stored;
use super::read_value_of;
use super::referred_records::ReferredRecords;
use crate::error::{Error, Result};
use crate::expression::{self, Field, Node};
use crate::field_type::null;
use crate::meta::{FieldMeta, ResourceMeta};
use crate::ops::{Context, visibility};

/// Sets the fields of a new record whose default is an expression and that neither the client nor code has set, each after those
/// that it names. The other fields have their values. Fields over values with errors are left out.
///
/// # Errors
/// When the database fails.
pub async fn set_defaults(context: &Context<'_>, changes: &mut Changes) -> Result<()> {
    if !changes.is_new() {
        return Ok(());
    }
    let find = |name: &str| Some(context.catalog().linked(name).meta);
    for (field, text, node) in expression::defaults(changes.meta, &find).map_err(Error::internal)? {
        let node = *node;
        if changes.get(field.name).is_some() || changes.errors.contains(field.name) {
            continue;
        }
        if node.fields().iter().any(|name| changes.errors.contains(name)) {
            continue;
        }
        let is_null = |value: &Value| *value == value.as_null();
        match value(context, changes, field, node).await? {
            Ok(value) if is_null(&value) && !field.nullable => {
                changes.errors.add(field.name, format!("is required, because its default {text} has no value"));
            }
            Ok(value) => changes.set(field.name, value),
            Err(problem) => changes.errors.add(field.name, problem),
        }
    }
    Ok(())
}

/// The checked expression of `set` of an action.
///
/// # Errors
/// An internal error for an invalid expression. The start refuses one.
pub fn checked(
    context: &Context<'_>,
    meta: &'static ResourceMeta,
    field: &'static FieldMeta,
    text: &'static str,
) -> Result<&'static Node> {
    let find = |name: &str| Some(context.catalog().linked(name).meta);
    expression::settable(text, field, meta, &find).map_err(|problem| Error::internal(format!("`{text}`: {problem}")))
}

/// The value of a checked expression as the field stores it, or the rule of the field that it breaks.
///
/// # Errors
/// When the database fails.
pub async fn value(
    context: &Context<'_>,
    changes: &Changes,
    field: &'static FieldMeta,
    node: &Node,
) -> Result<Result<Value, String>> {
    let request = context.request(node.needs_day()).await?;
    // A record that the caller cannot see has no values, so that a default does not tell of it.
    let referred = ReferredRecords::load(context, changes, node, |entry| visibility::visible(context, entry)).await?;
    let current = |other: &Field| referred.current(changes, other);
    Ok(match expression::value(node, &request, &current)? {
        None => Ok(null(field.kind)),
        Some(value) => match stored(field.kind, value) {
            Some(value) => read_value_of(field, &value),
            None => Err("is out of range".to_owned()),
        },
    })
}
