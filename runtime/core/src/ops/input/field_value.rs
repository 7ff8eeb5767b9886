//! Reads the value of one field, of a client or of a hook.

use std::collections::HashSet;

use sea_orm::Value;

use super::body::RawJson;
use super::{json_field, rules};
use crate::field_type::{self, null};
use crate::meta::{Access, DefaultValue, FieldMeta, Kind};
use crate::ops::records::rounded;
use crate::query::{MAX_LIST_ELEMENTS, read_value};

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
    // An optional text that is not nullable may be blank, for example one that a hook composes.
    if matches!(value, Value::String(Some(text)) if text.is_empty()) && !field.nullable && !field.required {
        return Ok(value.clone());
    }
    // The rules of a secret apply to the client's value, which a hook replaces by its hash.
    let rules = if field.access == Access::Secret { &[] } else { field.rules };
    let field = &FieldMeta { rules, nullable: field.nullable || !field.required, ..*field };
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
        kind => rounded(kind, read_value(kind, raw.scalar()?)?),
    };
    if refuses_blank(field)
        && let Value::String(Some(text)) = &value
        && text.trim().is_empty()
    {
        return Err("must not be blank".into());
    }
    check_value_rules(field, &value)?;
    Ok(value)
}

/// True if the field accepts no text that is blank, which white space alone is. An optional text of one character may be a space,
/// as a separator of thousands is.
pub fn refuses_blank(field: &FieldMeta) -> bool {
    field.required || !field.sequence.is_empty() || !field.nullable && field.kind != (Kind::String { max: 1 })
}

pub(super) fn is_empty(raw: &RawJson<'_>) -> bool {
    matches!(raw, RawJson::Text(text) if text.is_empty())
}

fn check_value_rules(field: &FieldMeta, value: &Value) -> Result<(), String> {
    field.rules.iter().try_for_each(|rule| rules::check_value(*rule, field.kind, value))
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
pub(super) fn read_ids(raw: &RawJson<'_>) -> Result<Value, Vec<String>> {
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

pub(super) fn json(value: serde_json::Value) -> Value {
    Value::Json(Some(Box::new(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(field: FieldMeta, text: &str) -> Result<Value, Vec<String>> {
        read_field(&field, &RawJson::Text(text.into()))
    }

    #[test]
    fn text_that_cannot_be_null_is_not_blank() {
        let text = |name| FieldMeta::new(name, Kind::String { max: 20 });
        let optional = text("source");
        let long = FieldMeta::new("notes", Kind::Text);
        for blank in ["", " ", "\t\n", "\u{3000}"] {
            for field in [optional, long, FieldMeta { required: true, ..optional }] {
                assert_eq!(read(field, blank), Err(vec!["must not be blank".into()]), "{}", field.name);
            }
        }
        let nullable = FieldMeta { nullable: true, ..optional };
        assert_eq!(read(nullable, "").ok(), Some(null(nullable.kind)));
        assert_eq!(read(nullable, " ").ok(), Some(" ".into()));
        // A hook may compose a blank text, within the other rules.
        for blank in ["", "   "] {
            assert_eq!(read_value_of(&optional, &blank.into()), Ok(blank.into()));
        }
        assert!(read_value_of(&FieldMeta { required: true, ..optional }, &" ".into()).is_err());
        assert!(read_value_of(&optional, &" ".repeat(21).into()).is_err());
    }

    #[test]
    fn optional_text_of_one_character_can_be_a_space() {
        let separator = FieldMeta::new("thousand_separator", Kind::String { max: 1 });
        assert_eq!(read(separator, " ").ok(), Some(" ".into()));
        assert!(read(separator, "").is_err() && read(FieldMeta { required: true, ..separator }, " ").is_err());
    }
}
