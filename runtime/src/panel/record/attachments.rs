//! The files of a record: thumbnails, links, and the place where new ones are dropped.

use maud::{Markup, html};
use serde_json::Value;

use super::place::Place;
use super::said::Said;
use super::visit::Visit;
use super::{input, page};
use crate::error::{Error, Result};
use crate::meta::Operation;
use crate::server::Answer;

/// So many stand beside a record at once, the latest first.
const SHOWN: i64 = 50;

/// The parameter of a record's address that leads to those before: which page of files it is, from 1.
const LEAF: &str = "files";

/// The files beside a record that has some.
pub async fn answer(visit: &Visit<'_>, place: &Place<'_>) -> Result<Markup> {
    let (true, Some(id)) = (place.entry.meta.attachments, place.id) else { return Ok(html! {}) };
    let Some(attached) = visit.state.catalog.attached() else { return Ok(html! {}) };
    let asked = visit.asked.pairs()?.into_iter().find(|pair| pair.name == LEAF);
    let leaf = asked.and_then(|pair| pair.value.parse::<i64>().ok()).filter(|leaf| *leaf > 0).unwrap_or(1);
    let query = format!("sort=-id&per_page={SHOWN}&page={leaf}");
    let reply = visit.get(&format!("{}/{}?{query}", place.path(), attached.meta.path)).await?;
    if !reply.is_success() {
        return Ok(html! {});
    }
    let body = reply.json()?;
    let files = body[attached.meta.plural].as_array().cloned().unwrap_or_default();
    let total = body["meta"]["total"].as_i64().unwrap_or_default();
    let may = visit.may(place.entry, Operation::Update);
    let to = |leaf: i64| format!("{}?{LEAF}={leaf}", place.path());
    Ok(html! {
        section .card {
            h2 { "Files " span .count { (visit.locale.amounts.count(total)) } }
            @if may {
                form .drop data-upload={ "/panel/api/" (attached.meta.path) } {
                    input type="hidden" name="attachable_type" value=(place.entry.meta.type_name);
                    input type="hidden" name="attachable_id" value=(id);
                    label { span { "Drop files here, or choose them" } input type="file" name="file" multiple; }
                    ul .progress data-progress aria-live="polite" {}
                }
            }
            ul .files { @for file in &files { (shown(visit, attached.meta.path, file, may, place)) } }
            @if total > SHOWN {
                nav .pager aria-label="Files" {
                    @if leaf > 1 { a .button.small href=(to(leaf - 1)) { "Later ones" } }
                    @if leaf.saturating_mul(SHOWN) < total { a .button.small href=(to(leaf + 1)) { "Earlier ones" } }
                }
            }
        }
    })
}

fn shown(visit: &Visit<'_>, path: &str, file: &Value, may: bool, place: &Place<'_>) -> Markup {
    let name = input::text(&file["original_name"]);
    let id = input::text(&file["id"]);
    html! {
        li {
            @match file["thumb_url"].as_str() {
                Some(thumb) => { img src=(local(visit, thumb)) alt="" width="48" height="48" loading="lazy"; }
                None => { span .file aria-hidden="true" { (name.rsplit('.').next().unwrap_or_default().chars().take(4).collect::<String>()) } }
            }
            div {
                a href=(local(visit, &input::text(&file["url"]))) rel="noopener" { (name) }
                p .faint { (size(file["file_size"].as_i64().unwrap_or_default())) @if let Some(said) = file["description"].as_str() { " · " (said) } }
            }
            @if may {
                form .one method="post" action={ (place.path()) "/" (path) "/" (id) "/delete" } data-confirm={ "Delete " (name) "?" } {
                    (page::token(visit))
                    button .quiet aria-label={ "Delete " (name) } { "×" }
                }
            }
        }
    }
}

/// A link to this server is one to the host that the browser knows it by.
fn local(visit: &Visit<'_>, link: &str) -> String {
    link.strip_prefix(&visit.state.base_url()).unwrap_or(link).to_string()
}

fn size(bytes: i64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} KB", bytes / 1_000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

/// Deletes a file of a record.
///
/// # Errors
/// What the API refused.
pub async fn delete(visit: &Visit<'_>, place: &Place<'_>, path: &str, id: &str) -> Result<Answer> {
    let attached = visit.state.catalog.entries().iter().find(|entry| entry.is_attached() && entry.meta.path == path);
    let id: i64 = id.parse().map_err(|_| Error::NotFound)?;
    let path = attached.ok_or(Error::NotFound)?.meta.path;
    let reply = visit.send("DELETE", &format!("/{path}/{id}"), &[], None).await?;
    if reply.is_success() { Ok(Said::Deleted.at(&place.path())) } else { Err(reply.error()) }
}
