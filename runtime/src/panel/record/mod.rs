//! One record: what it holds, what can be done with it, what hangs on it, and what became of it.

use maud::{Markup, html};
use serde_json::Value;

use super::api::Reply;
use super::cell::{self, Room};
use super::place::Place;
use super::said::Said;
use super::title::{self, Titles};
use super::visit::{Visit, if_match, sent_back};
use super::{action, deleted, files, history, list, page, plot, related, see, words};
use crate::catalog::Entry;
use crate::custom_field;
use crate::error::Result;
use crate::meta::{ActionMeta, ActionOn, ActionOutput, FieldMeta, Kind, Operation, Shown};
use crate::query::Pair;
use crate::server::Answer;

/// So many actions stand beside the title of a record; the menu has the others, unless that is one.
const BESIDE_TITLE: usize = 3;

/// What the service keeps of every record.
const KEPT: [&str; 3] = ["id", "created_at", "updated_at"];

/// The page of a record.
pub async fn answer(visit: &Visit<'_>, place: &Place<'_>) -> Result<Answer> {
    let entry = place.entry;
    if deleted::is_asked(&visit.asked.pairs()?) {
        return deleted::answer(visit, place).await;
    }
    let reply = visit.get(&place.path()).await?;
    // What leads to a record leads to what became of it.
    if reply.status.as_u16() == 404 && deleted::find(visit, place).await?.is_some() {
        return Ok(see(&deleted::address(&place.path())));
    }
    let record = reply.json()?[entry.meta.name].clone();
    let fields: Vec<&'static FieldMeta> = entry.meta.fields.iter().filter(|f| f.shown != Shown::Never).collect();
    let titles = Titles::load(visit, entry, &fields, std::slice::from_ref(&record)).await?;
    let called = title::of(entry, &record);
    let version = reply.etag().unwrap_or_default().to_string();
    let content = html! {
        (head(visit, place, title::parents(visit, place).await?, &called, &record, &version))
        div .columns {
            div .main-column {
                (facts(visit, entry, &record, &titles))
                (custom(visit, place, &record).await?)
                @for field in fields.iter().filter(|field| matches!(field.kind, Kind::Embedded { .. })) {
                    (embedded(visit, field, &record).await?)
                }
                (action::answers(visit, place).await?)
                (related::answer(visit, place, &record).await?)
            }
            div .side-column {
                (files::answer(visit, place).await?)
                (plot::deliveries(visit, place).await?)
                (history::recent(visit, place).await?)
            }
        }
    };
    Ok(page::answer(visit, &called, &content))
}

