//! The values of a record's custom fields: merged by name, each read as its definition says.

use sea_orm::Value as Stored;
use serde_json::{Map, Value};

use super::{CustomFieldType, Definition};
use crate::error::FieldErrors;
use crate::ops::RawJson;
use crate::query::{hint, read_value};
use crate::record::write_timestamp;

/// Merges given values into those a record has. Null leaves a value as it is, `""` clears it, also one whose definition has
/// gone. Problems are reported under `custom_fields.<name>`.
///
/// A required field must end up with a value, but only when it is given, or the record is new: a definition that
/// becomes required later does not stop unrelated changes.
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
        // What a record has can be sent back, also when its definition has changed or gone since.
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
            (given, Some(definition)) => match read(definition, given) {
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

/// A value that a record has, as its definition has it: null where it is left of an earlier definition of another type,
/// which no condition finds either. A choice that can no longer be chosen is still one.
pub fn shown<'v>(definition: &Definition, value: &'v Value) -> &'v Value {
    let Some(of_type) = CustomFieldType::from_name(&definition.field_type) else { return &Value::Null };
    let fits = match of_type {
        CustomFieldType::String | CustomFieldType::Text | CustomFieldType::Choice => value.is_string(),
        CustomFieldType::Integer => value.is_i64(),
        CustomFieldType::Boolean => value.is_boolean(),
        CustomFieldType::Decimal | CustomFieldType::Date | CustomFieldType::Timestamp => {
            value.as_str().is_some_and(|text| read_value(of_type.kind(), text).is_ok())
        }
    };
    if fits { value } else { &Value::Null }
}

/// Whether a value is given as it is stored.
fn is_stored(stored: Option<&Value>, given: &RawJson<'_>) -> bool {
    match (stored, given) {
        (Some(Value::String(stored)), RawJson::Text(given)) => stored == given,
        (Some(Value::Number(stored)), RawJson::Number(given)) => stored.to_string() == *given,
        (Some(Value::Bool(stored)), RawJson::Bool(given)) => stored == given,
        _ => false,
    }
}

fn read(definition: &Definition, given: &RawJson<'_>) -> Result<Value, String> {
    let custom = CustomFieldType::from_name(&definition.field_type).ok_or("has a definition of an unknown type")?;
    let text = given.scalar()?;
    if matches!(custom, CustomFieldType::String | CustomFieldType::Text | CustomFieldType::Choice)
        && !matches!(given, RawJson::Text(_))
    {
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
        // Eighteen digits are what the comparison of integers reads.
        Stored::BigInt(Some(value)) if value.unsigned_abs() >= 10_u64.pow(18) => {
            return Err("must have at most 18 digits".into());
        }
        Stored::BigInt(Some(value)) => Value::from(value),
        // As exact text, without the zeros that say nothing.
        Stored::Decimal(Some(value)) => Value::String(value.normalize().to_string()),
        Stored::ChronoDate(Some(date)) => Value::String(date.to_string()),
        Stored::ChronoDateTimeUtc(Some(time)) => {
            let mut text = Vec::new();
            write_timestamp(&mut text, time, crate::meta::TimestampForm::Millis);
            Value::String(String::from_utf8_lossy(&text).into_owned())
        }
        _ => Value::String(text.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(name: &str, field_type: &str) -> Definition {
        Definition {
            name: name.into(),
            label: name.into(),
            field_type: field_type.into(),
            choices: vec!["red".into()],
            required: false,
        }
    }

    #[test]
    fn values_are_merged_by_name_and_read_by_type() {
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
