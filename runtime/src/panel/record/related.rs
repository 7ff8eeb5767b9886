//! The records that refer to one: the first few of each kind, in place, with the way to all of them.

use maud::{Markup, html};
use serde_json::Value;

use super::cell::{self, Room};
use super::columns::{self, Column};
use super::place::Place;
use super::title::{self, Titles};
use super::visit::Visit;
use super::{action, page, words};
use crate::catalog::Entry;
use crate::error::Result;
use crate::meta::{ActionMeta, ActionMethod, ActionOn, ActionOutput, FieldMeta, Kind, Operation};
use crate::query::asked;

/// So many of each kind are shown.
const FEW: usize = 8;
/// So many of the things that can be done with a record stand in its row; a menu has the others, unless that is one.
const IN_ROW: usize = 2;

/// The lists below a record.
pub async fn answer(visit: &Visit<'_>, place: &Place<'_>, record: &Value) -> Result<Markup> {
    let Some(id) = record["id"].as_i64().filter(|_| place.parent.is_none()) else { return Ok(html! {}) };
    let entry = place.entry;
    let catalog = &visit.state.catalog;
    let mut shown = Vec::new();
    let nested = |child: &&Entry| child.meta.under.is_some_and(|under| under.resource == entry.meta.name);
    for child in catalog.entries().iter().filter(nested) {
        let children = Place { entry: child, parent: Some((entry, id)), id: None };
        let all = children.collection();
        let by = child.meta.under.map_or("", |under| under.field);
        shown.push(few(visit, &children, by, &all, &format!("{all}/new")).await?);
    }
    for child in catalog.entries().iter().filter(|child| title::is_reached(visit, child)) {
        let children = Place { entry: child, parent: None, id: None };
        let path = children.collection();
        for field in child.meta.fields.iter().filter(|field| is_found_by(child, field)) {
            let leads = match field.kind {
                Kind::Ref { resource } if resource == entry.meta.name => Vec::new(),
                Kind::PolymorphicRef { type_field } if leads_to(child, type_field, entry) => {
                    vec![(type_field, entry.meta.type_name.to_string())]
                }
                _ => continue,
            };
            let leads: Vec<(&str, String)> = leads.into_iter().chain([(field.name, id.to_string())]).collect();
            let written = |pair: &dyn Fn(&str, &str) -> String| {
                leads.iter().map(|(name, value)| pair(name, value)).collect::<Vec<_>>().join("&")
            };
            let all = format!("{path}?{}", written(&|name, value| format!("q[{name}_eq]={value}")));
            let new = format!("{path}/new?{}", written(&|name, value| format!("{name}={value}")));
            shown.push(few(visit, &children, field.name, &all, &new).await?);
        }
    }
    Ok(html! { @for list in shown { (list) } })
}

/// Whether the records that have a value in this field are found by it, however many there are: it can be asked about, and
/// an index begins with it, or with its type.
fn is_found_by(entry: &Entry, field: &FieldMeta) -> bool {
    let begins = |set: &&[&str]| match field.kind {
        Kind::PolymorphicRef { type_field } => set.starts_with(&[type_field, field.name]),
        _ => set.starts_with(&[field.name]),
    };
    let is_indexed = entry.meta.indexes.iter().any(begins) || entry.meta.ordered.contains(&field.name);
    asked(field) && is_indexed
}

/// Whether a reference to one of several types may lead to records of this one.
fn leads_to(entry: &Entry, type_field: &str, target: &Entry) -> bool {
    let kind = entry.field(type_field).map(|field| field.kind);
    matches!(kind, Some(Kind::PolymorphicType { type_names }) if type_names.contains(&target.meta.type_name))
}

