//! What became of a record, from the audit trail: who changed what, when, and from what to what.

use maud::{Markup, html};
use serde_json::Value;

use super::cell::{self, Room};
use super::place::Place;
use super::title::Titles;
use super::visit::Visit;
use super::{input, page, title, words, zone};
use crate::error::{Error, Result};
use crate::meta::{FieldMeta, Kind, Operation};
use crate::server::Answer;

const RECENT: usize = 6;
const MOST: usize = 100;
const SHORT: usize = 160;

/// The latest changes, beside the record.
pub async fn recent(visit: &Visit<'_>, place: &Place<'_>) -> Result<Markup> {
    let Some((entries, titles)) = read(visit, place, RECENT).await? else { return Ok(html! {}) };
    let changes = [Operation::Create, Operation::Update, Operation::Delete];
    if entries.is_empty() && !changes.iter().any(|operation| place.entry.meta.operations.contains(operation)) {
        return Ok(html! {});
    }
    Ok(html! {
        section .card {
            h2 { "History" }
            @if entries.is_empty() { p .faint { "Nothing was changed since the trail began." } }
            ol .history { @for entry in &entries { (shown(visit, place, entry, &titles)) } }
            @if entries.len() == RECENT { p { a href={ (place.path()) "/history" } { "All changes" } } }
        }
    })
}

/// All changes, a hundred at most; the list of the trail has the others.
pub async fn answer(visit: &Visit<'_>, place: &Place<'_>) -> Result<Answer> {
    let Some((entries, titles)) = read(visit, place, MOST).await? else {
        return Err(Error::PermissionMissing(String::new()));
    };
    let trail = [
        (place.collection(), words::plural(place.entry.meta)),
        (place.path(), title::by_id(visit, place.entry, place.id.unwrap_or_default()).await?),
    ];
    let content = html! {
        (page::head(&trail, &html! { "History" }, &html! {}))
        section .card { ol .history { @for entry in &entries { (shown(visit, place, entry, &titles)) } } }
        @if entries.len() == MOST { p { a href={ (list(visit, place)) "&per_page=" (MOST) "&page=2" } { "What was before" } } }
    };
    Ok(page::answer(visit, "History", &content))
}

/// The list of a record's entries, the latest first.
fn list(visit: &Visit<'_>, place: &Place<'_>) -> String {
    let (trail, id) = (visit.state.catalog.get("audit_entry"), place.id.unwrap_or_default());
    let of = place.entry.meta.plural;
    format!("/{}?q[entity_type_eq]={of}&q[record_id_eq]={id}&sort=-id", trail.meta.path)
}

/// The entries and the names of their users; nothing for whom the trail is not.
async fn read(visit: &Visit<'_>, place: &Place<'_>, most: usize) -> Result<Option<(Vec<Value>, Titles)>> {
    let trail = visit.state.catalog.get("audit_entry");
    if place.id.is_none() || !visit.may_read(trail) {
        return Ok(None);
    }
    let reply = visit.get(&format!("{}&per_page={most}&count=none", list(visit, place))).await?;
    if !reply.is_success() {
        return Ok(None);
    }
    let entries = reply.json()?[trail.meta.plural].as_array().cloned().unwrap_or_default();
    const USER: &FieldMeta = &FieldMeta::new("user_id", Kind::Ref { resource: "user" });
    let mut titles = Titles::load(visit, &[USER], &entries).await?;
    let of_fields: Vec<&'static FieldMeta> = place.entry.meta.fields.iter().collect();
    let sides: Vec<Value> = entries.iter().flat_map(|entry| [side(entry, "old"), side(entry, "new")]).collect();
    titles.extend(Titles::load(visit, &of_fields, &sides).await?);
    Ok(Some((entries, titles)))
}

/// What the changed fields were, or became.
fn side(entry: &Value, side: &str) -> Value {
    let changes = entry["changes"].as_object().into_iter().flatten();
    changes.map(|(name, change)| (name.clone(), change[side].clone())).collect::<serde_json::Map<_, _>>().into()
}

/// What was done, after who did it.
fn done(action: &str) -> String {
    match action {
        "create" => "created".into(),
        "update" => "changed".into(),
        "delete" => "deleted".into(),
        "restore" => "restored".into(),
        named => words::label(named),
    }
}

fn shown(visit: &Visit<'_>, place: &Place<'_>, entry: &Value, titles: &Titles) -> Markup {
    let at = input::text(&entry["created_at"]);
    let who = match entry["user_id"].as_i64() {
        Some(id) => cell::reference(visit, visit.state.catalog.get("user"), id, titles),
        None => html! { "The operator" },
    };
    let changes = entry["changes"].as_object();
    let (old, new) = (side(entry, "old"), side(entry, "new"));
    html! {
        li {
            p { (who) " " span .tag { (done(&input::text(&entry["action"]))) } " "
                time .faint datetime=(at) { (zone::shown(visit.locale.zone, &at).unwrap_or_else(|| at.clone())) } }
            @if let Some(changes) = changes.filter(|changes| !changes.is_empty()) {
                details {
                    summary { (changes.len()) @if changes.len() == 1 { " field" } @else { " fields" } }
                    dl .changes { @for name in changes.keys() {
                        dt { (place.entry.field(name).map_or_else(|| words::label(name), words::field)) }
                        dd { del { (value(visit, place, name, &old, titles)) } " " span aria-hidden="true" { "→" } " " ins { (value(visit, place, name, &new, titles)) } }
                    } }
                }
            }
        }
    }
}

fn value(visit: &Visit<'_>, place: &Place<'_>, name: &str, of: &Value, titles: &Titles) -> Markup {
    match place.entry.field(name) {
        Some(field) if !of[name].is_object() => cell::of(visit, place.entry, field, of, titles, Room::Table),
        _ => html! { (input::text(&of[name]).chars().take(SHORT).collect::<String>()) },
    }
}
