//! What differs between a record as it is now and as a form sends it, for whoever is about to write over somebody else's change.

use maud::{Markup, html};
use serde_json::Value;

use super::cell::{self, Room};
use super::title::Titles;
use super::visit::Visit;
use super::{input, sent, words};
use crate::catalog::Entry;
use crate::custom_field::{CustomFieldType, Definition};
use crate::error::Result;
use crate::meta::{FieldMeta, Kind};

/// The notice, with each value as it is read elsewhere.
///
/// # Errors
/// When the database fails.
pub async fn told(
    visit: &Visit<'_>,
    entry: &Entry,
    definitions: &[Definition],
    now: &Value,
    sent: &Value,
) -> Result<Markup> {
    let fields: Vec<&'static FieldMeta> = entry.meta.fields.iter().collect();
    let mut ours = sent::numbered(&fields, sent);
    for field in &fields {
        if let Some(value) = ours.get_mut(field.name) {
            *value = sent::as_shown(field.kind, value);
        }
    }
    // What is never shown is not compared, and not shown here either.
    let differing: Vec<&'static FieldMeta> = fields
        .iter()
        .copied()
        .filter(|field| field.kind != Kind::CustomFields)
        .filter(|field| ours.get(field.name).zip(now.get(field.name)).is_some_and(|(ours, now)| !is_same(ours, now)))
        .collect();
    let titles = Titles::load(visit, entry, &differing, &[now.clone(), ours.clone()]).await?;
    // The whole of it: what differs may be its end.
    let shown = |record: &Value, field| cell::of(visit, entry, field, record, &titles, Room::Page);
    let custom = definitions.iter().filter_map(|definition| {
        let kind = CustomFieldType::from_name(&definition.field_type)?.kind();
        let name = definition.name.as_str();
        let (now, ours) = (&now["custom_fields"][name], sent::as_shown(kind, ours["custom_fields"].get(name)?));
        let shown = |value: &Value| cell::custom(visit, Some(definition), value, Room::Page);
        (!is_same(&ours, now)).then(|| (&definition.label, shown(now), shown(&ours)))
    });
    Ok(html! {
        p { strong { "Somebody else has changed this record meanwhile." } " Saving again writes your values over theirs." }
        ul {
            @for field in differing { (one(&words::field(field), &shown(now, field), &shown(&ours, field))) }
            @for (label, now, ours) in custom { (one(label, &now, &ours)) }
        }
    })
}

fn one(label: &str, now: &Markup, ours: &Markup) -> Markup {
    html! { li { (label) ": now " strong { (now) } ", yours " strong { (ours) } } }
}

/// Whether both are the same in a form. Of the records that belong in one, what the form has of them counts.
fn is_same(ours: &Value, now: &Value) -> bool {
    match (ours, now) {
        (Value::Array(ours), Value::Array(now)) => {
            ours.len() == now.len() && ours.iter().zip(now).all(|(ours, now)| is_same(ours, now))
        }
        (Value::Object(ours), Value::Object(now)) => {
            ours.iter().all(|(name, ours)| is_same(ours, now.get(name).unwrap_or(&Value::Null)))
        }
        _ => input::text(ours) == input::text(now),
    }
}
