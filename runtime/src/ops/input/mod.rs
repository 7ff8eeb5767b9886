//! A body against a resource's metadata: every field known, every value read, every problem collected.

pub(crate) mod body;
pub(crate) mod changeset;
pub(crate) mod embedded;
pub(crate) mod json_field;
pub(crate) mod json_scan;
pub(crate) mod references;
pub(crate) mod rules;

use std::borrow::Cow;
use std::collections::HashSet;

use sea_orm::Value;

use self::body::{Body, RawJson};
use self::changeset::{Changes, stored};
use crate::catalog::{Catalog, Entry};
use crate::context::Context;
use crate::custom_field::{Definition, merge};
use crate::error::{Error, FieldErrors, Result};
use crate::meta::{Access, DefaultValue, FieldMeta, Kind};
use crate::query::{MAX_LIST_ELEMENTS, hint, read_value};

/// Reads a body into changes; problems are collected in `changes.errors`.
///
/// Omitted and null leave a field as it is (on create: to its default); `""` clears a field that may be null
/// (the specification, "Update semantics"). A known field that a client cannot write is ignored, so that what GET
/// answered can be sent back.
pub fn read(
    catalog: &Catalog,
    entry: &Entry,
    body: &Body<'_>,
    definitions: &[Definition],
    changes: &mut Changes,
) -> Result<()> {
    for name in &body.beside {
        // What clients cannot write is ignored wherever it stands.
        if entry.field(name).is_none_or(|field| writable(field) || field.access == Access::Internal) {
            changes.errors.add(name.clone(), format!("stands beside `{}`: put it inside", entry.meta.name));
        }
    }
    for (name, raw) in &body.fields {
        let given = RawJson::read(raw);
        // The time of deletion is shown where deleted records are asked for.
        let shown =
            |f: &FieldMeta| f.access != Access::Internal || f.name == "deleted_at" && entry.meta.keeps_deleted();
        let Some(field) = entry.field(name).filter(|f| shown(f)) else {
            if name == entry.meta.name {
                changes.errors.add(name.clone(), "must be an object");
            } else if entry.include(name).is_none() && !(changes.before.is_some() && is_revealed(entry, name)) {
                let known = entry.meta.fields.iter().filter(|f| writable(f)).map(|f| f.name);
                changes.errors.add(
                    name.clone(),
                    format!("is not a field of {}{}", entry.meta.label.to_lowercase(), hint(name, known)),
                );
            }
            continue;
        };
        if !writable(field) || matches!(given, RawJson::Null) {
            continue;
        }
        match field.kind {
            Kind::CustomFields => read_custom(field, &given, definitions, changes)?,
            Kind::Embedded { .. } => embedded::read(catalog, field, &given, changes)?,
            _ => match read_field(field, &given) {
                Ok(value) => changes.set(field.name, value),
                // What a record has it may keep, also when the rules have grown stricter since.
                Err(_) if is_stored(field, &given, changes)? => {}
                Err(problems) => changes.errors.add_all(field.name, problems),
            },
        }
    }
    complete_polymorphic(entry, changes)
}

