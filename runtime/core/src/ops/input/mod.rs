//! Reads a request body by a resource's metadata: rejects unknown fields, parses every value and collects every error.

pub mod batch_references;
pub mod body;
pub mod changeset;
pub mod checks;
pub mod choices;
pub mod computed_fields;
pub mod custom_fields;
pub mod embedded;
pub mod expressions;
mod field_value;
mod included;
pub mod json_field;
pub mod references;
pub mod referred_records;
pub mod rules;
pub mod unique;

use std::borrow::Cow;

use sea_orm::Value;

use self::body::{Body, RawJson};
use self::changeset::{Changes, stored};
use self::custom_fields::merge;
use self::field_value::{is_empty, json, read_ids};
pub use self::field_value::{read_field, read_value_of, refuses_blank};
use crate::catalog::{Catalog, Entry};
use crate::custom_field::Definition;
use crate::error::{Error, FieldErrors, Result};
use crate::field_type::{self, null};
use crate::meta::{Access, DefaultValue, FieldMeta, Kind};
use crate::ops::Context;
use crate::ops::records::rounded;
use crate::query::read_value;
use crate::suggest::hint;

/// Reads a body into changes and adds errors to `changes.errors`.
///
/// An omitted or null field stays unchanged, or gets its default in a create; `""` clears a nullable field (the
/// specification, "Update semantics"). A field that clients cannot write is ignored, and an include as a response has it, so
/// that a client can send back the response to a GET.
pub fn read(
    catalog: &Catalog,
    entry: &Entry,
    body: &Body<'_>,
    definitions: &[Definition],
    changes: &mut Changes,
) -> Result<()> {
    for name in &body.outside {
        // Fields that clients cannot write are ignored here too.
        if entry.field(name).is_none_or(|field| is_writable(field) || field.access == Access::Internal) {
            changes.errors.add(name.clone(), format!("is outside of `{}`: move it inside", entry.meta.name));
        }
    }
    for (name, raw) in &body.fields {
        let raw = RawJson::read(raw);
        // Responses contain `deleted_at` if the client asks for deleted records.
        let is_known =
            |f: &FieldMeta| f.access != Access::Internal || f.name == "deleted_at" && entry.meta.keeps_deleted();
        let Some(field) = entry.field(name).filter(|f| is_known(f)) else {
            if name == entry.meta.name {
                changes.errors.add(name.clone(), "must be an object");
            } else if is_revealed(entry, name) {
                if changes.before.is_none() && !matches!(raw, RawJson::Null) {
                    changes.errors.add(name.clone(), "cannot be set: the server makes it");
                }
            } else if !included::is_as_shown(entry, name, &raw) {
                let names = || entry.meta.fields.iter().filter(|f| is_writable(f)).map(|f| f.name);
                let hint = included::hint(entry, name).unwrap_or_else(|| hint(name, names()));
                changes
                    .errors
                    .add(name.clone(), format!("is not a field of {}{hint}", entry.meta.label.to_lowercase()));
            }
            continue;
        };
        if !is_writable(field) || matches!(raw, RawJson::Null) {
            continue;
        }
        // The server assigns the number of a new record that the client leaves blank.
        let is_blank = matches!(&raw, RawJson::Text(text) if text.trim().is_empty());
        if !field.sequence.is_empty() && changes.before.is_none() && is_blank {
            continue;
        }
        match field.kind {
            Kind::CustomFields => read_custom_fields(field, &raw, definitions, changes)?,
            Kind::Embedded { .. } => embedded::read(catalog, field, &raw, changes)?,
            Kind::Links { .. } => embedded::links::read(catalog, field, &raw, changes),
            _ => match read_field(field, &raw) {
                Ok(value) => changes.set(field.name, value),
                // A stored value stays valid when the rules become stricter later.
                Err(_) if is_stored(field, &raw, changes)? => {}
                Err(problems) => changes.errors.add_all(field.name, problems),
            },
        }
    }
    complete_polymorphic(entry, changes)
}

