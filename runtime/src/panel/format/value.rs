//! A value as people read it, by the kind of its field.

use maud::{Markup, html};
use serde_json::Value;

use super::listing::{Fields, Seen};
use super::title::Titles;
use super::visit::Visit;
use super::{title, words, zone};
use crate::catalog::Entry;
use crate::custom_field::{CustomFieldType, Definition};
use crate::meta::{FieldMeta, Kind, Rule, Widget};

/// Characters of a long text that a table shows.
const SHORT: usize = 120;

/// Characters of a long id that a table shows.
const BEGINS: usize = 8;
const ENDS: usize = 4;

/// How much room there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    Table,
    Page,
}

/// The kind of what a field holds, which for a derived field is another record's.
pub fn kind(entry: &Entry, field: &'static FieldMeta) -> Kind {
    let source = entry.source(field);
    match (field.kind, source.labels) {
        (Kind::Derived { .. }, Some(_)) => Kind::Text,
        (Kind::Derived { .. }, None) => source.field.kind,
        (kind, _) => kind,
    }
}

/// Whether its values stand to the right, under each other.
pub fn is_number(kind: Kind) -> bool {
    matches!(kind, Kind::Integer | Kind::BigInt | Kind::Decimal { .. })
}

/// A field of a record.
pub fn of(
    visit: &Visit<'_>,
    entry: &Entry,
    field: &'static FieldMeta,
    record: &Value,
    titles: &Titles,
    room: Room,
) -> Markup {
    of_kind(visit, field, kind(entry, field), record, titles, room)
}

/// The same, of which the kind is known.
pub fn of_kind(
    visit: &Visit<'_>,
    field: &'static FieldMeta,
    kind: Kind,
    record: &impl Fields,
    titles: &Titles,
    room: Room,
) -> Markup {
    let value = record.value(field.name);
    match kind {
        Kind::Ref { resource } => match value.as_i64() {
            Some(id) => reference(visit, visit.state.catalog.linked(resource), id, titles),
            None => nothing(),
        },
        Kind::PolymorphicRef { type_field } => {
            let target = record.value(type_field).as_str().and_then(|name| visit.state.catalog.by_type(name));
            match (value.as_i64(), target) {
                (Some(id), Some(target)) => reference(visit, target, id, titles),
                (Some(id), None) => html! { (id) },
                _ => nothing(),
            }
        }
        Kind::RefList { resource } => {
            let target = visit.state.catalog.linked(resource);
            let ids: Vec<i64> = value.as_array().into_iter().flatten().filter_map(Value::as_i64).collect();
            if ids.is_empty() {
                return nothing();
            }
            html! { ul .inline { @for id in ids { li { (reference(visit, target, id, titles)) } } } }
        }
        Kind::PolymorphicType { .. } => match value.as_str().and_then(|name| visit.state.catalog.by_type(name)) {
            Some(target) => html! { (target.meta.label) },
            None => plain(visit, kind, value, room),
        },
        Kind::String { .. } if field.rules.contains(&Rule::Email) => match value.as_str() {
            Some(address) if room == Room::Page => html! { a href={ "mailto:" (address) } { (address) } },
            _ => plain(visit, kind, value, room),
        },
        _ => alone(visit, field, kind, value, room),
    }
}

/// A value that leads nowhere, in the letters that its field asks for.
pub fn alone<'v>(visit: &Visit<'_>, field: &FieldMeta, kind: Kind, value: impl Into<Seen<'v>>, room: Room) -> Markup {
    let value = value.into();
    match (field.widget, value, room) {
        (Some(Widget::Monospace), Seen::Text(text), Room::Page) if kind == Kind::Text => {
            html! { pre .wrap tabindex="0" { (text) } }
        }
        (Some(Widget::Money), Seen::Text(amount), _) => visit.locale.amounts.money(amount),
        (_, Seen::Text(id), Room::Table) if is_id(field, kind) => short_id(id),
        (Some(Widget::Monospace), Seen::Text(_), _) => html! { code { (plain(visit, kind, value, room)) } },
        _ => plain(visit, kind, value, room),
    }
}

/// Whether a text is an id that machines gave: nobody reads one from its first letter to its last.
fn is_id(field: &FieldMeta, kind: Kind) -> bool {
    kind == Kind::Uuid || (matches!(kind, Kind::String { .. }) && field.name.ends_with("_id"))
}

