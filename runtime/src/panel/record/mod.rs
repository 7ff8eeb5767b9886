//! Page of a record: its fields, actions, attachments, related records and history.

pub(super) mod action;
pub(super) mod attachments;
mod choice_inputs;
pub(super) mod choices;
mod conflict;
pub(super) mod field_error;
pub(super) mod form;
pub(super) mod form_decode;
mod form_fields;
pub(super) mod form_merge;
mod form_roundtrip;
pub(super) mod form_save;
pub(super) mod form_snapshot;
pub(super) mod history;
pub(super) mod input;
pub(super) mod protection;
mod related;

use maud::{Markup, html};
use serde_json::Value;

use crate::language::{self, text};
use crate::panel::confirmation::deletion;
use crate::panel::dashboard::chart;
use crate::panel::display_name::{self, DisplayNames};
use crate::panel::format::value::{self, Placement};
use crate::panel::format::{labels, rule_words};
use crate::panel::list::{self, trash};
use crate::panel::request::PanelRequest;
use crate::panel::target::Target;
use crate::panel::{layout, redirect, url};
use crate::server::ApiResponse;
use crate::server::Response;
use charter_core::catalog::Entry;
use charter_core::custom_field;
use charter_core::error::Result;
use charter_core::meta::{ActionMeta, ActionOn, ActionOutput, FieldMeta, Kind, Operation, Shown};
use charter_core::ops::protection::Protection;

/// Actions with a button in the page header. The menu contains the others, unless it would contain only one.
const MAX_HEADER_ACTIONS: usize = 3;

/// Fields that every record has; they are shown last.
const SYSTEM_FIELDS: [&str; 3] = ["id", "created_at", "updated_at"];

pub(super) async fn show(request: &PanelRequest<'_>, target: &Target<'_>) -> Result<Response> {
    let entry = target.entry;
    if trash::is_requested(&request.raw.query_pairs()?) {
        return trash::show(request, target).await;
    }
    let response = request.get(&action::with_allowed_actions(target)).await?;
    // The page of a deleted record has another URL.
    if response.status.as_u16() == 404 && trash::find(request, target).await?.is_some() {
        let deleted = trash::url(&target.path());
        return Ok(redirect(
            &request.list_before(target).map_or(deleted.clone(), |list| url::with_back(&deleted, &list)),
        ));
    }
    let record = response.json()?[entry.meta.name].clone();
    let fields: Vec<&'static FieldMeta> =
        entry.meta.fields.iter().filter(|f| f.shown != Shown::Never && request.may_read_field(entry, f)).collect();
    let display_names = DisplayNames::load_for_fields(request, entry, &fields, std::slice::from_ref(&record)).await?;
    let name = display_name::of(entry, &record);
    let version = response.etag().unwrap_or_default().to_string();
    let protection = protection::of(request, target).await?;
    let parents = display_name::parent_breadcrumbs(request, target).await?;
    let content = html! {
        (header(request, target, parents, &name, &record, (&version, protection)))
        (protection::notice(entry.meta, protection))
        // Scripts list the records that the user opened last.
        div .columns data-record=(name) data-kind=(labels::singular(entry.meta)) {
            div .main-column {
                (field_list(request, entry, &record, &display_names))
                (custom_fields(request, target, &record).await?)
                @for field in fields.iter().filter(|field| matches!(field.kind, Kind::Embedded { .. })) {
                    (embedded_records(request, field, &record).await?)
                }
                (action::render_inline(request, target).await?)
                (related::render(request, target, &record).await?)
            }
            div .side-column {
                (attachments::render(request, target, protection).await?)
                (chart::deliveries(request, target).await?)
                (history::render_recent(request, target).await?)
            }
        }
    };
    Ok(layout::page(request, &name, &content))
}

