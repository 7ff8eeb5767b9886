//! Field rights of events: the body that a webhook or a caller may read.

use std::sync::Arc;

use serde_json::Value;

use super::subscriptions::resource_of;
use charter_core::catalog::Catalog;
use charter_core::ops::field_access;

/// The body of an event without the fields whose right `has` denies. A body without such fields keeps its bytes.
pub(super) fn readable_body(catalog: &Catalog, event: &str, body: &Arc<str>, has: impl Fn(&str) -> bool) -> Arc<str> {
    let Some(entry) = resource_of(catalog, event).filter(|entry| entry.has_field_rights) else { return body.clone() };
    let hidden = entry.meta.fields.iter().filter(|field| !has(entry.read_right(field))).map(|field| field.name);
    let hidden: Vec<&str> = hidden.collect();
    let parts = entry.meta.fields.iter().map(|field| (field.name, field_access::hidden_in(catalog, field, &has)));
    let parts: Vec<_> = parts.filter(|(_, hidden)| !hidden.is_empty()).collect();
    if hidden.is_empty() && parts.is_empty() {
        return body.clone();
    }
    let Ok(mut whole) = serde_json::from_str::<Value>(body) else { return "{}".into() };
    // The record under its singular name, or the changes of a singleton.
    for part in whole["data"].as_object_mut().into_iter().flat_map(|data| data.values_mut()) {
        if let Some(fields) = part.as_object_mut() {
            fields.retain(|name, _| !hidden.contains(&name.as_str()));
            for (name, hidden) in &parts {
                fields.get_mut(*name).into_iter().for_each(|embedded| hide(embedded, hidden));
            }
        }
    }
    whole.to_string().into()
}

/// Removes fields of embedded records: of a list or, in the event of a singleton, of its lists before and after.
fn hide(embedded: &mut Value, hidden: &[&str]) {
    if let Some(change) = embedded.as_object_mut() {
        change.values_mut().for_each(|list| hide(list, hidden));
    }
    for fields in embedded.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        fields.retain(|name, _| !hidden.contains(&name.as_str()));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hidden_fields_of_embedded_records_are_removed_from_records_and_from_changes_of_a_singleton() {
        let lists = |price: &[Value]| -> Value {
            price.iter().map(|price| json!({ "id": 1, "note": "Lamp", "price": price })).collect()
        };
        let shown = json!([{ "id": 1, "note": "Lamp" }]);
        let mut of_record = lists(&[json!(7)]);
        hide(&mut of_record, &["price"]);
        assert_eq!(of_record, shown);
        let mut of_singleton = json!({ "old": lists(&[json!(7)]), "new": lists(&[json!(8)]) });
        hide(&mut of_singleton, &["price"]);
        assert_eq!(of_singleton, json!({ "old": shown, "new": shown }));
    }
}
