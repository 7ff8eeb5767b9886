//! The form of a record as the JSON that the API takes: lists from lines and boxes, times from the company's zone.

use std::collections::HashSet;

use chrono::SecondsFormat;
use serde_json::{Map, Value};

use super::place::Place;
use super::visit::Visit;
use super::{input, was, zone};
use crate::catalog::{Catalog, Entry};
use crate::custom_field::{CustomFieldType, Definition};
use crate::error::{Error, Result};
use crate::meta::{Access, DefaultValue, FieldMeta, Kind};
use crate::query::Pair;
use crate::server::form_to_json;

/// Reads the fields that a form sends. What is empty is left out of a new record, whose defaults then hold.
///
/// # Errors
/// [`Error::Malformed`] when the names of the form contradict each other.
pub fn read(
    catalog: &Catalog,
    fields: &[FieldMeta],
    definitions: &[Definition],
    zone: chrono_tz::Tz,
    form: &[Pair],
    is_new: bool,
) -> Result<Map<String, Value>> {
    let kept = was::sent(form);
    let given = form.iter().filter(|pair| !pair.name.starts_with('_'));
    let pairs: Vec<Pair> = given.map(|pair| was::meant(kept.get(pair.name.as_str()), pair, zone)).collect();
    let bytes = form_to_json(pairs)?;
    let Value::Object(mut record) = serde_json::from_slice(&bytes).map_err(Error::internal)? else {
        return Ok(Map::new());
    };
    for field in fields {
        if let Some(value) = record.get_mut(field.name) {
            let given = of_kind(catalog, field.kind, value.take(), zone);
            *value = was::in_order(kept.get(format!("{}[]", field.name).as_str()), given);
        }
    }
    // What is never shown is left as it is, unless something is written.
    for field in fields.iter().filter(|field| matches!(field.access, Access::WriteOnly | Access::Secret)) {
        if record.get(field.name).is_some_and(is_empty) {
            record.remove(field.name);
        }
    }
    if let Some(Value::Object(custom)) = record.get_mut("custom_fields") {
        for (name, value) in custom.iter_mut() {
            let definition = definitions.iter().find(|definition| definition.name == *name);
            let kind = definition.and_then(|definition| CustomFieldType::from_name(&definition.field_type));
            if let Some(kind) = kind {
                *value = of_kind(catalog, kind.kind(), value.take(), zone);
            }
        }
        if is_new {
            custom.retain(|_, value| !is_empty(value));
        }
    }
    if is_new {
        record.retain(|_, value| !is_empty(value));
    }
    Ok(record)
}

/// What a form sent as text, as the API shows it; what is no number stays as it was written.
pub fn as_shown(kind: Kind, value: &Value) -> Value {
    let Some(text) = value.as_str() else { return value.clone() };
    let number = || text.trim().parse::<i64>().map_or_else(|_| value.clone(), Value::from);
    match kind {
        _ if text.is_empty() => Value::Null,
        Kind::Code { .. } | Kind::Ref { .. } | Kind::Integer | Kind::BigInt => number(),
        Kind::Boolean => Value::Bool(text == "true"),
        _ => value.clone(),
    }
}

