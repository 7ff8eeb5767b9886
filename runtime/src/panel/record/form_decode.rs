//! Decodes the form of a record into the JSON that the API accepts.

use std::collections::HashSet;

use chrono::SecondsFormat;
use serde_json::{Map, Value};

use super::form_roundtrip::{self, InputSpec};
use super::form_snapshot::FormSnapshot;
use super::input;
use crate::panel::format::{datetime, number_input};
use crate::panel::request::PanelRequest;
use crate::panel::target::Target;
use crate::server::form_to_json;
use charter_core::catalog::{Catalog, Entry};
use charter_core::custom_field::{CustomFieldType, Definition};
use charter_core::error::{Error, Result};
use charter_core::meta::{Access, DefaultValue, FieldMeta, Kind};
use charter_core::query::Pair;

/// Decodes a form. An input that was not edited has the value of the snapshot. A new record omits empty fields, which then
/// get their defaults.
///
/// # Errors
/// [`Error::Malformed`] if the names of the form contradict each other.
pub(crate) fn decode(
    catalog: &Catalog,
    fields: &[FieldMeta],
    definitions: &[Definition],
    snapshot: &FormSnapshot,
    form: &[Pair],
    is_new: bool,
) -> Result<Map<String, Value>> {
    let pairs = form.iter().filter(|pair| !pair.name.starts_with('_'));
    let pairs =
        pairs.map(|pair| Pair { name: pair.name.clone(), value: form_roundtrip::normalize_newlines(&pair.value) });
    let bytes = form_to_json(pairs.collect())?;
    let Value::Object(mut record) = serde_json::from_slice(&bytes).map_err(Error::internal)? else {
        return Ok(Map::new());
    };
    let decoder = Decoder { catalog, snapshot };
    for field in fields {
        if let Some(value) = record.get_mut(field.name) {
            *value = decoder.decode(InputSpec::of(field), value.take(), snapshot.value(field.name));
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
                let original = snapshot.value(&format!("custom_fields.{name}"));
                *value = decoder.decode(InputSpec::of_kind(kind.kind()), value.take(), original);
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

/// Decodes the values of a form, in the form in which its page showed them.
struct Decoder<'d> {
    catalog: &'d Catalog,
    snapshot: &'d FormSnapshot,
}

impl Decoder<'_> {
    fn decode(&self, input: InputSpec, sent: Value, original: Option<&Value>) -> Value {
        if let Some(original) =
            original.filter(|original| form_roundtrip::is_untouched(input, original, &sent, self.snapshot))
        {
            return original.clone();
        }
        match (input.kind, sent) {
            (Kind::Timestamp { .. }, Value::String(text)) if !text.is_empty() => {
                Value::String(datetime::from_input(self.snapshot.zone, &text))
            }
            (kind, Value::String(text)) if kind.facts().is_number && !text.trim().is_empty() => {
                match self.snapshot.separators.as_ref().map(|separators| separators.read(&text)) {
                    None => Value::String(text),
                    Some(Ok(number)) => Value::String(number),
                    Some(Err(_)) => number_input::unreadable(&text),
                }
            }
            (Kind::StringList { .. } | Kind::RefList { .. } | Kind::Links { .. }, Value::Object(map)) => {
                let text = map.get("lines").and_then(Value::as_str).unwrap_or_default();
                form_roundtrip::parse_lines(text).into()
            }
            (Kind::StringList { .. } | Kind::RefList { .. } | Kind::Links { .. }, Value::Array(list)) => {
                list.into_iter().filter(|value| !is_empty(value)).collect()
            }
            (Kind::Json, Value::Object(map)) => {
                let text = map.get("json").and_then(Value::as_str).unwrap_or_default();
                serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_string()))
            }
            (Kind::Embedded { resource, .. }, Value::Array(list)) => {
                let entry = self.catalog.linked(resource);
                list.into_iter().filter_map(|row| self.decode_row(entry, row, original)).collect()
            }
            (_, value) => value,
        }
    }

    /// A row of embedded records. A row without input is omitted, which removes an existing record. Unchecked checkboxes
    /// and the defaults of a new row are no input.
    fn decode_row(&self, entry: &Entry, row: Value, originals: Option<&Value>) -> Option<Value> {
        let Value::Object(mut fields) = row else { return None };
        let id = fields.get("id").map(input::to_text);
        let mut originals = originals.and_then(Value::as_array).into_iter().flatten();
        let original = id.as_ref().and_then(|id| originals.find(|row| input::to_text(&row["id"]) == *id));
        for field in entry.meta.fields.iter().filter(|field| field.name != "id") {
            if let Some(value) = fields.get_mut(field.name) {
                let original = original.and_then(|row| row.get(field.name));
                *value = self.decode(InputSpec::in_row(field), value.take(), original);
            }
        }
        let is_default = |name: &str, value: &Value| match entry.field(name).map(|field| field.default) {
            Some(DefaultValue::Literal(text)) => value == text,
            Some(DefaultValue::Now | DefaultValue::Caller) => true,
            Some(DefaultValue::None | DefaultValue::Hook | DefaultValue::Expression(_)) | None => false,
        };
        let is_input = |(name, value): (&String, &Value)| {
            let is_blank = is_empty(value) || matches!(input::to_text(value).as_str(), "" | "false" | "[]");
            name != "id" && !is_blank && !(id.is_none() && is_default(name, value))
        };
        // A row that had no value in the form stays: it can have values that the user has no input for.
        let had_input = original.and_then(Value::as_object).is_none_or(|row| row.iter().any(is_input));
        if had_input && !fields.iter().any(is_input) {
            return None;
        }
        // In an existing record an empty value clears the field.
        if id.is_none() {
            fields.retain(|_, value| !is_empty(value));
        }
        Some(Value::Object(fields))
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
    value.is_null() || value.as_str().is_some_and(str::is_empty)
}

/// The record with the ids of references as numbers instead of text.
pub(crate) fn with_numeric_ids(fields: &[&'static FieldMeta], record: &Value) -> Value {
    let mut record = record.clone();
    for field in fields.iter().filter(|field| matches!(field.kind, Kind::Ref { .. } | Kind::PolymorphicRef { .. })) {
        if let Some(id) = record[field.name].as_str().and_then(|text| text.parse::<i64>().ok()) {
            record[field.name] = id.into();
        }
    }
    for field in fields.iter().filter(|field| matches!(field.kind, Kind::RefList { .. } | Kind::Links { .. })) {
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
        DefaultValue::None | DefaultValue::Hook | DefaultValue::Expression(_) => None,
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
        // A new record has the first state.
        Access::Immutable if target.entry.meta.state_field() == Some(field.name) => false,
        Access::Immutable => target.is_list() && !is_parent_reference,
        Access::ReadOnly | Access::Internal => false,
    }
}