/// The fields of a record with their values, a card for each group.
pub(super) fn field_list(
    request: &PanelRequest<'_>,
    entry: &Entry,
    record: &Value,
    display_names: &DisplayNames,
) -> Markup {
    let is_shown = |field: &&'static FieldMeta| {
        field.shown != Shown::Never
            && request.may_read_field(entry, field)
            && !matches!(field.kind, Kind::CustomFields | Kind::Embedded { .. })
            && !is_redundant(entry, field)
    };
    let (system, own): (Vec<_>, Vec<_>) =
        entry.meta.fields.iter().filter(is_shown).partition(|field| SYSTEM_FIELDS.contains(&field.name));
    html! {
        @for (group, fields) in labels::group_fields(own.into_iter().chain(system)) {
            @if !fields.is_empty() {
                section .card aria-label=(if group.is_empty() { text!("Fields") } else { language::label(group) }) {
                    @if !group.is_empty() { h2 { (language::label(group)) } }
                    dl .facts {
                        @for field in fields {
                            div .wide[value::is_full_width(field.kind, &record[field.name])] {
                                dt title=[(!field.description.is_empty()).then(|| language::label(field.description))] { (labels::field(field)) }
                                dd { (value::render_field(request, entry, field, record, display_names, Placement::Page)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns true if a derived field repeats what its reference or code field shows: the name or the label.
fn is_redundant(entry: &Entry, field: &'static FieldMeta) -> bool {
    let Kind::Derived { via, field: of } = field.kind else { return false };
    let through = entry.field(via).filter(|via| via.shown != Shown::Never).map(|via| via.kind);
    matches!(through, Some(Kind::Code { .. })) || (matches!(through, Some(Kind::Ref { .. })) && of == "name")
}

fn header(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
    mut breadcrumbs: Vec<(String, String)>,
    name: &str,
    record: &Value,
    (version, protection): (&str, Option<Protection>),
) -> Markup {
    let entry = target.entry;
    let may_change = request.may_change_record(entry, record);
    let may = |operation| may_change && protection.is_none() && request.may(entry, operation);
    let is_offered = |action: &'static ActionMeta| {
        // An action that creates another record does not change this one.
        (may_change || matches!(action.output, ActionOutput::Created))
            && !action::is_protected(entry, action, protection)
            && action::may_run(request, target, action)
            && !action::is_shown_inline(action)
            && !action::is_done(action, record)
    };
    let list = request.list_before(target);
    breadcrumbs.push((list.clone().unwrap_or_else(|| target.collection()), labels::plural(entry.meta)));
    // Pages that lead back to this one lead on to the list that the user came from.
    let on_the_way = |path: String| match &list {
        Some(_) => url::with_back(&path, &request.raw.path_and_query()),
        None => path,
    };
    let mut offered: Vec<&'static ActionMeta> =
        entry.meta.actions.iter().filter(|action| action.on == ActionOn::Record && is_offered(action)).collect();
    // Those that the state of the record allows come first.
    offered.sort_by_key(|action| action::refusal(entry, action, record).is_some());
    let (first, others) =
        offered.split_at(if offered.len() <= MAX_HEADER_ACTIONS + 1 { offered.len() } else { MAX_HEADER_ACTIONS });
    let button = |action: &'static ActionMeta| match action::refusal(entry, action, record) {
        Some(why) => action::refused_button(action, &why),
        None => action::button(request, target, action, version),
    };
    let actions = html! {
        @for action in first { (button(action)) }
        @if may(Operation::Update) { a .button.primary href=(on_the_way(format!("{}/edit", target.path()))) data-edit { (text!("Edit")) } }
        details .menu {
            summary { (text!("More")) }
            div .menu-part {
                @for action in others { (button(action)) }
                button type="button" data-copy=(list::curl_command(request, &target.path())) { (text!("Copy as curl")) }
                @if may(Operation::Delete) {
                    @let to = format!("{}/delete", target.path());
                    a .button.danger href=(list.as_deref().map_or(to.clone(), |list| url::with_back(&to, list))) { (deletion::button_label(entry)) }
                }
            }
        }
    };
    layout::header(&breadcrumbs, &html! { (name) }, &actions)
}

/// The custom fields of a record with their values.
pub(super) async fn custom_fields(request: &PanelRequest<'_>, target: &Target<'_>, record: &Value) -> Result<Markup> {
    if !target.entry.meta.custom_fields {
        return Ok(html! {});
    }
    let definitions = custom_field::load(request.state.db.reader(), target.entry.meta.plural).await?;
    if definitions.is_empty() {
        return Ok(html! {});
    }
    Ok(html! {
        section .card {
            h2 { (text!("Custom fields")) }
            dl .facts {
                @for definition in &definitions {
                    @let value = &record["custom_fields"][definition.name.as_str()];
                    div { dt { (definition.label) } dd { (value::render_custom_field(request, Some(definition), value, Placement::Page)) } }
                }
            }
        }
    })
}

/// The records of an embedded field as a table.
async fn embedded_records(request: &PanelRequest<'_>, field: &'static FieldMeta, record: &Value) -> Result<Markup> {
    let Kind::Embedded { resource, by } = field.kind else { return Ok(html! {}) };
    let referenced = request.state.catalog.linked(resource);
    let rows = record[field.name].as_array().cloned().unwrap_or_default();
    let is_shown = |field: &&'static FieldMeta| {
        let has_value = rows.iter().any(|row| row.get(field.name).is_some());
        has_value && field.name != "id" && field.name != by && !is_redundant(referenced, field)
    };
    let shown: Vec<&'static FieldMeta> = referenced.meta.fields.iter().filter(is_shown).collect();
    let display_names = DisplayNames::load_for_fields(request, referenced, &shown, &rows).await?;
    Ok(html! {
        section .card {
            h2 { (labels::field(field)) " " span .count { (rows.len()) } }
            @if rows.is_empty() { p .faint { (text!("None.")) } } @else {
                div .scroll tabindex="0" role="region" aria-label=(labels::field(field)) {
                    table {
                        thead { tr { @for field in &shown { th scope="col" { (labels::field(field)) } } } }
                        tbody { @for row in &rows { tr { @for field in &shown { td { (value::render_field(request, referenced, field, row, &display_names, Placement::Table)) } } } } }
                    }
                }
            }
        }
    })
}

/// The page for an error response of the API, with a link back.
pub(super) fn error_page(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
    title: &str,
    response: &ApiResponse,
) -> Result<Response> {
    if [403, 404].contains(&response.status.as_u16()) || !response.status.is_client_error() {
        return Err(response.error());
    }
    let problem = response.problem();
    let summary = match response.status.as_u16() {
        412 => text!("Somebody else changed this record. Reload it and try again."),
        _ => rule_words::refusal(target.entry.meta, &problem.message),
    };
    let content = html! {
        (layout::header(&[(target.collection(), labels::plural(target.entry.meta))], &html! { (title) }, &html! {}))
        div .problem role="alert" {
            // The summary of a request that is not valid repeats its first error, with the name of the field.
            @if problem.errors.is_empty() { p { (summary) } }
            ul { @for (name, messages) in &problem.errors { li { (labels::error_field(target.entry.meta, name)) " " (labels::messages(messages)) } } }
        }
        p { a .button href=(target.path()) { (text!("Back")) } }
    };
    Ok(layout::page_with_status(request, response.status, title, &content))
}

/// Returns true if a response contains a secret, which no later response contains.
pub(super) fn has_secrets(entry: &Entry, record: &Value) -> bool {
    secrets(entry, record).next().is_some()
}

/// Name, label and value of each secret: a string that is not a shown field of the resource.
fn secrets<'r>(entry: &'r Entry, record: &'r Value) -> impl Iterator<Item = (&'r str, &'r str, &'r str)> {
    let declared = || entry.meta.reveals.iter().chain(entry.meta.actions.iter().flat_map(|action| action.reveals));
    let label = move |name: &str| declared().find(|(known, _)| *known == name).map(|(_, label)| *label);
    let others = record
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| entry.field(name).is_none_or(|field| field.shown == Shown::Never));
    others.filter_map(move |(name, secret)| Some((name.as_str(), label(name).unwrap_or_default(), secret.as_str()?)))
}

/// The page that shows secrets once, below a note.
pub(super) fn secrets_page(request: &PanelRequest<'_>, target: &Target<'_>, record: &Value, note: &Markup) -> Response {
    let entry = target.entry;
    let content = html! {
        (layout::header(&[(target.collection(), labels::plural(entry.meta))], &html! { (display_name::of(entry, record)) }, &html! {}))
        (note)
        @for (name, label, secret) in secrets(entry, record) {
            div .notice role="status" {
                p { strong { (text!("Copy it now. It is shown only once.")) } }
                label .field for={ "secret-" (name) } { @if label.is_empty() { (labels::from_name(name)) } @else { (language::label(label)) } }
                div .copy {
                    input #{ "secret-" (name) } readonly value=(secret) spellcheck="false";
                    button type="button" data-copy=(secret) { (text!("Copy")) }
                }
            }
        }
        p { a .button.primary href=(target.path()) { (text!("Continue")) } }
    };
    layout::page(request, &text!("Shown once"), &content)
}
