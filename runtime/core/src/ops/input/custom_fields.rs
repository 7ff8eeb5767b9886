//! Values of custom fields: parsed by their definitions and merged by name.

use sea_orm::Value as Stored;
use serde_json::{Map, Value};

use super::body::RawJson;
use crate::custom_field::{CustomFieldType, CustomKind, Definition};
use crate::error::FieldErrors;
use crate::field_type;
use crate::query::read_value;
use crate::suggest::hint;

/// Merges the values of a request into those of the record. Null keeps a value, and `""` clears it, even if its
/// definition was deleted. Problems are reported under `custom_fields.<name>`.
///
/// A required field must have a value, but this is checked only if the request sets the field or creates the record: a
/// definition that becomes required does not block unrelated changes.
pub fn merge(
    before: Map<String, Value>,
    given: &[(String, RawJson<'_>)],
    definitions: &[Definition],
    is_new: bool,
    errors: &mut FieldErrors,
) -> Map<String, Value> {
    let mut merged = before;
    for (name, given) in given {
        let key = format!("custom_fields.{name}");
        // A stored value may be sent back even if its definition has changed or was deleted.
        if is_stored(merged.get(name), given) {
            continue;
        }
        let definition = definitions.iter().find(|d| d.name == *name);
        let is_known = definition.is_some() || merged.contains_key(name);
        match (given, definition) {
            (RawJson::Null, _) if is_known => {}
            (RawJson::Text(text), _) if is_known && text.is_empty() => {
                merged.remove(name);
                if definition.is_some_and(|d| d.required) && !is_new {
                    errors.add(key, "is required");
                }
            }
            (given, Some(definition)) => match parse_value(definition, given) {
                Ok(value) if definition.required && value.as_str().is_some_and(|text| text.trim().is_empty()) => {
                    errors.add(key, "must not be blank");
                }
                Ok(value) => drop(merged.insert(name.clone(), value)),
                Err(problem) => errors.add(key, problem),
            },
            (_, None) => {
                let hint = hint(name, definitions.iter().map(|d| d.name.as_str()));
                errors.add(key, format!("is not a custom field of this entity type{hint}"));
            }
        }
    }
    if is_new {
        for missing in definitions.iter().filter(|d| d.required && !merged.contains_key(&d.name)) {
            let key = format!("custom_fields.{}", missing.name);
            if !errors.contains(&key) {
                errors.add(key, "is required");
            }
        }
    }
    merged
}

/// Returns a stored value, or null if it does not fit the current type of the field, in which case no condition matches
/// it. A choice that was removed is still returned.
pub fn readable_value<'v>(definition: &Definition, value: &'v Value) -> &'v Value {
    let Some(of_type) = CustomFieldType::from_name(&definition.field_type) else { return &Value::Null };
    let fits = match of_type.comparison_type() {
        CustomKind::Text | CustomKind::LongText | CustomKind::Choice => value.is_string(),
        CustomKind::Integer => value.is_i64(),
        CustomKind::Boolean => value.is_boolean(),
        CustomKind::Decimal | CustomKind::Time => {
            value.as_str().is_some_and(|text| read_value(of_type.kind(), text).is_ok())
        }
    };
    if fits { value } else { &Value::Null }
}

/// Reports whether the request sends the stored value.
fn is_stored(stored: Option<&Value>, given: &RawJson<'_>) -> bool {
    match (stored, given) {
        (Some(Value::String(stored)), RawJson::Text(given)) => stored == given,
        (Some(Value::Number(stored)), RawJson::Number(given)) => stored.to_string() == *given,
        (Some(Value::Bool(stored)), RawJson::Bool(given)) => stored == given,
        _ => false,
    }
}

fn parse_value(definition: &Definition, given: &RawJson<'_>) -> Result<Value, String> {
    let custom = CustomFieldType::from_name(&definition.field_type).ok_or("has a definition of an unknown type")?;
    let text = given.scalar()?;
    if custom.comparison_type().is_text() && !matches!(given, RawJson::Text(_)) {
        return Err("must be a string".into());
    }
    if custom == CustomFieldType::Choice && !definition.choices.iter().any(|choice| choice == text) {
        return Err(format!("must be one of {}", definition.choices.join(", ")));
    }
    if custom == CustomFieldType::String && text.chars().count() > 255 {
        return Err("must have at most 255 characters".into());
    }
    Ok(match read_value(custom.kind(), text)? {
        Stored::Bool(Some(value)) => Value::Bool(value),
        // Integers are compared with up to 18 digits.
        Stored::BigInt(Some(value)) if value.unsigned_abs() >= 10_u64.pow(18) => {
            return Err("must have at most 18 digits".into());
        }
        Stored::BigInt(Some(value)) => Value::from(value),
        // Decimal text without trailing zeros.
        Stored::Decimal(Some(value)) => Value::String(value.normalize().to_string()),
        value => Value::String(field_type::text(&value).unwrap_or_else(|| text.to_string())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(name: &str, field_type: &str) -> Definition {
        Definition {
            id: 1,
            entity_type: "products".into(),
            name: name.into(),
            label: name.into(),
            field_type: field_type.into(),
            choices: vec!["red".into()],
            required: false,
        }
    }

    #[test]
    fn values_are_merged_by_name_and_parsed_by_type() {
        let definitions = [definition("rig", "decimal"), definition("colour", "choice"), definition("vip", "boolean")];
        let before = Map::from_iter([("vip".to_string(), Value::Bool(true))]);
        let mut errors = FieldErrors::default();
        let given = [
            ("rig".to_string(), RawJson::Number("20.50")),
            ("colour".to_string(), RawJson::Text("blue".into())),
            ("nope".to_string(), RawJson::Null),
        ];
        let merged = merge(before, &given, &definitions, false, &mut errors);
        assert_eq!(merged["rig"], Value::String("20.5".into()));
        assert_eq!(merged["vip"], Value::Bool(true));
        assert!(errors.contains("custom_fields.colour") && errors.contains("custom_fields.nope"));
    }
}
