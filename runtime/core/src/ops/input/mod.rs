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
mod included;
pub mod json_field;
pub mod references;
pub mod referred_records;
pub mod rules;
pub mod unique;

use std::borrow::Cow;
use std::collections::HashSet;

use sea_orm::Value;

use self::body::{Body, RawJson};
use self::changeset::{Changes, stored};
use self::custom_fields::merge;
use crate::catalog::{Catalog, Entry};
use crate::custom_field::Definition;
use crate::error::{Error, FieldErrors, Result};
use crate::field_type::{self, null};
use crate::meta::{Access, DefaultValue, FieldMeta, Kind};
use crate::ops::Context;
use crate::ops::records::rounded;
use crate::query::{MAX_LIST_ELEMENTS, read_value};
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
            } else if !(included::is_as_shown(entry, name, &raw)
                || changes.before.is_some() && is_revealed(entry, name))
            {
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

/// Reads the value of a field. Returns every error of a list's elements.
pub fn read_field(field: &FieldMeta, raw: &RawJson<'_>) -> Result<Value, Vec<String>> {
    let list = match (field.kind, raw) {
        (Kind::StringList { max }, raw) if !is_empty(raw) => {
            read_list(raw, |element| match text(element, Some(max))? {
                // Blank elements are refused, not dropped.
                Value::String(Some(text)) if text.trim().is_empty() => Err("must not be blank".into()),
                Value::String(Some(text)) => Ok(serde_json::Value::String(text)),
                _ => Err("must be a string".into()),
            })?
        }
        (Kind::RefList { .. }, raw) if !is_empty(raw) => without_duplicates(read_ids(raw)?),
        _ => return read_one(field, raw).map_err(|problem| vec![problem]),
    };
    check_value_rules(field, &list).map_err(|problem| vec![problem])?;
    Ok(list)
}

/// Validates a value that a hook set like one of a client.
pub fn read_value_of(field: &FieldMeta, value: &Value) -> Result<Value, String> {
    if *value == value.as_null() {
        return if field.nullable { Ok(value.clone()) } else { Err("must not be null".into()) };
    }
    // An optional text that is not nullable may be empty, for example one that a hook composes.
    if matches!(value, Value::String(Some(text)) if text.is_empty()) && !field.nullable && !field.required {
        return Ok(value.clone());
    }
    // The rules of a secret apply to the client's value, which a hook replaces by its hash.
    let field = &FieldMeta { rules: if field.access == Access::Secret { &[] } else { field.rules }, ..*field };
    let text = match value {
        Value::Bool(Some(value)) => value.to_string(),
        Value::Int(Some(number)) => number.to_string(),
        Value::BigInt(Some(number)) => number.to_string(),
        Value::Decimal(Some(number)) => number.to_string(),
        Value::String(Some(text)) => text.clone(),
        Value::Json(Some(json)) if field.kind == Kind::CustomFields => {
            return if json.is_object() { Ok(value.clone()) } else { Err("must be an object".into()) };
        }
        Value::Json(Some(json)) => {
            return read_field(field, &RawJson::Nested(&json.to_string())).map_err(|problems| problems.join("; "));
        }
        value => field_type::text(value).ok_or("is of another type")?,
    };
    read_field(field, &RawJson::Text(text.into())).map_err(|problems| problems.join("; "))
}

fn read_one(field: &FieldMeta, raw: &RawJson<'_>) -> Result<Value, String> {
    if is_empty(raw) {
        return match field.kind {
            Kind::StringList { .. } | Kind::RefList { .. } => {
                let empty = json(serde_json::Value::Array(Vec::new()));
                check_value_rules(field, &empty).map(|()| empty)
            }
            _ if field.nullable => Ok(null(field.kind)),
            // `""` clears a JSON list like any list.
            Kind::Json if field.default == DefaultValue::Literal("[]") => {
                Ok(json(serde_json::Value::Array(Vec::new())))
            }
            _ => Err("must not be blank".into()),
        };
    }
    let value = match field.kind {
        Kind::String { max } => text(raw, Some(max))?,
        Kind::Text => text(raw, None)?,
        Kind::StringList { .. } | Kind::RefList { .. } => return Err("must be a list".into()),
        Kind::Json => match raw {
            RawJson::Nested(text) => json(json_field::read(text)?),
            _ => return Err("must be an object or a list".into()),
        },
        // Truncated to the stored precision first, so that the rules see the value that is stored.
        kind => super::records::rounded(kind, read_value(kind, raw.scalar()?)?),
    };
    if (field.required || !field.sequence.is_empty())
        && let Value::String(Some(text)) = &value
        && text.trim().is_empty()
    {
        return Err("must not be blank".into());
    }
    check_value_rules(field, &value)?;
    Ok(value)
}

fn is_empty(raw: &RawJson<'_>) -> bool {
    matches!(raw, RawJson::Text(text) if text.is_empty())
}

fn check_value_rules(field: &FieldMeta, value: &Value) -> Result<(), String> {
    field.rules.iter().try_for_each(|rule| super::input::rules::check_value(*rule, field.kind, value))
}

fn text(raw: &RawJson<'_>, max: Option<u32>) -> Result<Value, String> {
    let RawJson::Text(text) = raw else { return Err(raw.not_text().into()) };
    if let Some(max) = max
        && text.chars().count() > max as usize
    {
        return Err(match max {
            1 => "must be one character".into(),
            max => format!("must have at most {max} characters"),
        });
    }
    read_value(Kind::Text, text)
}

/// Reads a list. Each error names the position of its element.
fn read_list(
    raw: &RawJson<'_>,
    read: impl Fn(&RawJson<'_>) -> Result<serde_json::Value, String>,
) -> Result<Value, Vec<String>> {
    let elements = match raw {
        RawJson::Nested(text) => serde_json::from_str::<Vec<&serde_json::value::RawValue>>(text).ok(),
        _ => None,
    };
    let Some(elements) = elements else { return Err(vec!["must be a list".into()]) };
    if elements.len() > MAX_LIST_ELEMENTS {
        return Err(vec![format!("must have at most {MAX_LIST_ELEMENTS} elements")]);
    }
    let (mut list, mut problems) = (Vec::with_capacity(elements.len()), Vec::new());
    for (index, raw) in elements.iter().enumerate() {
        match read(&RawJson::read(raw)) {
            Ok(element) => list.push(element),
            Err(problem) => problems.push(format!("{problem} (element {})", index + 1)),
        }
    }
    if problems.is_empty() { Ok(json(list.into())) } else { Err(problems) }
}

/// Reads a list of ids.
fn read_ids(raw: &RawJson<'_>) -> Result<Value, Vec<String>> {
    read_list(raw, |element| match read_value(Kind::BigInt, element.scalar()?)? {
        Value::BigInt(Some(id)) => Ok(serde_json::Value::from(id)),
        _ => Err("must be an id".into()),
    })
}

/// Removes repeated ids.
fn without_duplicates(mut list: Value) -> Value {
    if let Value::Json(Some(list)) = &mut list
        && let Some(ids) = list.as_array_mut()
    {
        let mut seen = HashSet::new();
        ids.retain(|id| seen.insert(id.as_i64()));
    }
    list
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

fn json(value: serde_json::Value) -> Value {
    Value::Json(Some(Box::new(value)))
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