/// Clearing one half of a polymorphic reference clears the other. A new type needs a new id, because the old id belongs
/// to a record of another resource.
fn complete_polymorphic(entry: &Entry, changes: &mut Changes) -> Result<()> {
    for field in entry.meta.fields {
        let Kind::PolymorphicRef { type_field } = field.kind else { continue };
        let is_null = |value: &Value| *value == value.as_null();
        match (changes.get(type_field), changes.get(field.name)) {
            (Some(value), None) if is_null(value) => changes.set(field.name, null(field.kind)),
            (None, Some(value)) if is_null(value) => {
                if let Some(other) = entry.field(type_field) {
                    changes.set(type_field, null(other.kind));
                }
            }
            (Some(new), None) if !changes.errors.contains(field.name) => {
                let (Some(row), Some(other)) = (&changes.before, entry.field(type_field)) else { continue };
                if stored(row, other)?.is_some_and(|stored| stored != *new) {
                    changes.errors.add(field.name, format!("is required with another {type_field}"));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// True if a name is that of a secret that only the response to a write contains. An update ignores it like every field
/// that the client read; a create refuses it, because the client's own secret would not be used.
fn is_revealed(entry: &Entry, name: &str) -> bool {
    let by_actions = entry.meta.actions.iter().flat_map(|action| action.reveals);
    entry.meta.reveals.iter().chain(by_actions).any(|(secret, _)| *secret == name)
}

/// True if a text, a list or a JSON value equals the stored one.
fn is_stored(field: &FieldMeta, raw: &RawJson<'_>, changes: &Changes) -> Result<bool> {
    let Some(row) = &changes.before else { return Ok(false) };
    Ok(match (stored(row, field)?, raw) {
        (Some(Value::String(Some(stored))), RawJson::Text(text)) => stored == *text,
        (Some(Value::Json(Some(stored))), RawJson::Nested(text)) => {
            serde_json::from_str::<serde_json::Value>(text).is_ok_and(|value| *stored == value)
        }
        _ => false,
    })
}

/// Sets the defaults of a new record, but for expressions, which need the other fields, and adds errors for required fields without a value.
pub fn complete(entry: &Entry, context: &Context<'_>, definitions: &[Definition], changes: &mut Changes) -> Result<()> {
    for field in entry.meta.fields.iter().filter(|f| f.is_column() && f.name != "id") {
        if changes.get(field.name).is_some() || changes.errors.contains(field.name) {
            continue;
        }
        if field.required {
            changes.errors.add(field.name, "is required");
        } else if !field.sequence.is_empty() {
            // It is assigned after the checks.
            continue;
        } else if let Some(value) = default_value(field, context)? {
            changes.set(field.name, value);
        }
    }
    if entry.meta.custom_fields && !definitions.is_empty() {
        let values = match changes.get("custom_fields") {
            Some(Value::Json(Some(json))) => json.as_object().cloned().unwrap_or_default(),
            _ => serde_json::Map::new(),
        };
        let merged = merge(values, &[], definitions, true, &mut changes.errors);
        changes.set("custom_fields", json(merged.into()));
    }
    Ok(())
}

/// True if clients may write the field.
pub fn is_writable(field: &FieldMeta) -> bool {
    !matches!(field.kind, Kind::Derived { .. })
        && matches!(field.access, Access::Writable | Access::Immutable | Access::WriteOnly | Access::Secret)
}

/// The default of a field; `None` leaves it to an expression, a hook or the table.
fn default_value(field: &FieldMeta, context: &Context<'_>) -> Result<Option<Value>> {
    let value = match field.default {
        DefaultValue::Literal(text) => read_value(field.kind, text)
            .map_err(|problem| Error::internal(format!("the default of `{}` {problem}", field.name)))?,
        // Rounded as it is stored, because computed fields may name it.
        DefaultValue::Now => rounded(field.kind, field_type::now(field.kind, context.now())),
        DefaultValue::Caller => match context.caller().user_id {
            Some(id) => id.into(),
            None => return Ok(None),
        },
        DefaultValue::Hook | DefaultValue::Expression(_) => return Ok(None),
        DefaultValue::None => match (field.name, field.kind) {
            ("created_at" | "updated_at", kind) => rounded(kind, context.now().into()),
            (_, Kind::StringList { .. } | Kind::RefList { .. }) => json(serde_json::Value::Array(Vec::new())),
            (_, Kind::CustomFields) => json(serde_json::Value::Object(serde_json::Map::new())),
            (_, Kind::Json) if !field.nullable => json(serde_json::Value::Object(serde_json::Map::new())),
            _ if field.nullable => null(field.kind),
            _ => return Ok(None),
        },
    };
    Ok(Some(value))
}

fn read_custom_fields(
    field: &FieldMeta,
    raw: &RawJson<'_>,
    definitions: &[Definition],
    changes: &mut Changes,
) -> Result<()> {
    let body = match raw {
        RawJson::Nested(text) => Body::nested(text),
        _ => Err("must be an object".into()),
    };
    let body = match body {
        Ok(body) => body,
        Err(problem) => {
            changes.errors.add(field.name, problem);
            return Ok(());
        }
    };
    let values: Vec<(String, RawJson<'_>)> =
        body.fields.iter().map(|(name, raw)| (Cow::to_string(name), RawJson::read(raw))).collect();
    let before = match &changes.before {
        Some(row) => row.try_get::<serde_json::Value>("", field.name)?.as_object().cloned().unwrap_or_default(),
        None => serde_json::Map::new(),
    };
    let mut errors = FieldErrors::default();
    let merged = merge(before, &values, definitions, false, &mut errors);
    changes.errors.merge(errors);
    changes.set(field.name, json(merged.into()));
    Ok(())
}

/// Reads the parameters of an action, in the order of its fields, with their defaults. Adds errors to `errors`.
pub fn read_parameters(
    fields: &'static [FieldMeta],
    parameters: &[(String, RawJson<'_>)],
    context: &Context<'_>,
    errors: &mut FieldErrors,
) -> Result<Vec<Value>> {
    let mut values = Vec::with_capacity(fields.len());
    for field in fields {
        let sent = parameters.iter().find(|(name, value)| name == field.name && !matches!(value, RawJson::Null));
        let value = match sent {
            Some((_, raw)) => read_field(field, raw),
            None if field.required => Err(vec!["is required".into()]),
            None => Ok(default_value(field, context)?.unwrap_or_else(|| null(field.kind))),
        };
        values.push(value.unwrap_or_else(|problems| {
            errors.add_all(field.name, problems);
            null(field.kind)
        }));
    }
    Ok(values)
}