/// Who clears one half of a reference to one of several resources clears the other; and an id of one of them is no id of
/// another, so that it is given with another type.
fn complete_polymorphic(entry: &Entry, changes: &mut Changes) -> Result<()> {
    for field in entry.meta.fields {
        let Kind::PolymorphicRef { type_field } = field.kind else { continue };
        let is_null = |value: &Value| *value == value.as_null();
        match (changes.get(type_field), changes.get(field.name)) {
            (Some(cleared), None) if is_null(cleared) => changes.set(field.name, null(field.kind)),
            (None, Some(cleared)) if is_null(cleared) => {
                if let Some(other) = entry.field(type_field) {
                    changes.set(type_field, null(other.kind));
                }
            }
            (Some(given), None) if !changes.errors.contains(field.name) => {
                let (Some(row), Some(other)) = (&changes.before, entry.field(type_field)) else { continue };
                if stored(row, other)?.is_some_and(|known| known != *given) {
                    changes.errors.add(field.name, format!("is required with another {type_field}"));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a name is of what is shown once, beside a record that was just made. A change may have it like all that was read;
/// who makes a record with a secret of their own is told that it is not taken.
fn is_revealed(entry: &Entry, name: &str) -> bool {
    let by_actions = entry.meta.actions.iter().flat_map(|action| action.reveals);
    entry.meta.reveals.iter().chain(by_actions).any(|(known, _)| *known == name)
}

/// Whether a text, a list or a document is sent back as it is stored.
fn is_stored(field: &FieldMeta, given: &RawJson<'_>, changes: &Changes) -> Result<bool> {
    let Some(row) = &changes.before else { return Ok(false) };
    Ok(match (stored(row, field)?, given) {
        (Some(Value::String(Some(known))), RawJson::Text(text)) => known == *text,
        (Some(Value::Json(Some(known))), RawJson::Nested(text)) => {
            serde_json::from_str::<serde_json::Value>(text).is_ok_and(|given| *known == given)
        }
        _ => false,
    })
}

/// Gives a new record the defaults of what was not given, and reports what had to be.
pub fn complete(entry: &Entry, context: &Context<'_>, definitions: &[Definition], changes: &mut Changes) -> Result<()> {
    for field in entry.meta.fields.iter().filter(|f| f.is_column() && f.name != "id") {
        if changes.get(field.name).is_some() || changes.errors.contains(field.name) {
            continue;
        }
        if field.required {
            changes.errors.add(field.name, "is required");
        } else if let Some(value) = default(field, context)? {
            changes.set(field.name, value);
        }
    }
    if entry.meta.custom_fields && !definitions.is_empty() {
        let given = match changes.get("custom_fields") {
            Some(Value::Json(Some(json))) => json.as_object().cloned().unwrap_or_default(),
            _ => serde_json::Map::new(),
        };
        let merged = merge(given, &[], definitions, true, &mut changes.errors);
        changes.set("custom_fields", json(merged.into()));
    }
    Ok(())
}

/// Whether a client may write the field at all.
fn writable(field: &FieldMeta) -> bool {
    !matches!(field.kind, Kind::Derived { .. })
        && matches!(field.access, Access::Writable | Access::Immutable | Access::WriteOnly | Access::Secret)
}

/// The value of a field that a new record was not given; `None` leaves it to a hook or to the table.
fn default(field: &FieldMeta, context: &Context<'_>) -> Result<Option<Value>> {
    let value = match field.default {
        DefaultValue::Literal(text) => read_value(field.kind, text)
            .map_err(|problem| Error::internal(format!("the default of `{}` {problem}", field.name)))?,
        DefaultValue::Now if field.kind == Kind::Date => context.now().date_naive().into(),
        DefaultValue::Now => context.now().into(),
        DefaultValue::Caller => match context.caller().user_id {
            Some(id) => id.into(),
            None => return Ok(None),
        },
        DefaultValue::None => match (field.name, field.kind) {
            ("created_at" | "updated_at", _) => context.now().into(),
            (_, Kind::StringList { .. } | Kind::RefList { .. }) => json(serde_json::Value::Array(Vec::new())),
            (_, Kind::CustomFields) => json(serde_json::Value::Object(serde_json::Map::new())),
            (_, Kind::Json) if !field.nullable => json(serde_json::Value::Object(serde_json::Map::new())),
            _ if field.nullable => null(field.kind),
            _ => return Ok(None),
        },
    };
    Ok(Some(value))
}

/// Reads one field's value, or says what is wrong with it: of a list with each of its elements.
pub fn read_field(field: &FieldMeta, given: &RawJson<'_>) -> Result<Value, Vec<String>> {
    let list = match (field.kind, given) {
        (Kind::StringList { max }, given) if !is_empty(given) => {
            read_list(given, |element| match text(element, Some(max))? {
                // What is nothing is left out: an element is there or not.
                Value::String(Some(text)) if text.trim().is_empty() => Err("must not be blank".into()),
                Value::String(Some(text)) => Ok(serde_json::Value::String(text)),
                _ => Err("must be a string".into()),
            })?
        }
        (Kind::RefList { .. }, given) if !is_empty(given) => {
            once(read_list(given, |element| match read_value(Kind::BigInt, element.scalar()?)? {
                Value::BigInt(Some(id)) => Ok(serde_json::Value::from(id)),
                _ => Err("must be an id".into()),
            })?)
        }
        _ => return read_one(field, given).map_err(|problem| vec![problem]),
    };
    check_value_rules(field, &list).map_err(|problem| vec![problem])?;
    Ok(list)
}

/// Reads a value that a behaviour set as if a client had given it.
pub fn read_value_of(field: &FieldMeta, value: &Value) -> Result<Value, String> {
    if *value == value.as_null() {
        return if field.nullable { Ok(value.clone()) } else { Err("must not be null".into()) };
    }
    // A text that need not be given may be empty, as one that is made of others.
    if matches!(value, Value::String(Some(text)) if text.is_empty()) && !field.nullable && !field.required {
        return Ok(value.clone());
    }
    // The rules of a secret are those of what the client gave, of which a hook makes a hash.
    let field = &FieldMeta { rules: if field.access == Access::Secret { &[] } else { field.rules }, ..*field };
    let text = match value {
        Value::Bool(Some(value)) => value.to_string(),
        Value::Int(Some(number)) => number.to_string(),
        Value::BigInt(Some(number)) => number.to_string(),
        Value::Decimal(Some(number)) => number.to_string(),
        Value::String(Some(text)) => text.clone(),
        Value::ChronoDateTimeUtc(Some(time)) => time.to_rfc3339(),
        Value::ChronoDate(Some(date)) => date.to_string(),
        Value::Uuid(Some(id)) => id.to_string(),
        Value::Json(Some(json)) if field.kind == Kind::CustomFields => {
            return if json.is_object() { Ok(value.clone()) } else { Err("must be an object".into()) };
        }
        Value::Json(Some(json)) => {
            return read_field(field, &RawJson::Nested(&json.to_string())).map_err(|problems| problems.join("; "));
        }
        _ => return Err("is of another type".into()),
    };
    read_field(field, &RawJson::Text(text.into())).map_err(|problems| problems.join("; "))
}

fn read_one(field: &FieldMeta, given: &RawJson<'_>) -> Result<Value, String> {
    if is_empty(given) {
        return match field.kind {
            Kind::StringList { .. } | Kind::RefList { .. } => {
                let empty = json(serde_json::Value::Array(Vec::new()));
                check_value_rules(field, &empty).map(|()| empty)
            }
            _ if field.nullable => Ok(null(field.kind)),
            // A list of objects is emptied like any list.
            Kind::Json if field.default == DefaultValue::Literal("[]") => {
                Ok(json(serde_json::Value::Array(Vec::new())))
            }
            _ => Err("must not be blank".into()),
        };
    }
    let value = match field.kind {
        Kind::String { max } => text(given, Some(max))?,
        Kind::Text => text(given, None)?,
        Kind::StringList { .. } | Kind::RefList { .. } => return Err("must be a list".into()),
        Kind::Json => match given {
            RawJson::Nested(text) => json(json_field::read(text)?),
            _ => return Err("must be an object or a list".into()),
        },
        // To the precision that it is stored and shown in, so that it is judged as what it will be.
        kind => super::records::rounded(kind, read_value(kind, given.scalar()?)?),
    };
    if field.required
        && let Value::String(Some(text)) = &value
        && text.trim().is_empty()
    {
        return Err("must not be blank".into());
    }
    check_value_rules(field, &value)?;
    Ok(value)
}

fn is_empty(given: &RawJson<'_>) -> bool {
    matches!(given, RawJson::Text(text) if text.is_empty())
}

fn check_value_rules(field: &FieldMeta, value: &Value) -> Result<(), String> {
    field.rules.iter().try_for_each(|rule| super::input::rules::check_value(*rule, field.kind, value))
}

fn text(given: &RawJson<'_>, max: Option<u32>) -> Result<Value, String> {
    let RawJson::Text(text) = given else { return Err(given.no_text().into()) };
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

/// Reads a list; each problem is told with the position of its element.
fn read_list(
    given: &RawJson<'_>,
    read: impl Fn(&RawJson<'_>) -> Result<serde_json::Value, String>,
) -> Result<Value, Vec<String>> {
    let elements = match given {
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

/// Who is named twice is named.
fn once(mut list: Value) -> Value {
    if let Value::Json(Some(list)) = &mut list
        && let Some(ids) = list.as_array_mut()
    {
        let mut seen = HashSet::new();
        ids.retain(|id| seen.insert(id.as_i64()));
    }
    list
}

fn read_custom(
    field: &FieldMeta,
    given: &RawJson<'_>,
    definitions: &[Definition],
    changes: &mut Changes,
) -> Result<()> {
    let fields = match given {
        RawJson::Nested(text) => Body::nested(text),
        _ => Err("must be an object".into()),
    };
    let fields = match fields {
        Ok(fields) => fields,
        Err(problem) => {
            changes.errors.add(field.name, problem);
            return Ok(());
        }
    };
    let given: Vec<(String, RawJson<'_>)> =
        fields.fields.iter().map(|(name, raw)| (Cow::to_string(name), RawJson::read(raw))).collect();
    let before = match &changes.before {
        Some(row) => row.try_get::<serde_json::Value>("", field.name)?.as_object().cloned().unwrap_or_default(),
        None => serde_json::Map::new(),
    };
    let mut errors = FieldErrors::default();
    let merged = merge(before, &given, definitions, false, &mut errors);
    changes.errors.merge(errors);
    changes.set(field.name, json(merged.into()));
    Ok(())
}

fn json(value: serde_json::Value) -> Value {
    Value::Json(Some(Box::new(value)))
}

/// The null of a kind, typed as its column is.
pub fn null(kind: Kind) -> Value {
    match kind {
        Kind::Integer | Kind::Code { .. } => Value::Int(None),
        Kind::BigInt | Kind::Ref { .. } | Kind::PolymorphicRef { .. } => Value::BigInt(None),
        Kind::Boolean => Value::Bool(None),
        Kind::Decimal { .. } => Value::Decimal(None),
        Kind::Timestamp { .. } => Value::ChronoDateTimeUtc(None),
        Kind::Date => Value::ChronoDate(None),
        Kind::Uuid => Value::Uuid(None),
        Kind::StringList { .. } | Kind::RefList { .. } | Kind::Json | Kind::CustomFields => Value::Json(None),
        _ => Value::String(None),
    }
}

/// Reads the parameters of an action, in the order of its fields, with their defaults.
///
/// # Errors
/// 422 with every problem.
pub fn read_parameters(
    fields: &'static [FieldMeta],
    given: &[(String, RawJson<'_>)],
    context: &Context<'_>,
    errors: &mut FieldErrors,
) -> Result<Vec<Value>> {
    let mut values = Vec::with_capacity(fields.len());
    for field in fields {
        let sent = given.iter().find(|(name, given)| name == field.name && !matches!(given, RawJson::Null));
        let value = match sent {
            Some((_, given)) => read_field(field, given),
            None if field.required => Err(vec!["is required".into()]),
            None => Ok(default(field, context)?.unwrap_or_else(|| null(field.kind))),
        };
        values.push(value.unwrap_or_else(|problems| {
            errors.add_all(field.name, problems);
            null(field.kind)
        }));
    }
    Ok(values)
}
