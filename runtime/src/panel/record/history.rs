//! What became of a record, from the audit trail: who changed what, when, and from what to what.

use std::collections::BTreeSet;

use maud::{Markup, html};
use serde_json::Value;

use super::cell::{self, Room};
use super::place::Place;
use super::title::Titles;
use super::visit::Visit;
use super::{input, page, title, words, zone};
use crate::custom_field::{self, Definition};
use crate::error::{Error, Result};
use crate::meta::{FieldMeta, Kind, Operation};
use crate::server::Answer;

const RECENT: usize = 6;
const MOST: usize = 100;
const SHORT: usize = 160;

/// The latest changes, beside the record.
pub async fn recent(visit: &Visit<'_>, place: &Place<'_>) -> Result<Markup> {
    let Some(trail) = Trail::read(visit, place, RECENT).await? else { return Ok(html! {}) };
    let changes = [Operation::Create, Operation::Update, Operation::Delete];
    if trail.entries.is_empty() && !changes.iter().any(|operation| place.entry.meta.operations.contains(operation)) {
        return Ok(html! {});
    }
    Ok(html! {
        section .card {
            h2 { "History" }
            @if trail.entries.is_empty() { p .faint { "Nothing was changed since the trail began." } }
            (trail.shown())
            @if trail.entries.len() == RECENT { p { a href={ (place.path()) "/history" } { "All changes" } } }
        }
    })
}

/// All changes, a hundred at most; the list of the trail has the others.
pub async fn answer(visit: &Visit<'_>, place: &Place<'_>) -> Result<Answer> {
    let Some(changes) = Trail::read(visit, place, MOST).await? else {
        return Err(page::not_permitted());
    };
    // Of what is gone there is a history; of what never was, or is hidden, there is none.
    if changes.entries.is_empty() && !visit.get(&place.path()).await?.is_success() {
        return Err(Error::NotFound);
    }
    let trail = [
        (place.collection(), words::plural(place.entry.meta)),
        (place.path(), title::by_id(visit, place.entry, place.id.unwrap_or_default()).await?),
    ];
    let content = html! {
        (page::head(&trail, &html! { "History" }, &html! {}))
        section .card { (changes.shown()) }
        @if changes.entries.len() == MOST { p { a href={ (list(visit, place)) "&per_page=" (MOST) "&page=2" } { "What was before" } } }
    };
    Ok(page::answer(visit, "History", &content))
}

/// The list of a record's entries, the latest first.
fn list(visit: &Visit<'_>, place: &Place<'_>) -> String {
    let (trail, id) = (visit.state.catalog.linked("audit_entry"), place.id.unwrap_or_default());
    let of = place.entry.meta.plural;
    format!("/{}?q[entity_type_eq]={of}&q[record_id_eq]={id}&sort=-id", trail.meta.path)
}

/// The entries of a record, with what it takes to read them.
struct Trail<'t> {
    visit: &'t Visit<'t>,
    place: &'t Place<'t>,
    entries: Vec<Value>,
    /// The names of their users, and of the records that they refer to.
    titles: Titles,
    definitions: Vec<Definition>,
}

impl<'t> Trail<'t> {
    /// The latest of them; nothing for whom the trail is not.
    async fn read(visit: &'t Visit<'t>, place: &'t Place<'t>, most: usize) -> Result<Option<Trail<'t>>> {
        let trail = visit.state.catalog.linked("audit_entry");
        if place.id.is_none() || !visit.may_read(trail) {
            return Ok(None);
        }
        let reply = visit.get(&format!("{}&per_page={most}&count=none", list(visit, place))).await?;
        if !reply.is_success() {
            return Ok(None);
        }
        let entries = reply.json()?[trail.meta.plural].as_array().cloned().unwrap_or_default();
        const USER: &FieldMeta = &FieldMeta::new("user_id", Kind::Ref { resource: "user" });
        let mut titles = Titles::load(visit, trail, &[USER], &entries).await?;
        let of_fields: Vec<&'static FieldMeta> = place.entry.meta.fields.iter().collect();
        let sides: Vec<Value> = entries.iter().flat_map(|entry| [side(entry, "old"), side(entry, "new")]).collect();
        titles.extend(Titles::load(visit, place.entry, &of_fields, &sides).await?);
        let definitions = match place.entry.meta.custom_fields {
            true => custom_field::load(visit.state.db.reader(), place.entry.meta.plural).await?,
            false => Vec::new(),
        };
        Ok(Some(Trail { visit, place, entries, titles, definitions }))
    }

    fn shown(&self) -> Markup {
        html! { ol .history { @for entry in &self.entries { (self.entry(entry)) } } }
    }

    fn entry(&self, entry: &Value) -> Markup {
        let at = input::text(&entry["created_at"]);
        let who = match entry["user_id"].as_i64() {
            Some(id) => cell::reference(self.visit, self.visit.state.catalog.linked("user"), id, &self.titles),
            None => html! { "The operator" },
        };
        let changes = self.changes(entry);
        html! {
            li {
                p { (who) " " span .tag { (done(&input::text(&entry["action"]))) } " "
                    time .faint datetime=(at) { (zone::shown(self.visit.locale.zone, &at).unwrap_or_else(|| at.clone())) } }
                @if !changes.is_empty() {
                    details {
                        summary { (changes.len()) @if changes.len() == 1 { " field" } @else { " fields" } }
                        dl .changes { @for (name, old, new) in &changes {
                            dt { (name) }
                            dd { del { (old) } " " span aria-hidden="true" { "→" } " " ins { (new) } }
                        } }
                    }
                }
            }
        }
    }

    /// What an entry changed: how it is called, what it was and what it became. Each custom field is one of its own.
    fn changes(&self, entry: &Value) -> Vec<(String, Markup, Markup)> {
        let (old, new) = (side(entry, "old"), side(entry, "new"));
        let mut changes = Vec::new();
        for name in entry["changes"].as_object().into_iter().flat_map(serde_json::Map::keys) {
            match self.place.entry.field(name) {
                Some(field) if field.kind == Kind::CustomFields => changes.extend(self.custom(&old[name], &new[name])),
                Some(field) => {
                    let shown = |of| cell::of(self.visit, self.place.entry, field, of, &self.titles, Room::Table);
                    changes.push((words::field(field), shown(&old), shown(&new)));
                }
                None => changes.push((words::label(name), short(&old[name]), short(&new[name]))),
            }
        }
        changes
    }

    fn custom<'c>(&'c self, old: &'c Value, new: &'c Value) -> impl Iterator<Item = (String, Markup, Markup)> + 'c {
        let names = |of: &'c Value| of.as_object().into_iter().flat_map(serde_json::Map::keys);
        let names: BTreeSet<&String> = names(old).chain(names(new)).collect();
        names.into_iter().filter(|name| old[name.as_str()] != new[name.as_str()]).map(|name| {
            let known = self.definitions.iter().find(|definition| definition.name == *name);
            let shown = |of: &Value| cell::custom(self.visit, known, &of[name.as_str()], Room::Table);
            let called = known.map_or_else(|| words::label(name), |definition| definition.label.clone());
            (called, shown(old), shown(new))
        })
    }
}

/// A value of a field that there is no more.
fn short(value: &Value) -> Markup {
    html! { (input::text(value).chars().take(SHORT).collect::<String>()) }
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
