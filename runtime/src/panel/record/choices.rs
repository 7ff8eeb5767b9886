//! Values that are chosen from a list which is known: words, codes, abilities, events.

use super::columns::Column;
use super::row::Row;
use super::title::Titles;
use super::visit::Visit;
use super::{words, zone};
use crate::catalog::{Catalog, Entry};
use crate::custom_field::{CustomFieldType, Definition};
use crate::meta::{FieldMeta, Kind};
use crate::query::{Predicate, Reads};

/// A value and what it is called.
pub type Choice = (String, String);

/// The choices of a kind that has its own.
pub fn of_kind(catalog: &Catalog, kind: Kind) -> Option<Vec<Choice>> {
    match kind {
        Kind::Enum { values } => Some(values.iter().map(|word| ((*word).to_string(), words::label(word))).collect()),
        Kind::Code { values } => {
            Some(values.iter().map(|(code, label)| (code.to_string(), (*label).to_string())).collect())
        }
        Kind::Boolean => Some(vec![("true".into(), "Yes".into()), ("false".into(), "No".into())]),
        Kind::PolymorphicType { type_names } => {
            let label = |name: &str| catalog.by_type(name).map_or(name.to_string(), |entry| entry.meta.label.into());
            Some(type_names.iter().map(|name| ((*name).to_string(), label(name))).collect())
        }
        _ => None,
    }
}

/// The kind of the input for a custom field, and its choices; nothing where its type is not known.
pub fn of_custom(catalog: &Catalog, definition: &Definition) -> Option<(Kind, Option<Vec<Choice>>)> {
    let kind = CustomFieldType::from_name(&definition.field_type)?.kind();
    // Three answers: yes, no, and none.
    if kind == Kind::Boolean {
        return Some((Kind::Enum { values: &[] }, of_kind(catalog, kind)));
    }
    let choices = || definition.choices.iter().map(|word| (word.clone(), word.clone())).collect();
    Some((kind, (!definition.choices.is_empty()).then(choices)))
}

/// The choices of a column.
pub fn of_column(catalog: &Catalog, column: &Column) -> Option<Vec<Choice>> {
    if let Some(definition) = column.custom.as_ref().filter(|definition| !definition.choices.is_empty()) {
        return Some(definition.choices.iter().map(|word| (word.clone(), word.clone())).collect());
    }
    of_kind(catalog, column.kind)
}

/// What a field's own resource knows of its values, where the kind does not say it.
pub fn of_field(visit: &Visit<'_>, entry: &Entry, field: &FieldMeta) -> Option<Vec<Choice>> {
    let catalog = &visit.state.catalog;
    let same = |names: Vec<String>| names.into_iter().map(|name| (name.clone(), name)).collect();
    // Of what a user may not read nothing is offered.
    let read = || catalog.entries().iter().filter(|entry| visit.may_read(entry));
    let plurals = |wanted: &dyn Fn(&Entry) -> bool| -> Vec<Choice> {
        let entries = read().filter(|entry| wanted(entry));
        entries.map(|entry| (entry.meta.plural.to_string(), words::plural(entry.meta))).collect()
    };
    match (entry.meta.name, field.name) {
        ("token", "abilities") => Some(same(std::iter::once("*".into()).chain(catalog.abilities()).collect())),
        ("role", "permissions") => Some(same(catalog.permissions().into_iter().map(String::from).collect())),
        ("webhook", "events") => {
            Some(same(std::iter::once("*".into()).chain(read().flat_map(Entry::events)).collect()))
        }
        ("custom_field", "entity_type") => Some(plurals(&|entry| entry.meta.custom_fields)),
        ("custom_view", "entity_type") => Some(plurals(&|entry| entry.is_listed())),
        _ => of_kind(catalog, field.kind),
    }
}

/// A condition's value in words.
pub fn said(visit: &Visit<'_>, column: Option<&Column>, row: &Row, titles: &Titles) -> String {
    let is_list = Predicate::from_name(&row.predicate).is_some_and(|predicate| predicate.reads() == Reads::List);
    let choices = column.and_then(|column| of_column(&visit.state.catalog, column)).unwrap_or_default();
    let kind = column.map_or(Kind::Text, |column| column.kind);
    let one = |text: &str| {
        let known = choices.iter().find(|(value, _)| value.eq_ignore_ascii_case(text)).map(|(_, label)| label.clone());
        let title = || match kind {
            Kind::Ref { resource } => titles.get(resource, text.parse().ok()?).map(String::from),
            Kind::Timestamp { .. } => zone::shown(visit.locale.zone, text),
            _ => None,
        };
        known.or_else(title).unwrap_or_else(|| text.to_string())
    };
    // Elsewhere a comma is a part of what is looked for.
    let texts: Vec<String> = match is_list {
        true => row.value.split(',').map(|text| one(text.trim())).collect(),
        false => vec![one(row.value.trim())],
    };
    format!("“{}”", texts.join("”, “"))
}
