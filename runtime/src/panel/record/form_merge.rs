//! Three-way merge of a form, the values that it was rendered with, and those that somebody else saved meanwhile.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{form_decode, input};
use charter_core::meta::{FieldMeta, Kind};

/// The object whose fields are merged one by one, as the API does.
const CUSTOM_FIELDS: &str = "custom_fields";

/// Values by their name in the API's errors: `weight`, `custom_fields.power`.
type Values = BTreeMap<String, Value>;

/// The result of a merge.
#[derive(Debug, PartialEq)]
pub(crate) struct Merged {
    /// The values of the form: mine where I changed a field, otherwise theirs.
    pub record: Map<String, Value>,
    /// The fields that only they changed.
    pub theirs: Vec<String>,
    /// The fields that both changed to different values, with the value before. See
    /// [`conflicts`](super::form_snapshot::FormSnapshot::conflicts).
    pub conflicts: BTreeMap<String, Vec<Value>>,
}

/// The values of a form that differ from those that it was rendered with, as the API's partial record. All values if
/// those are not known.
pub(crate) fn changes(
    fields: &[FieldMeta],
    mine: &Map<String, Value>,
    shown: Option<&Map<String, Value>>,
) -> Map<String, Value> {
    let (mine, shown) = (flatten(mine), shown.map(flatten));
    let is_changed = |name: &str| differs_from(&mine, shown.as_ref(), name);
    // The API ignores null; an empty text clears the field.
    let sent = |value: &Value| if value.is_null() { Value::String(String::new()) } else { value.clone() };
    let changed = mine.iter().filter(|(name, _)| unit(fields, name).any(is_changed));
    unflatten(changed.map(|(name, value)| (name.clone(), sent(value))).collect())
}

/// Merges the values of a form with a record that was saved after the form was rendered.
pub(crate) fn merge(
    fields: &[FieldMeta],
    mine: &Map<String, Value>,
    shown: Option<&Map<String, Value>>,
    theirs: &Map<String, Value>,
) -> Merged {
    let (mine, shown, theirs) = (flatten(mine), shown.map(flatten), flatten(theirs));
    let mut merged = Merged { record: Map::new(), theirs: Vec::new(), conflicts: BTreeMap::new() };
    let mut values = mine.clone();
    for name in mine.keys() {
        let is_mine = unit(fields, name).any(|name| differs_from(&mine, shown.as_ref(), name));
        let is_theirs = unit(fields, name)
            .any(|name| shown.as_ref().is_none_or(|shown| !is_same(at(shown, name), at(&theirs, name))));
        let differs = unit(fields, name).any(|name| !is_same(at(&mine, name), at(&theirs, name)));
        // A field that the API never returns has no other value.
        if !differs || !is_returned(&theirs, name) || (is_mine && !is_theirs) {
            continue;
        }
        if is_mine {
            let before = shown.as_ref().map(|shown| at(shown, name).clone());
            merged.conflicts.insert(name.clone(), before.into_iter().collect());
        } else {
            values.insert(name.clone(), at(&theirs, name).clone());
            merged.theirs.push(name.clone());
        }
    }
    merged.record = unflatten(values);
    merged
}

/// The fields that are merged together with a field: the type and the id of a polymorphic reference.
fn unit<'f>(fields: &'f [FieldMeta], name: &'f str) -> impl Iterator<Item = &'f str> {
    let others = fields.iter().filter_map(move |field| match field.kind {
        Kind::PolymorphicRef { type_field } if type_field == name => Some(field.name),
        Kind::PolymorphicRef { type_field } if field.name == name => Some(type_field),
        _ => None,
    });
    std::iter::once(name).chain(others)
}

fn differs_from(mine: &Values, shown: Option<&Values>, name: &str) -> bool {
    mine.contains_key(name) && shown.is_none_or(|shown| !is_same(at(mine, name), at(shown, name)))
}

fn at<'v>(values: &'v Values, name: &str) -> &'v Value {
    values.get(name).unwrap_or(&Value::Null)
}

fn is_returned(theirs: &Values, name: &str) -> bool {
    theirs.contains_key(name) || name.starts_with(CUSTOM_FIELDS)
}

/// Returns true if two values are the same in a form. Of embedded records only the fields of the first are compared.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.iter().all(|(name, one)| is_same(one, other.get(name).unwrap_or(&Value::Null)))
        }
        _ => {
            (form_decode::is_empty(one) && form_decode::is_empty(other)) || input::to_text(one) == input::to_text(other)
        }
    }
}

fn flatten(record: &Map<String, Value>) -> Values {
    let mut values = Values::new();
    for (name, value) in record {
        match value.as_object().filter(|_| name == CUSTOM_FIELDS) {
            Some(custom) => {
                values.extend(custom.iter().map(|(inner, value)| (format!("{name}.{inner}"), value.clone())));
            }
            None => drop(values.insert(name.clone(), value.clone())),
        }
    }
    values
}

/// Sets a value by its name in the API's errors.
pub(super) fn set(record: &mut Map<String, Value>, name: &str, value: Value) {
    let mut values = flatten(record);
    values.insert(name.to_string(), value);
    *record = unflatten(values);
}

