//! Deleting a record or an attachment: the page that asks, and the deletion.

use maud::{Markup, html};
use serde_json::Value;

use super::{Question, undo};
use crate::language::text;
use crate::panel::display_name;
use crate::panel::format::labels;
use crate::panel::format::size::format_size;
use crate::panel::record;
use crate::panel::request::{PanelRequest, if_match, return_path};
use crate::panel::session::flash::Flash;
use crate::panel::target::Target;
use crate::panel::{import, layout, url};
use crate::server::Response;
use charter_core::catalog::Entry;
use charter_core::error::{Error, Result};
use charter_core::meta::Operation;
use charter_core::ops::consequences::{self, consequences};
use charter_core::ops::protection::Protection;
use charter_core::query::Pair;

/// The name of the button that leads to the question. A deleted token is a revoked one.
pub(in crate::panel) fn button_label(entry: &Entry) -> String {
    if is_revocation(entry) { text!("Revoke…") } else { text!("Delete…") }
}

fn is_revocation(entry: &Entry) -> bool {
    entry.meta.name == "token"
}

/// The question before a record is deleted.
pub(in crate::panel) async fn ask(request: &PanelRequest<'_>, target: &Target<'_>) -> Result<Response> {
    let entry = target.entry;
    let response = request.get(&target.path()).await?;
    let record = response.json()?[entry.meta.name].take();
    if !request.may(entry, Operation::Delete) || !request.may_change_record(entry, &record) {
        return Err(layout::not_permitted());
    }
    if let Some(protection) = record::protection::of(request, target).await? {
        return Err(record::protection::error(entry.meta, protection));
    }
    let id = target.id.ok_or(Error::NotFound)?;
    let consequences = consequences(&request.context(), entry, consequences::DELETE, &[id]).await?;
    let is_forbidden = super::forbids(&consequences);
    let (name, noun) = (display_name::of(entry, &record), labels::singular(entry.meta));
    let content = html! {
        p { strong { (if is_forbidden { text!("The {record} {name} cannot be deleted.", record = noun, name = name) } else { happens(entry, &noun, &name) }) }
            @if !is_forbidden { " " (afterwards(entry)) } }
        (super::render(request, (entry, Some(id)), &consequences))
        @if is_forbidden { p { (text!("Change or delete them first.")) } }
    };
    let back = return_path(&request.raw.query_pairs()?).map(String::from);
    let inputs = html! {
        input type="hidden" name="_version" value=(response.etag().unwrap_or_default());
        (back_input(back.as_deref()))
    };
    let mut trail = display_name::parent_breadcrumbs(request, target).await?;
    trail.extend([(target.collection(), labels::plural(entry.meta)), (target.path(), name.clone())]);
    let (title, button) = match (is_revocation(entry), entry.meta.soft_delete) {
        (true, _) => (text!("Revoke {name}?", name = name), text!("Revoke {record}", record = noun)),
        (_, true) => (text!("Delete {name}?", name = name), text!("Delete {record}", record = noun)),
        (_, false) => (text!("Delete {name}?", name = name), text!("Delete {record} for good", record = noun)),
    };
    let question = Question {
        trail,
        title: &title,
        content: &content,
        inputs: &inputs,
        button: (!is_forbidden).then_some(button.as_str()),
        cancel: &cancel_path(target, back.as_deref()),
    };
    Ok(question.page(request))
}

fn happens(entry: &Entry, noun: &str, name: &str) -> String {
    match is_revocation(entry) {
        true => text!(
            "The {record} {name} is revoked: the server rejects its clients from then on.",
            record = noun,
            name = name
        ),
        false => text!("The {record} {name} is deleted.", record = noun, name = name),
    }
}

/// The way back after a deletion.
pub(in crate::panel) fn afterwards(entry: &Entry) -> String {
    if import::is_import(entry) {
        return text!("The file and the report are deleted. The records stay, and the import can no longer be undone.");
    }
    match entry.meta.soft_delete {
        true => text!("It is removed from all lists, and can be restored."),
        false => text!("This cannot be undone."),
    }
}

