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
                let embedded = fields.get_mut(*name).and_then(Value::as_array_mut).into_iter().flatten();
                for fields in embedded.filter_map(Value::as_object_mut) {
                    fields.retain(|name, _| !hidden.contains(&name.as_str()));
                }
            }
        }
    }
    whole.to_string().into()
}
