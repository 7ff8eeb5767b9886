//! A small judge of JSON Schema: as much of it as the description uses, formats and numbers' steps apart.

use serde_json::Value;

use super::resolve;

/// What of a value breaks its schema, each with the way to it.
pub fn problems(description: &Value, schema: &Value, value: &Value, way: &str) -> Vec<String> {
    let mut found = Vec::new();
    let schema = match schema.get("$ref") {
        Some(_) => resolve(description, schema),
        None => schema,
    };
    let mut fail = |what: String| found.push(format!("{way}: {value} {what}"));
    if let Some(kind) = schema.get("type") {
        let kinds = kind.as_array().cloned().unwrap_or_else(|| vec![kind.clone()]);
        if !kinds.iter().filter_map(Value::as_str).any(|kind| is(kind, value)) {
            fail(format!("is not {kind}"));
        }
    }
    if let Some(known) = schema["enum"].as_array()
        && !known.contains(value)
    {
        fail(format!("is not among {known:?}"));
    }
    if schema.get("const").is_some_and(|only| only != value) {
        fail(format!("is not {}", schema["const"]));
    }
    if let (Some(text), Some(pattern)) = (value.as_str(), schema["pattern"].as_str()) {
        // The one expression that looks ahead is judged without that.
        let regex = regex::Regex::new(&pattern.replace("(?=.*[1-9])", "")).expect("a pattern");
        if !regex.is_match(text) {
            fail(format!("does not match {pattern}"));
        }
    }
    if let Some(text) = value.as_str() {
        let length = text.chars().count() as u64;
        if schema["minLength"].as_u64().is_some_and(|least| length < least)
            || schema["maxLength"].as_u64().is_some_and(|most| length > most)
        {
            fail("is too short or too long".into());
        }
    }
    if let Some(number) = value.as_f64()
        && (schema["minimum"].as_f64().is_some_and(|least| number < least)
            || schema["maximum"].as_f64().is_some_and(|most| number > most))
    {
        fail("is out of bounds".into());
    }
    if let Some(alternatives) = schema["anyOf"].as_array() {
        let each: Vec<Vec<String>> = alternatives.iter().map(|one| problems(description, one, value, way)).collect();
        if each.iter().all(|problems| !problems.is_empty()) {
            found.extend(each.into_iter().min_by_key(Vec::len).unwrap_or_default());
        }
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        found.extend(problems(description, part, value, way));
    }
    if let Some(object) = value.as_object() {
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !object.contains_key(name) {
                found.push(format!("{way}: `{name}` is missing"));
            }
        }
        for (name, value) in object {
            match (&schema["properties"][name], &schema["additionalProperties"]) {
                (Value::Null, Value::Bool(false)) => found.push(format!("{way}: `{name}` is not described")),
                (Value::Null, Value::Null | Value::Bool(true)) => {}
                (Value::Null, others) => found.extend(problems(description, others, value, &format!("{way}.{name}"))),
                (schema, _) => found.extend(problems(description, schema, value, &format!("{way}.{name}"))),
            }
        }
    }
    for (index, element) in value.as_array().into_iter().flatten().enumerate() {
        found.extend(problems(description, &schema["items"], element, &format!("{way}.{index}")));
    }
    found
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

#[test]
fn the_judge_finds_what_is_wrong() {
    let schema = serde_json::json!({
        "type": "object",
        "required": ["a"],
        "additionalProperties": false,
        "properties": { "a": { "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "null" }] }, "b": { "enum": ["x"] } },
    });
    let wrong = |value| problems(&Value::Null, &schema, &value, "").len();
    assert_eq!(wrong(serde_json::json!({ "a": 1, "b": "x" })), 0);
    assert_eq!(wrong(serde_json::json!({ "a": null })), 0);
    assert_eq!(wrong(serde_json::json!({ "a": 0, "b": "y", "c": 1 })), 3);
    assert_eq!(wrong(serde_json::json!({})), 1);
}
