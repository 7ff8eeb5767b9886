//! A value as HTML, by the kind of its field.

use maud::{Markup, html};
use serde_json::Value;

use super::{datetime, labels};
use crate::language::{self, text};
use crate::panel::display_name::{self, DisplayNames};
use crate::panel::list::response::{FieldValue, Fields};
use crate::panel::request::PanelRequest;
use charter_core::catalog::Entry;
use charter_core::custom_field::{CustomFieldType, Definition};
use charter_core::meta::{FieldMeta, Kind, Rule, Widget};

/// Length to which a table truncates a text.
const MAX_TABLE_CHARS: usize = 120;

/// Characters of a long id that a table shows from its start and its end.
const ID_PREFIX_CHARS: usize = 8;
const ID_SUFFIX_CHARS: usize = 4;

/// Where a value is shown: tables truncate long ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    Table,
    Page,
}

/// The kind of a field's values: for a derived field, the kind of its source.
pub(crate) fn kind_of(entry: &Entry, field: &'static FieldMeta) -> Kind {
    let source = entry.source(field);
    match (field.kind, source.labels) {
        (Kind::Derived { .. }, Some(_)) => Kind::Text,
        (Kind::Derived { .. }, None) => source.field.kind,
        (kind, _) => kind,
    }
}

pub(crate) fn render_field(
    request: &PanelRequest<'_>,
    entry: &Entry,
    field: &'static FieldMeta,
    record: &Value,
    display_names: &DisplayNames,
    placement: Placement,
) -> Markup {
    render_kind(request, field, kind_of(entry, field), record, display_names, placement)
}

/// [`render_field`] with a known kind.
pub(crate) fn render_kind(
    request: &PanelRequest<'_>,
    field: &'static FieldMeta,
    kind: Kind,
    record: &impl Fields,
    display_names: &DisplayNames,
    placement: Placement,
) -> Markup {
    let value = record.value(field.name);
    match kind {
        Kind::Ref { resource } => match value.as_i64() {
            Some(id) => render_reference(request, request.state.catalog.linked(resource), id, display_names),
            None => render_empty(),
        },
        Kind::PolymorphicRef { type_field } => {
            let referenced = record.value(type_field).as_str().and_then(|name| request.state.catalog.by_type(name));
            match (value.as_i64(), referenced) {
                (Some(id), Some(referenced)) => render_reference(request, referenced, id, display_names),
                (Some(id), None) => html! { (id) },
                _ => render_empty(),
            }
        }
        Kind::RefList { resource } | Kind::Links { resource, .. } => {
            let referenced = request.state.catalog.linked(resource);
            let ids: Vec<i64> = value.as_array().into_iter().flatten().filter_map(Value::as_i64).collect();
            if ids.is_empty() {
                return render_empty();
            }
            html! { ul .inline { @for id in ids { li { (render_reference(request, referenced, id, display_names)) } } } }
        }
        Kind::PolymorphicType { .. } => match value.as_str().and_then(|name| request.state.catalog.by_type(name)) {
            Some(referenced) => html! { (labels::record(referenced.meta)) },
            None => render_plain(request, kind, value, placement),
        },
        Kind::String { .. } if field.rules.contains(&Rule::Email) => match value.as_str() {
            Some(address) if placement == Placement::Page => html! { a href={ "mailto:" (address) } { (address) } },
            _ => render_plain(request, kind, value, placement),
        },
        _ => render_unlinked(request, field, kind, value, placement),
    }
}

/// A value without a link, rendered by its field's widget.
pub(crate) fn render_unlinked<'v>(
    request: &PanelRequest<'_>,
    field: &FieldMeta,
    kind: Kind,
    value: impl Into<FieldValue<'v>>,
    placement: Placement,
) -> Markup {
    let value = value.into();
    match (field.widget, value, placement) {
        (Some(Widget::Monospace), FieldValue::Text(text), Placement::Page) if kind == Kind::Text => {
            html! { pre .wrap tabindex="0" { (text) } }
        }
        (Some(Widget::Money), FieldValue::Text(amount), _) => request.locale.numbers.money(amount),
        (_, FieldValue::Text(id), Placement::Table) if is_machine_id(field, kind) => render_short_id(id),
        (Some(Widget::Monospace), FieldValue::Text(_), _) => {
            html! { code { (render_plain(request, kind, value, placement)) } }
        }
        _ => render_plain(request, kind, value, placement),
    }
}

/// Returns true if a text is an id made by a machine, which people recognize by its ends.
fn is_machine_id(field: &FieldMeta, kind: Kind) -> bool {
    kind == Kind::Uuid || (matches!(kind, Kind::String { .. }) && field.name.ends_with("_id"))
}

/// A long id with its middle elided. Both ends are shown, because some ids begin with a type or a time; the tooltip is
/// the whole id.
fn render_short_id(id: &str) -> Markup {
    let chars: Vec<char> = id.chars().collect();
    if chars.len() <= ID_PREFIX_CHARS + ID_SUFFIX_CHARS + 1 {
        return html! { code { (id) } };
    }
    let part = |chars: &[char]| chars.iter().collect::<String>();
    html! { code title=(id) { (part(&chars[..ID_PREFIX_CHARS])) "…" (part(&chars[chars.len() - ID_SUFFIX_CHARS..])) } }
}

