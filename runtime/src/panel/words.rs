//! What people read: labels from names, and addresses.

use charter_model::naming;
use maud::{Markup, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::meta::{ActionMeta, FieldMeta, Kind, ResourceMeta};
use crate::openapi::prose;

/// What a part of an address is made of without escapes.
const PLAIN: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b',').remove(b'[').remove(b']');

/// A part of an address.
pub fn escape(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

/// `Exchange rates`.
pub fn plural(meta: &ResourceMeta) -> String {
    prose::tag(meta)
}

/// `exchange rate`.
pub fn singular(meta: &ResourceMeta) -> String {
    prose::noun(meta)
}

/// What its declaration calls it; else `product_group_id` is `Product group`, `is_active` is `Active`.
pub fn field(field: &FieldMeta) -> String {
    if !field.label.is_empty() {
        return field.label.to_string();
    }
    let name = match field.kind {
        Kind::Ref { .. } | Kind::PolymorphicRef { .. } | Kind::Code { .. } => {
            field.name.strip_suffix("_id").unwrap_or(field.name)
        }
        Kind::Integer => field.name.strip_suffix("_id").unwrap_or(field.name),
        Kind::RefList { .. } => {
            return label(&field.name.strip_suffix("_ids").map_or(field.name.into(), naming::plural));
        }
        // The name of a product's group is what its group is called.
        Kind::Derived { via, field: "name" } => via.strip_suffix("_id").unwrap_or(via),
        Kind::Boolean => field.name.strip_prefix("is_").unwrap_or(field.name),
        _ => field.name,
    };
    label(name)
}

/// `loss_and_damage` is `Loss and damage`.
pub fn label(name: &str) -> String {
    match name {
        "id" => "ID".into(),
        "sku" | "url" | "uuid" => name.to_uppercase(),
        _ => prose::capital(&prose::words(name)),
    }
}

/// `Rotate secret`.
pub fn action(action: &ActionMeta) -> String {
    label(action.name)
}

/// What stands below an input.
pub fn help(field: &FieldMeta) -> &'static str {
    if field.help.is_empty() { field.description } else { field.help }
}

/// Fields by the heading under which they stand, those without one first.
pub fn grouped(fields: impl Iterator<Item = &'static FieldMeta>) -> Vec<(&'static str, Vec<&'static FieldMeta>)> {
    let mut groups: Vec<(&'static str, Vec<&'static FieldMeta>)> = vec![("", Vec::new())];
    for field in fields {
        match groups.iter_mut().find(|(group, _)| *group == field.group) {
            Some((_, fields)) => fields.push(field),
            None => groups.push((field.group, vec![field])),
        }
    }
    groups
}

/// A description, whose names of fields and values stand between backticks.
pub fn described(text: &str) -> Markup {
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
    fn a_list_of_references_is_called_by_several() {
        for (name, called) in
            [("role_ids", "Roles"), ("company_ids", "Companies"), ("day_ids", "Days"), ("tags", "Tags")]
        {
            assert_eq!(field(&FieldMeta::new(name, Kind::RefList { resource: "role" })), called);
        }
    }
}