fn unflatten(values: Values) -> Map<String, Value> {
    let mut record = Map::new();
    for (name, value) in values {
        match name.strip_prefix(CUSTOM_FIELDS).and_then(|rest| rest.strip_prefix('.')) {
            Some(inner) => {
                let custom = record.entry(CUSTOM_FIELDS).or_insert_with(|| Map::new().into());
                // A client may send another type, which the API rejects.
                if let Some(custom) = custom.as_object_mut() {
                    custom.insert(inner.to_string(), value);
                }
            }
            None => drop(record.insert(name, value)),
        }
    }
    record
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const FIELDS: &[FieldMeta] = &[
        FieldMeta::new("name", Kind::Text),
        FieldMeta::new("regarding_type", Kind::PolymorphicType { type_names: &["Member", "Product"] }),
        FieldMeta::new("regarding_id", Kind::PolymorphicRef { type_field: "regarding_type" }),
    ];

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().expect("an object").clone()
    }

    fn merge(mine: Value, shown: Value, theirs: Value) -> Merged {
        super::merge(FIELDS, &map(mine), Some(&map(shown)), &map(theirs))
    }

    #[test]
    fn only_changed_values_are_sent() {
        let shown = map(json!({ "name": "A", "weight": "1.50", "parts": [{ "id": 7, "mute": false }],
                                "custom_fields": { "power": 40, "colour": null }, "regarding_type": "Member", "regarding_id": 1 }));
        for (mine, sent) in [
            (json!({ "name": "A", "weight": "1.50", "parts": [{ "id": "7", "mute": "false" }] }), json!({})),
            (json!({ "name": "B", "weight": "1.50" }), json!({ "name": "B" })),
            (json!({ "name": null, "weight": "1.5" }), json!({ "name": "", "weight": "1.5" })),
            (
                json!({ "custom_fields": { "power": "41", "colour": "" } }),
                json!({ "custom_fields": { "power": "41" } }),
            ),
            (json!({ "parts": [] }), json!({ "parts": [] })),
            (json!({ "secret": "new" }), json!({ "secret": "new" })),
            (
                json!({ "regarding_type": "Member", "regarding_id": "2" }),
                json!({ "regarding_type": "Member", "regarding_id": "2" }),
            ),
        ] {
            assert_eq!(Value::Object(changes(FIELDS, &map(mine), Some(&shown))), sent);
        }
        let all = map(json!({ "name": "A" }));
        assert_eq!(changes(FIELDS, &all, None), all);
    }

    #[test]
    fn a_field_that_only_one_of_two_changed_has_the_changed_value() {
        let merged = merge(
            json!({ "name": "Mine", "weight": "1", "sku": "", "custom_fields": { "power": "41", "colour": "" } }),
            json!({ "name": "A", "weight": "1", "sku": null, "custom_fields": { "power": 40, "colour": null } }),
            json!({ "name": "A", "weight": "2", "sku": null, "custom_fields": { "power": 40, "colour": "red" } }),
        );
        let expected =
            json!({ "name": "Mine", "weight": "2", "sku": "", "custom_fields": { "power": "41", "colour": "red" } });
        assert_eq!(Value::Object(merged.record), expected);
        assert_eq!(merged.theirs, ["custom_fields.colour", "weight"]);
        assert_eq!(merged.conflicts, BTreeMap::new());
    }

    #[test]
    fn a_field_that_both_changed_is_a_conflict_unless_the_values_are_the_same() {
        let merged = merge(
            json!({ "name": "Mine", "weight": "3" }),
            json!({ "name": "A", "weight": "1" }),
            json!({ "name": "Theirs", "weight": "3" }),
        );
        assert_eq!(merged.record["name"], "Mine");
        assert_eq!(merged.conflicts, BTreeMap::from([("name".to_string(), vec![json!("A")])]));
        // The values that the form was rendered with are not known.
        let (mine, theirs) = (map(json!({ "name": "Mine", "sku": "" })), map(json!({ "name": "A", "sku": null })));
        let merged = super::merge(FIELDS, &mine, None, &theirs);
        assert_eq!(merged.conflicts, BTreeMap::from([("name".to_string(), Vec::new())]));
    }

    #[test]
    fn the_type_and_the_id_of_a_polymorphic_reference_are_merged_together() {
        let shown = json!({ "regarding_type": "Member", "regarding_id": 1 });
        let mine = json!({ "regarding_type": "Member", "regarding_id": "2" });
        let merged = merge(mine, shown.clone(), json!({ "regarding_type": "Product", "regarding_id": 1 }));
        assert_eq!(merged.conflicts.keys().collect::<Vec<_>>(), ["regarding_id", "regarding_type"]);
        let merged = merge(
            json!({ "regarding_type": "Member", "regarding_id": "1" }),
            shown,
            json!({ "regarding_type": "Product", "regarding_id": 1 }),
        );
        assert_eq!(merged.record["regarding_type"], "Product");
    }

    #[test]
    fn the_order_and_the_number_of_embedded_records_count() {
        let shown = json!({ "parts": [{ "id": 7, "size": "1" }, { "id": 8, "size": "2" }] });
        let removed = json!({ "parts": [{ "id": "8", "size": "2" }] });
        let merged = merge(
            removed.clone(),
            shown.clone(),
            json!({ "parts": [{ "id": 7, "size": "5", "updated_at": "x" }, { "id": 8, "size": "2" }] }),
        );
        assert_eq!(merged.conflicts.len(), 1);
        let unchanged = json!({ "parts": [{ "id": 7, "size": "1", "updated_at": "x" }, { "id": 8, "size": "2", "updated_at": "x" }] });
        assert_eq!(merge(removed, shown, unchanged).conflicts.len(), 0);
    }
}
