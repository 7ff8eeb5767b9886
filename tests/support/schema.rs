//! Small JSON Schema validator for the keywords of the OpenAPI document, except `format` and `multipleOf`.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use regex::Regex;
use serde_json::Value;

/// Follows a `$ref`, or returns the value itself.
pub fn resolve<'d>(description: &'d Value, value: &'d Value) -> &'d Value {
    match value["$ref"].as_str() {
        Some(reference) => {
            let pointer = reference.strip_prefix('#').expect("a reference into the description");
            description.pointer(pointer).unwrap_or_else(|| panic!("{reference} leads nowhere"))
        }
        None => value,
    }
}

/// The violations of a schema, each with its path. A property that the schema does not name is a violation unless the
/// schema allows others, because the document must describe every member.
pub fn problems(description: &Value, schema: &Value, value: &Value, path: &str) -> Vec<String> {
    let mut found = violations(description, schema, value, path);
    let names = names(description, schema);
    if let (Some(object), false) = (value.as_object(), names.is_empty()) {
        let unknown = object.keys().filter(|name| !names.contains(&name.as_str()));
        found.extend(unknown.map(|name| format!("{path}: `{name}` is not described")));
    }
    found
}

/// The properties that a schema and its parts name. Empty if the schema allows others.
fn names<'d>(description: &'d Value, schema: &'d Value) -> Vec<&'d str> {
    let schema = resolve(description, schema);
    if schema.get("additionalProperties").is_some() {
        return Vec::new();
    }
    let own = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    let parts = schema["allOf"].as_array().into_iter().flatten();
    own.chain(parts.flat_map(|part| names(description, part))).collect()
}

/// Caches compiled patterns.
fn matches(pattern: &str, text: &str) -> bool {
    static CACHE: LazyLock<Mutex<HashMap<String, Regex>>> = LazyLock::new(Mutex::default);
    let mut cache = CACHE.lock().expect("no test fails here");
    let regex = cache.entry(pattern.to_string()).or_insert_with(|| {
        // The regex crate has no lookahead, which one pattern uses.
        Regex::new(&pattern.replace("(?=.*[1-9])", "")).expect("a pattern")
    });
    regex.is_match(text)
}

/// The violations except undescribed properties.
fn violations(description: &Value, schema: &Value, value: &Value, path: &str) -> Vec<String> {
    let mut found = Vec::new();
    let schema = resolve(description, schema);
    let mut fail = |problem: String| found.push(format!("{path}: {value} {problem}"));
    if let Some(kind) = schema.get("type") {
        let kinds = kind.as_array().cloned().unwrap_or_else(|| vec![kind.clone()]);
        if !kinds.iter().filter_map(Value::as_str).any(|kind| is(kind, value)) {
            fail(format!("is not {kind}"));
        }
    }
    if let Some(values) = schema["enum"].as_array()
        && !values.contains(value)
    {
        fail(format!("is not among {values:?}"));
    }
    if schema.get("const").is_some_and(|only| only != value) {
        fail(format!("is not {}", schema["const"]));
    }
    if let (Some(text), Some(pattern)) = (value.as_str(), schema["pattern"].as_str())
        && !matches(pattern, text)
    {
        fail(format!("does not match {pattern}"));
    }
    if let Some(text) = value.as_str() {
        let length = text.chars().count() as u64;
        if schema["minLength"].as_u64().is_some_and(|min| length < min)
            || schema["maxLength"].as_u64().is_some_and(|max| length > max)
        {
            fail("is too short or too long".into());
        }
    }
    if let Some(number) = value.as_f64()
        && (schema["minimum"].as_f64().is_some_and(|min| number < min)
            || schema["maximum"].as_f64().is_some_and(|max| number > max))
    {
        fail("is out of bounds".into());
    }
    if let Some(alternatives) = schema["anyOf"].as_array() {
        let each: Vec<Vec<String>> = alternatives.iter().map(|one| problems(description, one, value, path)).collect();
        if each.iter().all(|problems| !problems.is_empty()) {
            found.extend(each.into_iter().min_by_key(Vec::len).unwrap_or_default());
        }
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        found.extend(violations(description, part, value, path));
    }
    if let Some(object) = value.as_object() {
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !object.contains_key(name) {
                found.push(format!("{path}: `{name}` is missing"));
            }
        }
        for (name, value) in object {
            match (&schema["properties"][name], &schema["additionalProperties"]) {
                (Value::Null, Value::Bool(false)) => found.push(format!("{path}: `{name}` is not described")),
                (Value::Null, Value::Null | Value::Bool(true)) => {}
                (Value::Null, others) => found.extend(problems(description, others, value, &format!("{path}.{name}"))),
                (schema, _) => found.extend(problems(description, schema, value, &format!("{path}.{name}"))),
            }
        }
    }
    for (index, element) in value.as_array().into_iter().flatten().enumerate() {
        found.extend(problems(description, &schema["items"], element, &format!("{path}.{index}")));
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
fn validator_reports_every_violation() {
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
    let parts = serde_json::json!({ "allOf": [{ "properties": { "a": {} } }, { "properties": { "b": {} } }] });
    let wrong = |value| problems(&Value::Null, &parts, &value, "");
    assert_eq!(wrong(serde_json::json!({ "a": 1, "b": 1, "c": 1 })), [": `c` is not described"]);
}
