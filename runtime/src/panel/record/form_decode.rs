//! Decodes the form of a record into the JSON that the API accepts.

use std::collections::HashSet;

use chrono::SecondsFormat;
use serde_json::{Map, Value};

use super::{form_roundtrip, input};
use crate::panel::format::datetime;
use crate::panel::request::PanelRequest;
use crate::panel::target::Target;
use crate::server::form_to_json;
use charter_core::catalog::{Catalog, Entry};
use charter_core::custom_field::{CustomFieldType, Definition};
use charter_core::error::{Error, Result};
use charter_core::meta::{Access, DefaultValue, FieldMeta, Kind};
use charter_core::query::Pair;

/// Decodes a form. A new record omits empty fields, which then get their defaults.
///
/// # Errors
/// [`Error::Malformed`] if the names of the form contradict each other.
pub(crate) fn decode(
    catalog: &Catalog,
    fields: &[FieldMeta],
    definitions: &[Definition],
    zone: chrono_tz::Tz,
    form: &[Pair],
    is_new: bool,
) -> Result<Map<String, Value>> {
    let originals = form_roundtrip::originals(form);
    let fields_sent = form.iter().filter(|pair| !pair.name.starts_with('_'));
    let pairs: Vec<Pair> = fields_sent
        .map(|pair| form_roundtrip::restore_untouched(originals.get(pair.name.as_str()), pair, zone))
        .collect();
    let bytes = form_to_json(pairs)?;
    let Value::Object(mut record) = serde_json::from_slice(&bytes).map_err(Error::internal)? else {
        return Ok(Map::new());
    };
    for field in fields {
        if let Some(value) = record.get_mut(field.name) {
            let decoded = decode_value(catalog, field.kind, value.take(), zone);
            *value = form_roundtrip::restore_order(originals.get(format!("{}[]", field.name).as_str()), decoded);
        }
    }
    // A field that is never shown keeps its value, unless a new one is entered.
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
                *value = decode_value(catalog, kind.kind(), value.take(), zone);
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

/// A value sent as text, as the API returns it. Text that is no number stays text.
pub(crate) fn to_api_value(kind: Kind, value: &Value) -> Value {
    let Some(text) = value.as_str() else { return value.clone() };
    let number = || text.trim().parse::<i64>().map_or_else(|_| value.clone(), Value::from);
    match kind {
        _ if text.is_empty() => Value::Null,
        Kind::Code { .. } | Kind::Ref { .. } | Kind::Integer | Kind::BigInt => number(),
        Kind::Boolean => Value::Bool(text == "true"),
        _ => value.clone(),
    }
}

fn decode_value(catalog: &Catalog, kind: Kind, value: Value, zone: chrono_tz::Tz) -> Value {
    match (kind, value) {
        (Kind::Timestamp { .. }, Value::String(text)) if !text.is_empty() => {
            Value::String(datetime::from_input(zone, &text))
        }
        (Kind::StringList { .. } | Kind::RefList { .. }, Value::Object(map)) => {
            let text = |name: &str| map.get(name).and_then(Value::as_str);
            // An untouched list is sent as JSON by `form_roundtrip`.
            let original = text("json").and_then(|json| serde_json::from_str(json).ok());
            original.unwrap_or_else(|| form_roundtrip::parse_lines(text("lines").unwrap_or_default()).into())
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
            let decode_row = |element: Value| match element {
                Value::Object(mut fields) => {
                    // A row without input is omitted, which removes an existing record. Unchecked checkboxes and the
                    // defaults of a new row are no input.
                    let is_new = !fields.contains_key("id");
                    let is_default = |name: &str, value: &Value| match entry.field(name).map(|field| field.default) {
                        Some(DefaultValue::Literal(text)) => value == text,
                        Some(DefaultValue::Now | DefaultValue::Caller) => true,
                        Some(DefaultValue::None | DefaultValue::Hook) | None => false,
                    };
                    let is_input = |(name, value): (&String, &Value)| {
                        name != "id" && value != "false" && !is_empty(value) && !(is_new && is_default(name, value))
                    };
                    if !fields.iter().any(is_input) {
                        return None;
                    }
                    // In an existing record an empty value clears the field.
                    if is_new {
                        fields.retain(|_, value| !is_empty(value));
                    }
                    for field in entry.meta.fields {
                        if let Some(value) = fields.get_mut(field.name) {
                            *value = decode_value(catalog, field.kind, value.take(), zone);
                        }
                    }
                    Some(Value::Object(fields))
                }
                _ => None,
            };
            list.into_iter().filter_map(decode_row).collect()
        }
        (_, value) => value,
    }
}

/// Removes the ids of embedded records that no longer exist. Saving creates them again.
pub(crate) fn remove_stale_row_ids(sent: &mut Value, current: &Value, fields: &[FieldMeta]) {
    for field in fields.iter().filter(|field| matches!(field.kind, Kind::Embedded { .. })) {
        let known = current[field.name].as_array().into_iter().flatten();
        let known: HashSet<String> = known.map(|row| input::to_text(&row["id"])).collect();
        let rows = sent.get_mut(field.name).and_then(Value::as_array_mut).into_iter().flatten();
        for row in rows.filter_map(Value::as_object_mut) {
            if row.get("id").is_some_and(|id| !known.contains(&input::to_text(id))) {
                row.remove("id");
            }
        }
    }
}

pub(crate) fn is_empty(value: &Value) -> bool {
    value.as_str().is_some_and(str::is_empty)
}

/// The record with the ids of references as numbers instead of text.
pub(crate) fn with_numeric_ids(fields: &[&'static FieldMeta], record: &Value) -> Value {
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

/// The name of an input: `custom_fields[power]` for `custom_fields.power`.
pub(crate) fn input_name(name: &str) -> String {
    let mut parts = name.split('.');
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |name, part| format!("{name}[{part}]"))
}

/// The defaults of a new record.
pub(crate) fn default_values(request: &PanelRequest<'_>, entry: &Entry) -> Map<String, Value> {
    let now = request.state.clock.now();
    let value = |field: &FieldMeta| match field.default {
        DefaultValue::Literal(text) => Some(Value::String(text.into())),
        DefaultValue::Caller => request.user.principal.user_id.map(Value::from),
        DefaultValue::Now if field.kind == Kind::Date => Some(now.date_naive().to_string().into()),
        DefaultValue::Now => Some(now.to_rfc3339_opts(SecondsFormat::Secs, true).into()),
        DefaultValue::None | DefaultValue::Hook => None,
    };
    entry.meta.fields.iter().filter_map(|field| Some((field.name.to_string(), value(field)?))).collect()
}

/// Returns true if the form has an input for a field, which depends on the user.
pub(crate) fn is_editable(request: &PanelRequest<'_>, target: &Target<'_>, field: &FieldMeta) -> bool {
    if !request.may_set_field(target.entry, field) {
        return false;
    }
    let is_parent_reference = target.entry.meta.under.is_some_and(|under| under.field == field.name);
    match field.access {
        Access::Writable | Access::WriteOnly | Access::Secret => !is_parent_reference && field.name != "id",
        Access::Immutable => target.is_list() && !is_parent_reference,
        Access::ReadOnly | Access::Internal => false,
    }
}