fn of_kind(catalog: &Catalog, kind: Kind, value: Value, zone: chrono_tz::Tz) -> Value {
    match (kind, value) {
        (Kind::Timestamp { .. }, Value::String(text)) if !text.is_empty() => Value::String(zone::utc(zone, &text)),
        (Kind::StringList { .. } | Kind::RefList { .. }, Value::Object(map)) => {
            let text = |name: &str| map.get(name).and_then(Value::as_str);
            // A list that nobody touched comes as it was.
            let kept = text("json").and_then(|json| serde_json::from_str(json).ok());
            kept.unwrap_or_else(|| was::elements(text("lines").unwrap_or_default()).into())
        }
        (Kind::StringList { .. } | Kind::RefList { .. }, Value::Array(list)) => {
            list.into_iter().filter(|value| !is_empty(value)).collect()
        }
        (Kind::Json, Value::Object(map)) => {
            let text = map.get("json").and_then(Value::as_str).unwrap_or_default();
            serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_string()))
        }
        (Kind::Embedded { resource, .. }, Value::Array(list)) => {
            let entry: &Entry = catalog.linked(resource);
            let read = |element: Value| match element {
                Value::Object(mut fields) => {
                    // A row in which nothing but boxes is filled in is none, and one that was emptied is removed. What it
                    // begins with nobody filled in.
                    let is_new = !fields.contains_key("id");
                    let begins = |name: &str, value: &Value| match entry.field(name).map(|field| field.default) {
                        Some(DefaultValue::Literal(text)) => value == text,
                        Some(DefaultValue::Now | DefaultValue::Caller) => true,
                        Some(DefaultValue::None) | None => false,
                    };
                    let filled = |(name, value): (&String, &Value)| {
                        name != "id" && value != "false" && !is_empty(value) && !(is_new && begins(name, value))
                    };
                    if !fields.iter().any(filled) {
                        return None;
                    }
                    // What a record that is there is not given, it keeps.
                    if !fields.contains_key("id") {
                        fields.retain(|_, value| !is_empty(value));
                    }
                    for field in entry.meta.fields {
                        if let Some(value) = fields.get_mut(field.name) {
                            *value = of_kind(catalog, field.kind, value.take(), zone);
                        }
                    }
                    Some(Value::Object(fields))
                }
                _ => None,
            };
            list.into_iter().filter_map(read).collect()
        }
        (_, value) => value,
    }
}

/// Takes the ids out of embedded rows that the record does not have any more: saved again they are new ones.
pub fn forget(sent: &mut Value, now: &Value, fields: &[FieldMeta]) {
    for field in fields.iter().filter(|field| matches!(field.kind, Kind::Embedded { .. })) {
        let known = now[field.name].as_array().into_iter().flatten();
        let known: HashSet<String> = known.map(|row| input::text(&row["id"])).collect();
        let rows = sent.get_mut(field.name).and_then(Value::as_array_mut).into_iter().flatten();
        for row in rows.filter_map(Value::as_object_mut) {
            if row.get("id").is_some_and(|id| !known.contains(&input::text(id))) {
                row.remove("id");
            }
        }
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_str().is_some_and(str::is_empty)
}

/// Ids that a form sent as text, as numbers.
pub fn numbered(fields: &[&'static FieldMeta], record: &Value) -> Value {
    let mut record = record.clone();
    for field in fields.iter().filter(|field| matches!(field.kind, Kind::Ref { .. } | Kind::PolymorphicRef { .. })) {
        if let Some(id) = record[field.name].as_str().and_then(|text| text.parse::<i64>().ok()) {
            record[field.name] = id.into();
        }
    }
    for field in fields.iter().filter(|field| matches!(field.kind, Kind::RefList { .. })) {
        if let Some(list) = record.get_mut(field.name).and_then(Value::as_array_mut) {
            for value in list {
                if let Some(id) = value.as_str().and_then(|text| text.parse::<i64>().ok()) {
                    *value = id.into();
                }
            }
        }
    }
    record
}

/// `custom_fields.power` is the field `custom_fields[power]` of the form.
pub fn bracketed(name: &str) -> String {
    let mut parts = name.split('.');
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |name, part| format!("{name}[{part}]"))
}

/// What a new record is without anybody's doing.
pub fn defaults(visit: &Visit<'_>, entry: &Entry) -> Map<String, Value> {
    let now = visit.state.clock.now();
    let value = |field: &FieldMeta| match field.default {
        DefaultValue::Literal(text) => Some(Value::String(text.into())),
        DefaultValue::Caller => visit.user.principal.user_id.map(Value::from),
        DefaultValue::Now if field.kind == Kind::Date => Some(now.date_naive().to_string().into()),
        DefaultValue::Now => Some(now.to_rfc3339_opts(SecondsFormat::Secs, true).into()),
        DefaultValue::None => None,
    };
    entry.meta.fields.iter().filter_map(|field| Some((field.name.to_string(), value(field)?))).collect()
}

/// Whether a form of this user's gives a field.
pub fn is_given(visit: &Visit<'_>, place: &Place<'_>, field: &FieldMeta) -> bool {
    if !visit.may_set(place.entry, field) {
        return false;
    }
    let parent = place.entry.meta.under.is_some_and(|under| under.field == field.name);
    match field.access {
        Access::Writable | Access::WriteOnly | Access::Secret => !parent && field.name != "id",
        Access::Immutable => place.is_list() && !parent,
        Access::ReadOnly | Access::Internal => false,
    }
}
