//! Edit conflict: the notice that lists where the saved record and the form differ.

use maud::{Markup, html};
use serde_json::Value;

use super::{form_decode, input};
use crate::panel::display_name::DisplayNames;
use crate::panel::format::labels;
use crate::panel::format::value::{self, Placement};
use crate::panel::request::PanelRequest;
use charter_core::catalog::Entry;
use charter_core::custom_field::{CustomFieldType, Definition};
use charter_core::error::Result;
use charter_core::meta::{FieldMeta, Kind};

/// The notice above the form.
///
/// # Errors
/// When the database fails.
pub(super) async fn render(
    request: &PanelRequest<'_>,
    entry: &Entry,
    definitions: &[Definition],
    saved: &Value,
    sent: &Value,
) -> Result<Markup> {
    let fields: Vec<&'static FieldMeta> = entry.meta.fields.iter().collect();
    let mut ours = form_decode::with_numeric_ids(&fields, sent);
    for field in &fields {
        if let Some(value) = ours.get_mut(field.name) {
            *value = form_decode::to_api_value(field.kind, value);
        }
    }
    // Fields that the API never returns are not compared.
    let differing: Vec<&'static FieldMeta> = fields
        .iter()
        .copied()
        .filter(|field| field.kind != Kind::CustomFields)
        .filter(|field| {
            ours.get(field.name).zip(saved.get(field.name)).is_some_and(|(ours, saved)| !is_same(ours, saved))
        })
        .collect();
    let display_names =
        DisplayNames::load_for_fields(request, entry, &differing, &[saved.clone(), ours.clone()]).await?;
    // Values are not truncated, because they may differ at the end.
    let shown =
        |record: &Value, field| value::render_field(request, entry, field, record, &display_names, Placement::Page);
    let custom = definitions.iter().filter_map(|definition| {
        let kind = CustomFieldType::from_name(&definition.field_type)?.kind();
        let name = definition.name.as_str();
        let (saved, ours) =
            (&saved["custom_fields"][name], form_decode::to_api_value(kind, ours["custom_fields"].get(name)?));
        let shown = |value: &Value| value::render_custom_field(request, Some(definition), value, Placement::Page);
        (!is_same(&ours, saved)).then(|| (&definition.label, shown(saved), shown(&ours)))
    });
    Ok(html! {
        p { strong { "Somebody else changed this record after you opened it." } " Saving again overwrites their changes." }
        ul {
            @for field in differing { (difference(&labels::field(field), &shown(saved, field), &shown(&ours, field))) }
            @for (label, saved, ours) in custom { (difference(label, &saved, &ours)) }
        }
    })
}

fn difference(label: &str, saved: &Markup, ours: &Markup) -> Markup {
    html! { li { (label) ": now " strong { (saved) } ", yours " strong { (ours) } } }
}

/// Returns true if two values are the same in a form. Of embedded records only the fields in the form are compared.
fn is_same(ours: &Value, saved: &Value) -> bool {
    match (ours, saved) {
        (Value::Array(ours), Value::Array(saved)) => {
            ours.len() == saved.len() && ours.iter().zip(saved).all(|(ours, saved)| is_same(ours, saved))
        }
        (Value::Object(ours), Value::Object(saved)) => {
            ours.iter().all(|(name, ours)| is_same(ours, saved.get(name).unwrap_or(&Value::Null)))
        }
        _ => input::to_text(ours) == input::to_text(saved),
    }
}
