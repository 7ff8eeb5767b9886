//! Fixed choices of a field: enum values, codes, abilities, permissions, events.

use crate::language::{self, text};
use crate::panel::display_name::DisplayNames;
use crate::panel::format::{datetime, labels, relative};
use crate::panel::list::columns::Column;
use crate::panel::list::filter_row::FilterRow;
use crate::panel::request::PanelRequest;
use charter_core::ability::ALL;
use charter_core::catalog::{Catalog, Entry};
use charter_core::custom_field::{CustomFieldType, Definition};
use charter_core::meta::{FieldMeta, Kind};
use charter_core::query::{Predicate, Reads};

/// A value and its label.
pub(crate) type Choice = (String, String);

/// The choices of a kind.
pub(crate) fn for_kind(catalog: &Catalog, kind: Kind) -> Option<Vec<Choice>> {
    match kind {
        Kind::Enum { values } => {
            Some(values.iter().map(|word| ((*word).to_string(), labels::from_name(word))).collect())
        }
        Kind::Code { values } => {
            Some(values.iter().map(|(code, label)| (code.to_string(), language::label(label))).collect())
        }
        Kind::Boolean => Some(vec![("true".into(), text!("Yes")), ("false".into(), text!("No"))]),
        Kind::PolymorphicType { type_names } => {
            let label = |name: &str| catalog.by_type(name).map_or(name.to_string(), |entry| labels::record(entry.meta));
            Some(type_names.iter().map(|name| ((*name).to_string(), label(name))).collect())
        }
        _ => None,
    }
}

/// The input kind of a custom field and its choices; `None` if its type is unknown.
pub(crate) fn for_custom_field(catalog: &Catalog, definition: &Definition) -> Option<(Kind, Option<Vec<Choice>>)> {
    let kind = CustomFieldType::from_name(&definition.field_type)?.kind();
    // A `<select>` with three options, because the field may be null.
    if kind == Kind::Boolean {
        return Some((Kind::Enum { values: &[] }, for_kind(catalog, kind)));
    }
    let choices = || definition.choices.iter().map(|word| (word.clone(), word.clone())).collect();
    Some((kind, (!definition.choices.is_empty()).then(choices)))
}

/// The choices of a column.
pub(crate) fn for_column(catalog: &Catalog, column: &Column) -> Option<Vec<Choice>> {
    if let Some(definition) = column.custom_field.as_ref().filter(|definition| !definition.choices.is_empty()) {
        return Some(definition.choices.iter().map(|word| (word.clone(), word.clone())).collect());
    }
    for_kind(catalog, column.kind)
}

/// The choices of a field: for some fields of built-in resources they come from the catalog, else from the kind.
pub(crate) fn for_field(request: &PanelRequest<'_>, entry: &Entry, field: &FieldMeta) -> Option<Vec<Choice>> {
    let catalog = &request.state.catalog;
    let same = |names: Vec<String>| names.into_iter().map(|name| (name.clone(), name)).collect();
    // Resources that the user may not read are not offered.
    let readable = || catalog.entries().iter().filter(|entry| request.may_read(entry));
    let plurals = |wanted: &dyn Fn(&Entry) -> bool| -> Vec<Choice> {
        let entries = readable().filter(|entry| wanted(entry));
        entries.map(|entry| (entry.meta.plural.to_string(), labels::plural(entry.meta))).collect()
    };
    match (entry.meta.name, field.name) {
        ("token" | "role", "abilities") => {
            // Nobody can grant more than they have.
            let held = |ability: &String| request.user.principal.has_ability(ability);
            let mut all: Vec<String> = catalog.grantable_abilities().into_iter().filter(held).collect();
            all.sort_by_key(|ability| ability_order(ability));
            Some(same(all))
        }
        ("role", "permissions") => {
            let held = |permission: &&str| request.user.principal.has_permission(permission);
            Some(same(catalog.permissions().into_iter().filter(held).map(String::from).collect()))
        }
        ("webhook", "events") => {
            Some(same(std::iter::once("*".into()).chain(readable().flat_map(Entry::events)).collect()))
        }
        ("custom_field", "entity_type") => Some(plurals(&|entry| entry.meta.custom_fields)),
        ("custom_view", "entity_type") => Some(plurals(&|entry| entry.is_listed())),
        _ => for_kind(catalog, field.kind),
    }
}

/// The position of an ability in a form: those of everything, those of the application, then by resource; reading and
/// writing before single verbs.
fn ability_order(ability: &str) -> (u8, String, u8) {
    let (resource, verb) = ability.split_once(':').unwrap_or((ability, ""));
    let group = match resource {
        ALL => 0,
        "application" => 1,
        _ => 2,
    };
    let verb = match verb {
        "" | "read" => 0,
        "write" => 1,
        _ => 2,
    };
    (group, resource.to_string(), verb)
}

/// The value of a condition in words.
pub(crate) fn describe_value(
    request: &PanelRequest<'_>,
    column: Option<&Column>,
    row: &FilterRow,
    display_names: &DisplayNames,
) -> String {
    let is_list = Predicate::from_name(&row.predicate).is_some_and(|predicate| predicate.reads() == Reads::List);
    let choices = column.and_then(|column| for_column(&request.state.catalog, column)).unwrap_or_default();
    let kind = column.map_or(Kind::Text, |column| column.kind);
    let describe = |text: &str| {
        let choice = choices.iter().find(|(value, _)| value.eq_ignore_ascii_case(text)).map(|(_, label)| label.clone());
        let choice = choice.or_else(|| relative::label(column?, text));
        let reference_or_time = || match kind {
            Kind::Ref { resource } => display_names.get(resource, text.parse().ok()?).map(String::from),
            Kind::Timestamp { .. } => datetime::format_timestamp(request.locale.zone, text),
            _ => None,
        };
        choice.or_else(reference_or_time).unwrap_or_else(|| text.to_string())
    };
    // Only lists are separated by commas.
    let texts: Vec<String> = match is_list {
        true => row.value.split(',').map(|text| describe(text.trim())).collect(),
        false => vec![describe(row.value.trim())],
    };
    texts.iter().map(|one| text!("“{value}”", value = one)).collect::<Vec<_>>().join(", ")
}
