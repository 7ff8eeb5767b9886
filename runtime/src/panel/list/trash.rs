//! What was deleted and is kept: the way to it, a deleted record's page, and its restore, which is all that is offered there.

use maud::{Markup, html};
use serde_json::json;

use super::api::Reply;
use super::cell::{self, Room};
use super::place::Place;
use super::said::Said;
use super::title::{self, Titles};
use super::visit::{Visit, if_match};
use super::{history, page, record, see, words};
use crate::catalog::Entry;
use crate::error::Result;
use crate::meta::{FieldMeta, Operation, Shown};
use crate::query::Pair;
use crate::server::Answer;

/// What the address of deleted records has behind it, as the API's.
const ASKED: &str = "?deleted=only";

/// The same as a part of a longer query.
pub const WITH: &str = "&deleted=only";

/// Whether deleted records are there for the user.
pub fn may(visit: &Visit<'_>, entry: &Entry) -> bool {
    entry.meta.keeps_deleted() && visit.may(entry, Operation::Delete)
}

/// Whether an address means them.
pub fn is_asked(pairs: &[Pair]) -> bool {
    pairs.iter().any(|pair| pair.name == "deleted")
}

/// The address of deleted records, or of one.
pub fn address(path: &str) -> String {
    format!("{path}{ASKED}")
}

/// `Deleted products`.
pub fn title(entry: &Entry) -> String {
    format!("Deleted {}", words::plural(entry.meta).to_lowercase())
}

/// The time of deletion, as a column of their list.
pub fn mark(entry: &Entry) -> Option<&'static FieldMeta> {
    entry.field("deleted_at")
}

/// The record of a path that was deleted, if it is one that the user may see.
pub async fn find(visit: &Visit<'_>, place: &Place<'_>) -> Result<Option<Reply>> {
    if !may(visit, place.entry) {
        return Ok(None);
    }
    let reply = visit.get(&address(&place.path())).await?;
    Ok(reply.is_success().then_some(reply))
}

/// The page of a deleted record.
pub async fn answer(visit: &Visit<'_>, place: &Place<'_>) -> Result<Answer> {
    let entry = place.entry;
    let reply = visit.get(&address(&place.path())).await?;
    // A link to one that was restored meanwhile leads to where it is now.
    if reply.status.as_u16() == 404 && visit.get(&place.path()).await?.is_success() {
        return Ok(see(&place.path()));
    }
    let record = reply.json()?[entry.meta.name].clone();
    let fields: Vec<&'static FieldMeta> =
        entry.meta.fields.iter().filter(|field| field.shown != Shown::Never).collect();
    let titles = Titles::load(visit, entry, &fields, std::slice::from_ref(&record)).await?;
    let called = title::of(entry, &record);
    let version = reply.etag().unwrap_or_default().to_string();
    let at = mark(entry).map(|mark| cell::of(visit, entry, mark, &record, &titles, Room::Page));
    let trail = [(place.collection(), words::plural(entry.meta)), (address(&place.collection()), title(entry))];
    let actions = html! { @if may(visit, entry) { (restoring(visit, place, &called, &version)) } };
    let content = html! {
        (page::head(&trail, &html! { (called) }, &actions))
        div .notice role="status" {
            p { strong { "This " (words::singular(entry.meta)) " is deleted" } @if let Some(at) = at { ", since " (at) } "." }
            p { "It stands in no list and cannot be changed until it is restored." }
        }
        div .columns {
            div .main-column {
                (record::facts(visit, entry, &record, &titles))
                (record::custom(visit, place, &record).await?)
            }
            div .side-column { (history::recent(visit, place).await?) }
        }
    };
    Ok(page::answer(visit, &called, &content))
}

/// Restoring is asked about, as deleting is.
fn restoring(visit: &Visit<'_>, place: &Place<'_>, called: &str, version: &str) -> Markup {
    html! {
        details .menu {
            summary { "Restore" }
            div .menu-part {
                form method="post" action={ (place.path()) "/restore" } {
                    (page::token(visit))
                    input type="hidden" name="_version" value=(version);
                    p { "It comes back into every list, as it was, with all that hung on it." }
                    button .primary { "Restore " (called) }
                }
            }
        }
    }
}

/// Restores it.
pub async fn restore(visit: &Visit<'_>, place: &Place<'_>, form: &[Pair]) -> Result<Answer> {
    let reply = visit.send("POST", &format!("{}/restore", place.path()), &if_match(form), Some(&json!({}))).await?;
    if reply.is_success() {
        return Ok(Said::Restored.at(&place.path()));
    }
    record::refused(visit, place, "It was not restored", &reply)
}