/// A few records of the list at this address.
async fn few(visit: &Visit<'_>, place: &Place<'_>, by: &str, all: &str, new: &str) -> Result<Markup> {
    let entry = place.entry;
    if !visit.may(entry, Operation::List) {
        return Ok(html! {});
    }
    let columns = columns::all(visit, entry).await?;
    let names = columns::usual(entry);
    let shown: Vec<&Column> = names
        .iter()
        .filter(|name| *name != by && !is_of(entry, name, by))
        .filter_map(|name| columns.iter().find(|column| column.name == *name))
        .take(5)
        .collect();
    // What one press does: a delivery is sent again.
    let plain = |action: &&ActionMeta| {
        let (on, by) = (action.on == ActionOn::Record, action.method == ActionMethod::Post);
        on && by
            && action.input.is_empty()
            && !matches!(action.output, ActionOutput::Created)
            && action::may(visit, place, action)
    };
    let acts: Vec<&ActionMeta> = entry.meta.actions.iter().filter(plain).collect();
    // The name of what leads to the record, unless an action has it.
    let opens = if acts.iter().any(|action| action.name == "open") { "View" } else { "Open" };
    let mut asked = columns::fields(entry, &shown);
    for until in acts.iter().filter_map(|action| action.until) {
        if !asked.split(',').any(|name| name == until.field) {
            asked.push(',');
            asked.push_str(until.field);
        }
    }
    let join = if all.contains('?') { '&' } else { '?' };
    let sort = if columns::is_log(entry) { "&sort=-id" } else { "" };
    let query = format!("{all}{join}per_page={FEW}{sort}&fields={asked}");
    let reply = visit.get(&query).await?;
    if !reply.is_success() {
        return Ok(html! {});
    }
    let body = reply.json()?;
    let empty = Vec::new();
    let records = body[entry.meta.plural].as_array().unwrap_or(&empty);
    let fields: Vec<&'static FieldMeta> = shown.iter().filter_map(|column| column.field).collect();
    let titles = Titles::load(visit, entry, &fields, records).await?;
    let total = body["meta"]["total"].as_i64().unwrap_or_default();
    // What is done here leads back here.
    let here = format!("_back={}", words::escape(&visit.asked.address()));
    let new = format!("{new}{}{here}", if new.contains('?') { '&' } else { '?' });
    Ok(html! {
        section .card {
            div .card-head {
                h2 { a href=(all) { (words::plural(entry.meta)) } " " span .count { (visit.locale.amounts.count(total)) } }
                @if visit.may(entry, Operation::Create) { a .button.small href=(new) { "Add" } }
            }
            @if records.is_empty() { p .faint { "None yet." } } @else {
                div .scroll tabindex="0" role="region" aria-label=(words::plural(entry.meta)) {
                    table {
                        thead { tr {
                            @for column in &shown { th scope="col" .number[cell::is_number(column.kind)] { (column.label) } }
                            th scope="col" { span .hidden { "What can be done" } }
                        } }
                        tbody { @for record in records { tr {
                            @let one = place.of(record["id"].as_i64().unwrap_or_default());
                            @for column in &shown {
                                td .number[cell::is_number(column.kind)] {
                                    @if let Some(field) = column.field { (cell::of(visit, entry, field, record, &titles, Room::Table)) }
                                }
                            }
                            td .row-actions {
                                a href=(one.path()) aria-label={ (opens) " " (title::of(entry, record)) } { (opens) }
                                @let deeds = deeds(visit, &one, entry, record, &acts);
                                @let (first, others) = deeds.split_at(if deeds.len() <= IN_ROW + 1 { deeds.len() } else { IN_ROW });
                                @for deed in first { " " (deed) }
                                @if !others.is_empty() {
                                    " " details .menu {
                                        summary aria-label={ "More of " (title::of(entry, record)) } { "More" }
                                        ul { @for deed in others { li { (deed) } } }
                                    }
                                }
                            }
                        } } }
                    }
                }
                @if total > records.len() as i64 { p { a href=(all) { "All " (visit.locale.amounts.records(entry.meta, total)) } } }
            }
        }
    })
}

/// What can be done with one of them, here and now.
fn deeds(visit: &Visit<'_>, one: &Place<'_>, entry: &Entry, record: &Value, actions: &[&ActionMeta]) -> Vec<Markup> {
    let back = visit.asked.address();
    let title = title::of(entry, record);
    let act = |action: &&ActionMeta| {
        html! {
            form .one method="post" action={ (one.path()) "/" (action.name) } {
                (page::token(visit))
                input type="hidden" name="_back" value=(back);
                button .link .plain title=[(!action.description.is_empty()).then_some(action.description)]
                    aria-label={ (words::action(action)) " " (title) } { (words::action(action)) }
            }
        }
    };
    let mut deeds: Vec<Markup> = actions.iter().filter(|action| !action::is_done(action, record)).map(act).collect();
    if visit.may(entry, Operation::Update) {
        let to = format!("{}/edit?_back={}", one.path(), words::escape(&back));
        deeds.push(html! { a href=(to) aria-label={ "Edit " (title) } { "Edit" } });
    }
    if one.parent.is_some() && visit.may(entry, Operation::Delete) {
        deeds.push(html! {
            form .one method="post" action={ (one.path()) "/delete" } data-confirm={ "Delete " (title) "?" } {
                (page::token(visit))
                input type="hidden" name="_back" value=(back);
                button .link aria-label={ "Delete " (title) } { "Delete" }
            }
        });
    }
    deeds
}

/// Whether a derived field comes through the reference that all of the list have in common.
fn is_of(entry: &Entry, name: &str, by: &str) -> bool {
    entry.field(name).is_some_and(|field| matches!(field.kind, Kind::Derived { via, .. } if via == by))
}