/// Without a deletion, the browser returns to the page of the record, with the list that this page came from, or to the
/// page of another record.
fn cancel_path(target: &Target<'_>, back: Option<&str>) -> String {
    match back {
        Some(back) if target.is_own_list(back) => url::with_back(&target.path(), back),
        Some(back) => back.to_string(),
        None => target.path(),
    }
}

fn back_input(back: Option<&str>) -> Markup {
    html! { @if let Some(back) = back { input type="hidden" name="_back" value=(back); } }
}

/// Deletes a record.
pub(in crate::panel) async fn run(request: &PanelRequest<'_>, target: &Target<'_>, form: &[Pair]) -> Result<Response> {
    let (entry, since) = (target.entry, undo::now(request));
    let name = match (entry.meta.soft_delete, target.id) {
        (true, Some(id)) => Some(display_name::by_id(request, entry, id).await?),
        _ => None,
    };
    let response = request.send("DELETE", &target.path(), &if_match(form), None).await?;
    if !response.is_success() {
        return record::error_page(request, target, &text!("The record was not deleted"), &response);
    }
    let collection = target.collection();
    let back = return_path(form).unwrap_or(&collection);
    let Some(name) = name else { return Ok(Flash::Deleted.redirect(back)) };
    let text = text!("The {record} {name} was deleted.", record = labels::singular(entry.meta), name = name);
    let requests: Vec<String> = request.raw.request_id.iter().cloned().collect();
    Ok(match undo::seal(request, target, (&requests, since), 1, &text)? {
        Some(offer) => Flash::Deleted.redirect_with_undo(back, &offer),
        None => Flash::Deleted.redirect(back),
    })
}

/// The question before an attachment of a record is deleted.
pub(in crate::panel) async fn ask_for_file(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
    path: &str,
    id: &str,
) -> Result<Response> {
    let (attached, id) = attachment(request, path, id)?;
    let file = file_of(request, target, attached, id).await?;
    if !request.may(target.entry, Operation::Update) {
        return Err(layout::not_permitted());
    }
    if let Some(protection @ Protection::Rule) = record::protection::of(request, target).await? {
        return Err(record::protection::error(target.entry.meta, protection));
    }
    let (name, size) = (display_name::of(attached, &file), file["file_size"].as_u64().unwrap_or_default());
    let content = html! {
        p {
            strong { (text!("1 file is deleted: {name}, {size}.", name = name, size = format_size(size))) }
            " " (text!("Links to it stop working. This cannot be undone."))
        }
    };
    let record = display_name::by_id(request, target.entry, target.id.unwrap_or_default()).await?;
    let question = Question {
        trail: vec![(target.collection(), labels::plural(target.entry.meta)), (target.path(), record)],
        title: &text!("Delete {name}?", name = name),
        content: &content,
        inputs: &html! {},
        button: Some(&text!("Delete file for good")),
        cancel: &target.path(),
    };
    Ok(question.page(request))
}

/// Deletes an attachment of a record.
///
/// # Errors
/// The API's error.
pub(in crate::panel) async fn delete_file(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
    path: &str,
    id: &str,
) -> Result<Response> {
    let (attached, id) = attachment(request, path, id)?;
    let response = request.send("DELETE", &format!("/{}/{id}", attached.meta.path), &[], None).await?;
    if response.is_success() { Ok(Flash::Deleted.redirect(&target.path())) } else { Err(response.error()) }
}

fn attachment<'r>(request: &'r PanelRequest<'_>, path: &str, id: &str) -> Result<(&'r Entry, i64)> {
    let attached = request.state.catalog.attached().filter(|entry| entry.meta.path == path).ok_or(Error::NotFound)?;
    Ok((attached, id.parse().map_err(|_| Error::NotFound)?))
}

/// An attachment of this record, and of no other.
async fn file_of(request: &PanelRequest<'_>, target: &Target<'_>, attached: &Entry, id: i64) -> Result<Value> {
    let list = format!("{}/{}?q[id_eq]={id}&per_page=1", target.path(), attached.meta.path);
    let files = request.get_json(&list).await?;
    files[attached.meta.plural].get(0).cloned().ok_or(Error::NotFound)
}