/// The fields of a record with their values, those of a group in a part of their own.
pub fn facts(visit: &Visit<'_>, entry: &Entry, record: &Value, titles: &Titles) -> Markup {
    let is_fact = |field: &&'static FieldMeta| {
        field.shown != Shown::Never
            && !matches!(field.kind, Kind::CustomFields | Kind::Embedded { .. })
            && !is_said_already(entry, field)
    };
    // What people wrote comes first, and behind it what every record has.
    let (kept, written): (Vec<_>, Vec<_>) =
        entry.meta.fields.iter().filter(is_fact).partition(|field| KEPT.contains(&field.name));
    html! {
        @for (group, fields) in words::grouped(written.into_iter().chain(kept)) {
            @if !fields.is_empty() {
                section .card aria-label=(if group.is_empty() { "Fields" } else { group }) {
                    @if !group.is_empty() { h2 { (group) } }
                    dl .facts {
                        @for field in fields {
                            div .wide[cell::is_long(field.kind, &record[field.name])] {
                                dt title=[(!field.description.is_empty()).then_some(field.description)] { (words::field(field)) }
                                dd { (cell::of(visit, entry, field, record, titles, Room::Page)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Whether a derived field says what the field that it comes through says: a code's label, a reference's title.
fn is_said_already(entry: &Entry, field: &'static FieldMeta) -> bool {
    let Kind::Derived { via, field: of } = field.kind else { return false };
    let through = entry.field(via).filter(|via| via.shown != Shown::Never).map(|via| via.kind);
    matches!(through, Some(Kind::Code { .. })) || (matches!(through, Some(Kind::Ref { .. })) && of == "name")
}

fn head(
    visit: &Visit<'_>,
    place: &Place<'_>,
    mut trail: Vec<(String, String)>,
    called: &str,
    record: &Value,
    version: &str,
) -> Markup {
    let entry = place.entry;
    let changes = visit.may_change(entry, record);
    let may = |operation| changes && visit.may(entry, operation);
    let is_offered = |named: &ActionMeta| {
        // What makes another record leaves this one as it is.
        (changes || matches!(named.output, ActionOutput::Created))
            && action::may(visit, place, named)
            && !action::is_answered_in_place(named)
            && !action::is_done(named, record)
    };
    trail.push((place.collection(), words::plural(entry.meta)));
    let offered: Vec<&'static ActionMeta> =
        entry.meta.actions.iter().filter(|action| action.on == ActionOn::Record && is_offered(action)).collect();
    let (first, others) =
        offered.split_at(if offered.len() <= BESIDE_TITLE + 1 { offered.len() } else { BESIDE_TITLE });
    let actions = html! {
        @for named in first { (action::button(visit, place, named, version)) }
        @if may(Operation::Update) { a .button.primary href={ (place.path()) "/edit" } data-edit { "Edit" } }
        details .menu {
            summary { "More" }
            div .menu-part {
                @for named in others { (action::button(visit, place, named, version)) }
                button type="button" data-copy=(list::curl(visit, &place.path())) { "Copy as curl" }
                @if may(Operation::Delete) {
                    form method="post" action={ (place.path()) "/delete" } {
                        (page::token(visit))
                        input type="hidden" name="_version" value=(version);
                        p { @if entry.meta.soft_delete { "It vanishes from every list; what refers to it keeps its id. It can be restored." } @else { "It cannot be brought back." } }
                        button .danger { "Delete " (called) }
                    }
                }
            }
        }
    };
    page::head(&trail, &html! { (called) }, &actions)
}

/// The values of its custom fields.
pub async fn custom(visit: &Visit<'_>, place: &Place<'_>, record: &Value) -> Result<Markup> {
    if !place.entry.meta.custom_fields {
        return Ok(html! {});
    }
    let definitions = custom_field::load(visit.state.db.reader(), place.entry.meta.plural).await?;
    if definitions.is_empty() {
        return Ok(html! {});
    }
    Ok(html! {
        section .card {
            h2 { "Custom fields" }
            dl .facts {
                @for definition in &definitions {
                    @let value = &record["custom_fields"][definition.name.as_str()];
                    div { dt { (definition.label) } dd { (cell::custom(visit, Some(definition), value, Room::Page)) } }
                }
            }
        }
    })
}

/// The records that belong in it.
async fn embedded(visit: &Visit<'_>, field: &'static FieldMeta, record: &Value) -> Result<Markup> {
    let Kind::Embedded { resource, by } = field.kind else { return Ok(html! {}) };
    let target = visit.state.catalog.linked(resource);
    let rows = record[field.name].as_array().cloned().unwrap_or_default();
    let tells = |field: &&'static FieldMeta| {
        let given = rows.iter().any(|row| row.get(field.name).is_some());
        given && field.name != "id" && field.name != by && !is_said_already(target, field)
    };
    let shown: Vec<&'static FieldMeta> = target.meta.fields.iter().filter(tells).collect();
    let titles = Titles::load(visit, target, &shown, &rows).await?;
    Ok(html! {
        section .card {
            h2 { (words::field(field)) " " span .count { (rows.len()) } }
            @if rows.is_empty() { p .faint { "None." } } @else {
                div .scroll tabindex="0" role="region" aria-label=(words::field(field)) {
                    table {
                        thead { tr { @for field in &shown { th scope="col" { (words::field(field)) } } } }
                        tbody { @for row in &rows { tr { @for field in &shown { td { (cell::of(visit, target, field, row, &titles, Room::Table)) } } } } }
                    }
                }
            }
        }
    })
}

/// Deletes it.
pub async fn delete(visit: &Visit<'_>, place: &Place<'_>, form: &[Pair]) -> Result<Answer> {
    let reply = visit.send("DELETE", &place.path(), &if_match(form), None).await?;
    if reply.is_success() {
        Ok(Said::Deleted.at(sent_back(form).unwrap_or(&place.collection())))
    } else {
        refused(visit, place, "It was not deleted", &reply)
    }
}

/// What the API said no to, with the way back.
pub fn refused(visit: &Visit<'_>, place: &Place<'_>, title: &str, reply: &Reply) -> Result<Answer> {
    if [403, 404].contains(&reply.status.as_u16()) || !reply.status.is_client_error() {
        return Err(reply.error());
    }
    let problem = reply.problem();
    let said = match reply.status.as_u16() {
        412 => "Somebody else has changed it meanwhile: look at it again first.".to_string(),
        _ => problem.message.clone(),
    };
    let content = html! {
        (page::head(&[(place.collection(), words::plural(place.entry.meta))], &html! { (title) }, &html! {}))
        div .problem role="alert" {
            p { (said) }
            ul { @for (name, said) in &problem.errors { li { (words::label(name)) " " (said.join("; ")) } } }
        }
        p { a .button href=(place.path()) { "Back" } }
    };
    Ok(page::with_status(visit, reply.status, title, &content))
}

/// Whether an answer shows a secret: text that is no field which records show.
pub fn reveals(entry: &Entry, record: &Value) -> bool {
    secrets(entry, record).next().is_some()
}

fn secrets<'r>(entry: &'r Entry, record: &'r Value) -> impl Iterator<Item = (&'r str, &'r str, &'r str)> {
    let declared = || entry.meta.reveals.iter().chain(entry.meta.actions.iter().flat_map(|action| action.reveals));
    let what = move |name: &str| declared().find(|(known, _)| *known == name).map(|(_, what)| *what);
    let others = record
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| entry.field(name).is_none_or(|field| field.shown == Shown::Never));
    others.filter_map(move |(name, secret)| Some((name.as_str(), what(name).unwrap_or_default(), secret.as_str()?)))
}

/// A secret that is shown this once.
pub fn revealed(visit: &Visit<'_>, place: &Place<'_>, record: &Value) -> Answer {
    let entry = place.entry;
    let content = html! {
        (page::head(&[(place.collection(), words::plural(entry.meta))], &html! { (title::of(entry, record)) }, &html! {}))
        @for (name, what, secret) in secrets(entry, record) {
            div .notice role="status" {
                p { strong { "Copy it now: it is shown this once." } }
                label .field for={ "secret-" (name) } { @if what.is_empty() { (words::label(name)) } @else { (what) } }
                div .copy {
                    input #{ "secret-" (name) } readonly value=(secret) spellcheck="false";
                    button type="button" data-copy=(secret) { "Copy" }
                }
            }
        }
        p { a .button.primary href=(place.path()) { "Go on" } }
    };
    page::answer(visit, "Shown once", &content)
}
