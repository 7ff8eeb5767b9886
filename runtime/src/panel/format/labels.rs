//! Labels of resources, fields and actions, from the declaration or derived from their names.

use charter_model::naming;
use maud::{Markup, html};
use serde_json::Value;

use crate::language::{SOURCE, current_code, label, message, text};
use crate::openapi::english;
use charter_core::meta::{ActionMeta, FieldMeta, Kind, ResourceMeta};

/// `Exchange rates`, as a heading.
pub(crate) fn plural(meta: &ResourceMeta) -> String {
    english::capitalize(&records(meta))
}

/// `exchange rates`, within a sentence.
pub(crate) fn records(meta: &ResourceMeta) -> String {
    label(&english::records(meta))
}

/// `exchange rate`, within a sentence.
pub(crate) fn singular(meta: &ResourceMeta) -> String {
    label(&english::noun(meta))
}

/// `Exchange rate`, as a heading or a name.
pub(crate) fn record(meta: &ResourceMeta) -> String {
    let (english, noun) = (english::noun(meta), singular(meta));
    if noun == english { meta.label.to_string() } else { english::capitalize(&noun) }
}

/// The declared label; else `Product group` for `product_group_id`, `Active` for `is_active`.
pub(crate) fn field(field: &FieldMeta) -> String {
    label(&field_in_english(field))
}

/// The label within a sentence: English in lower case, another language as its table has it.
pub(crate) fn field_within_sentence(one: &FieldMeta) -> String {
    let label = field(one);
    if current_code() == SOURCE { label.to_lowercase() } else { label }
}

pub(super) fn field_in_english(field: &FieldMeta) -> String {
    if !field.label.is_empty() {
        return field.label.to_string();
    }
    let name = match field.kind {
        Kind::Ref { .. } | Kind::PolymorphicRef { .. } | Kind::Code { .. } => {
            field.name.strip_suffix("_id").unwrap_or(field.name)
        }
        Kind::Integer => field.name.strip_suffix("_id").unwrap_or(field.name),
        Kind::RefList { .. } | Kind::Links { .. } => {
            return name_in_english(&field.name.strip_suffix("_ids").map_or(field.name.into(), naming::plural));
        }
        // `product_group_name` is labelled like the reference that it comes from.
        Kind::Derived { via, field: "name" } => via.strip_suffix("_id").unwrap_or(via),
        Kind::Boolean => field.name.strip_prefix("is_").unwrap_or(field.name),
        _ => field.name,
    };
    name_in_english(name)
}

/// `Loss and damage` from `loss_and_damage`; the name of a resource as its noun.
pub(crate) fn from_name(name: &str) -> String {
    let (english, words) = (name_in_english(name), english::words(name));
    match (label(&english), label(&words)) {
        (same, noun) if same == english && noun != words => english::capitalize(&noun),
        (label, _) => label,
    }
}

pub(super) fn name_in_english(name: &str) -> String {
    match name {
        "id" => "ID".into(),
        "sku" | "url" | "uuid" => name.to_uppercase(),
        _ => english::capitalize(&english::words(name)),
    }
}

/// The label for a field name in the API's errors: `Weight` for `weight`, `Power` for `custom_fields.power`.
pub(crate) fn error_field(meta: &ResourceMeta, name: &str) -> String {
    let (first, rest) = name.split_once('.').unwrap_or((name, ""));
    match meta.fields.iter().find(|known| known.name == first) {
        Some(known) if known.kind == Kind::CustomFields && !rest.is_empty() => from_name(rest),
        Some(known) => field(known),
        None => from_name(name),
    }
}

/// The messages of the API for a field, after its label.
pub(crate) fn messages(all: &[String]) -> String {
    all.iter().map(|one| message(one)).collect::<Vec<_>>().join("; ")
}

/// The API's messages by field, each after its label: `Weight must be at least 0 and must be a number`.
pub(crate) fn field_problems(meta: &ResourceMeta, errors: &Value) -> Vec<String> {
    let problem = |(name, messages): (&String, &Value)| {
        let messages = messages.as_array().into_iter().flatten().filter_map(Value::as_str).map(message);
        let all = messages.reduce(|others, last| text!("{others} and {last}", others = others, last = last));
        format!("{} {}", error_field(meta, name), all.unwrap_or_default())
    };
    errors.as_object().into_iter().flatten().map(problem).collect()
}

/// `Rotate secret`
pub(crate) fn action(action: &ActionMeta) -> String {
    from_name(action.name)
}

/// The help below an input; the field's description if it has no help of its own.
pub(crate) fn help(field: &FieldMeta) -> String {
    label(help_in_english(field))
}

pub(super) fn help_in_english(field: &FieldMeta) -> &'static str {
    if field.help.is_empty() { field.description } else { field.help }
}

/// Fields by their declared group. Those without one come first, in a group with an empty name.
pub(crate) fn group_fields(
    fields: impl Iterator<Item = &'static FieldMeta>,
) -> Vec<(&'static str, Vec<&'static FieldMeta>)> {
    let mut groups: Vec<(&'static str, Vec<&'static FieldMeta>)> = vec![("", Vec::new())];
    for field in fields {
        match groups.iter_mut().find(|(group, _)| *group == field.group) {
            Some((_, fields)) => fields.push(field),
            None => groups.push((field.group, vec![field])),
        }
    }
    groups
}

/// A description as HTML, with what is between backticks as `<code>`.
pub(crate) fn render_code(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_references_has_a_plural_label() {
        for (name, label) in
            [("role_ids", "Roles"), ("company_ids", "Companies"), ("day_ids", "Days"), ("tags", "Tags")]
        {
            assert_eq!(field(&FieldMeta::new(name, Kind::RefList { resource: "role" })), label);
        }
    }
}
