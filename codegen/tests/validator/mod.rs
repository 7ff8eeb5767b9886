//! A validator for the subset of JSON Schema that the schema of a resource uses; unknown keywords panic.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;
use serde_json::{Value, json};

/// A schema with its compiled patterns.
pub struct Schema {
    pub root: Value,
    patterns: RefCell<BTreeMap<String, Regex>>,
}

impl Schema {
    pub fn read(text: &str) -> Schema {
        Schema { root: serde_json::from_str(text).expect("a schema is JSON"), patterns: RefCell::default() }
    }

    fn matches(&self, pattern: &str, text: &str) -> bool {
        let mut patterns = self.patterns.borrow_mut();
        let known = patterns.entry(pattern.to_owned());
        known.or_insert_with(|| Regex::new(pattern).expect("a pattern")).is_match(text)
    }

    /// True if the schema accepts a value.
    pub fn takes(&self, value: &Value) -> bool {
        self.fits(&self.root, value)
    }

    fn fits(&self, schema: &Value, value: &Value) -> bool {
        let rules = schema.as_object().expect("a schema is an object");
        rules.iter().all(|(rule, said)| self.keeps(rules, rule, said, value))
    }

    fn keeps(&self, rules: &serde_json::Map<String, Value>, rule: &str, said: &Value, value: &Value) -> bool {
        let list = || said.as_array().expect("a list");
        let count = || said.as_u64().expect("a number") as usize;
        match rule {
            "$ref" => {
                let name = said.as_str().unwrap().strip_prefix("#/definitions/").unwrap();
                self.fits(&self.root["definitions"][name], value)
            }
            "anyOf" => list().iter().any(|one| self.fits(one, value)),
            "allOf" => list().iter().all(|one| self.fits(one, value)),
            "enum" => list().contains(value),
            "type" => match said {
                Value::String(kind) => is_a(kind, value),
                _ => list().iter().any(|kind| is_a(kind.as_str().unwrap(), value)),
            },
            "pattern" => value.as_str().is_none_or(|text| self.matches(said.as_str().unwrap(), text)),
            "maxLength" => value.as_str().is_none_or(|text| text.chars().count() <= count()),
            "minimum" => value.as_f64().is_none_or(|number| number >= said.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|number| number <= said.as_f64().unwrap()),
            "minItems" => value.as_array().is_none_or(|items| items.len() >= count()),
            "uniqueItems" => value
                .as_array()
                .is_none_or(|items| items.iter().map(Value::to_string).collect::<BTreeSet<_>>().len() == items.len()),
            "items" => value.as_array().is_none_or(|items| items.iter().all(|item| self.fits(said, item))),
            "minProperties" => value.as_object().is_none_or(|object| object.len() >= count()),
            "required" => value
                .as_object()
                .is_none_or(|object| list().iter().all(|key| object.contains_key(key.as_str().unwrap()))),
            "propertyNames" => {
                value.as_object().is_none_or(|object| object.keys().all(|key| self.fits(said, &json!(key))))
            }
            "properties" => value.as_object().is_none_or(|object| {
                object.iter().all(|(key, value)| said.get(key).is_none_or(|schema| self.fits(schema, value)))
            }),
            "patternProperties" => value.as_object().is_none_or(|object| {
                said.as_object().unwrap().iter().all(|(pattern, schema)| {
                    object
                        .iter()
                        .filter(|(key, _)| self.matches(pattern, key))
                        .all(|(_, value)| self.fits(schema, value))
                })
            }),
            "additionalProperties" => value.as_object().is_none_or(|object| {
                let named = |key: &str| {
                    rules.get("properties").is_some_and(|all| all.get(key).is_some())
                        || rules
                            .get("patternProperties")
                            .and_then(Value::as_object)
                            .is_some_and(|all| all.keys().any(|pattern| self.matches(pattern, key)))
                };
                let others = object.iter().filter(|(key, _)| !named(key));
                others.into_iter().all(|(_, value)| match said {
                    Value::Bool(taken) => *taken,
                    schema => self.fits(schema, value),
                })
            }),
            "$schema" | "title" | "description" | "examples" | "definitions" => true,
            other => panic!("the validator does not know `{other}`"),
        }
    }
}

fn is_a(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the validator does not know the type `{other}`"),
    }
}