/// Both ends of a long id, because some begin with what they are of or when they were made, and the whole where one points.
fn short_id(id: &str) -> Markup {
    let letters: Vec<char> = id.chars().collect();
    if letters.len() <= BEGINS + ENDS + 1 {
        return html! { code { (id) } };
    }
    let part = |letters: &[char]| letters.iter().collect::<String>();
    html! { code title=(id) { (part(&letters[..BEGINS])) "…" (part(&letters[letters.len() - ENDS..])) } }
}

/// Whether a value takes the whole width of a page.
pub fn is_long(kind: Kind, value: &Value) -> bool {
    matches!(kind, Kind::Text | Kind::Json) && !value.is_null() && value != ""
}

/// The value of a custom field. Of one whose definition is of no type that is known, as text.
pub fn custom<'v>(
    visit: &Visit<'_>,
    definition: Option<&Definition>,
    value: impl Into<Seen<'v>>,
    room: Room,
) -> Markup {
    let known = definition.and_then(|definition| CustomFieldType::from_name(&definition.field_type));
    let kind = match known {
        // It counts something, and is nobody's id.
        Some(CustomFieldType::Integer) => Kind::Integer,
        known => known.map_or(Kind::Text, CustomFieldType::kind),
    };
    plain(visit, kind, value, room)
}

/// A value that stands for itself.
pub fn plain<'v>(visit: &Visit<'_>, kind: Kind, value: impl Into<Seen<'v>>, room: Room) -> Markup {
    match value.into() {
        Seen::Text(text) => written(visit, kind, text, room),
        Seen::Other(value) => other(visit, kind, value, room),
    }
}

fn written(visit: &Visit<'_>, kind: Kind, text: &str, room: Room) -> Markup {
    match kind {
        Kind::Enum { .. } => html! { span .tag { (words::label(text)) } },
        Kind::Timestamp { .. } => match zone::shown(visit.locale.zone, text) {
            Some(shown) => {
                html! { time datetime=(text) title={ (text) " (" (visit.locale.zone.name()) " is shown)" } { (shown) } }
            }
            None => html! { (text) },
        },
        Kind::Date => match zone::day(text) {
            Some(shown) => html! { time datetime=(text) { (shown) } },
            None => html! { (text) },
        },
        Kind::Decimal { .. } => html! { (visit.locale.amounts.number(text)) },
        _ if text.is_empty() => nothing(),
        _ => match room {
            Room::Page => html! { span .text { (text) } },
            Room::Table => match text.char_indices().nth(SHORT) {
                Some((end, _)) => html! { (&text[..end]) "…" },
                None => html! { (text) },
            },
        },
    }
}

fn other(visit: &Visit<'_>, kind: Kind, value: &Value, room: Room) -> Markup {
    match (kind, value) {
        (_, Value::Null) => nothing(),
        (_, Value::Bool(true)) => html! { span .yes { "Yes" } },
        (_, Value::Bool(false)) => html! { span .no { "No" } },
        (Kind::Code { values }, Value::Number(code)) => {
            let label = values.iter().find(|(known, _)| Some(i64::from(*known)) == code.as_i64());
            match label {
                Some((_, label)) => html! { span .tag { (label) } },
                None => html! { (code) },
            }
        }
        (Kind::Integer, Value::Number(number)) => html! { (visit.locale.amounts.number(&number.to_string())) },
        (_, Value::Number(number)) => html! { (number) },
        (_, Value::Array(list)) if list.is_empty() => nothing(),
        (_, Value::Array(list)) if list.iter().all(Value::is_string) => {
            html! { ul .inline { @for text in list { li .tag { (text.as_str().unwrap_or_default()) } } } }
        }
        (Kind::Embedded { .. }, Value::Array(list)) => html! { (list.len()) },
        (_, Value::Object(map)) if map.is_empty() => nothing(),
        (_, other) => match room {
            Room::Table => html! { code .short { (other) } },
            Room::Page => html! { pre tabindex="0" { (serde_json::to_string_pretty(other).unwrap_or_default()) } },
        },
    }
}

/// A link to another record, by its title.
pub fn reference(visit: &Visit<'_>, target: &Entry, id: i64, titles: &Titles) -> Markup {
    match titles.get(target.meta.name, id) {
        Some(text) => html! { a href={ "/" (target.meta.path) "/" (id) } { (text) } },
        None if title::is_reached(visit, target) => {
            html! { a href={ "/" (target.meta.path) "/" (id) } { (target.meta.label) " " (id) } }
        }
        None => html! { (target.meta.label) " " (id) },
    }
}

/// What stands where no value is.
pub fn nothing() -> Markup {
    html! { span .faint aria-label="none" { "–" } }
}