/// Returns true if a value spans the full width of a page.
pub(crate) fn is_full_width(kind: Kind, value: &Value) -> bool {
    matches!(kind, Kind::Text | Kind::Json) && !value.is_null() && value != ""
}

/// The value of a custom field; as text if its type is unknown.
pub(crate) fn render_custom_field<'v>(
    request: &PanelRequest<'_>,
    definition: Option<&Definition>,
    value: impl Into<FieldValue<'v>>,
    placement: Placement,
) -> Markup {
    let known = definition.and_then(|definition| CustomFieldType::from_name(&definition.field_type));
    let kind = match known {
        // Digits are grouped, unlike those of a `BigInt`, which may be an id.
        Some(CustomFieldType::Integer) => Kind::Integer,
        known => known.map_or(Kind::Text, CustomFieldType::kind),
    };
    render_plain(request, kind, value, placement)
}

/// A value that needs neither its field nor another record.
pub(crate) fn render_plain<'v>(
    request: &PanelRequest<'_>,
    kind: Kind,
    value: impl Into<FieldValue<'v>>,
    placement: Placement,
) -> Markup {
    match value.into() {
        FieldValue::Text(text) => render_text(request, kind, text, placement),
        FieldValue::Other(value) => render_json(request, kind, value, placement),
    }
}

fn render_text(request: &PanelRequest<'_>, kind: Kind, text: &str, placement: Placement) -> Markup {
    match kind {
        Kind::Enum { .. } => html! { span .tag { (labels::from_name(text)) } },
        Kind::Timestamp { .. } => match datetime::format_timestamp(request.locale.zone, text) {
            Some(shown) => {
                html! { time datetime=(text) title={ (text) " " (text!("(shown in {place})", place = request.locale.zone.name())) } { (shown) } }
            }
            None => html! { (text) },
        },
        Kind::Date => match datetime::format_date(text) {
            Some(shown) => html! { time datetime=(text) { (shown) } },
            None => html! { (text) },
        },
        _ if kind.facts().is_temporal => html! { time datetime=(text) { (text) } },
        Kind::Decimal { .. } => html! { (request.locale.numbers.number(text)) },
        _ if text.is_empty() => render_empty(),
        _ => match placement {
            Placement::Page => html! { span .text { (text) } },
            Placement::Table => match text.char_indices().nth(MAX_TABLE_CHARS) {
                Some((end, _)) => html! { (&text[..end]) "…" },
                None => html! { (text) },
            },
        },
    }
}

fn render_json(request: &PanelRequest<'_>, kind: Kind, value: &Value, placement: Placement) -> Markup {
    match (kind, value) {
        (_, Value::Null) => render_empty(),
        (_, Value::Bool(true)) => html! { span .yes { (text!("Yes")) } },
        (_, Value::Bool(false)) => html! { span .no { (text!("No")) } },
        (Kind::Code { values }, Value::Number(code)) => {
            let label = values.iter().find(|(known, _)| Some(i64::from(*known)) == code.as_i64());
            match label {
                Some((_, label)) => html! { span .tag { (language::label(label)) } },
                None => html! { (code) },
            }
        }
        (Kind::Integer, Value::Number(number)) => html! { (request.locale.numbers.number(&number.to_string())) },
        (_, Value::Number(number)) => html! { (number) },
        (_, Value::Array(list)) if list.is_empty() => render_empty(),
        (_, Value::Array(list)) if list.iter().all(Value::is_string) => {
            html! { ul .inline { @for text in list { li .tag { (text.as_str().unwrap_or_default()) } } } }
        }
        (Kind::Embedded { .. }, Value::Array(list)) => html! { (list.len()) },
        (_, Value::Object(map)) if map.is_empty() => render_empty(),
        (_, other) => match placement {
            Placement::Table => html! { code .short { (other) } },
            Placement::Page => html! { pre tabindex="0" { (serde_json::to_string_pretty(other).unwrap_or_default()) } },
        },
    }
}

/// A link to a record, by its display name.
pub(crate) fn render_reference(
    request: &PanelRequest<'_>,
    referenced: &Entry,
    id: i64,
    display_names: &DisplayNames,
) -> Markup {
    match display_names.get(referenced.meta.name, id) {
        Some(name) => html! { a href={ "/" (referenced.meta.path) "/" (id) } { (name) } },
        None if display_name::is_listable(request, referenced) => {
            html! { a href={ "/" (referenced.meta.path) "/" (id) } { (labels::record(referenced.meta)) " " (id) } }
        }
        None => html! { (labels::record(referenced.meta)) " " (id) },
    }
}

/// The placeholder of an empty value.
pub(crate) fn render_empty() -> Markup {
    html! { span .faint aria-label=(text!("none")) { "–" } }
}
