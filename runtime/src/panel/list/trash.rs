//! Soft-deleted records: URLs of their list, the page of a deleted record, and restoring it.

use maud::{Markup, html};
use serde_json::json;

use crate::language::{html_text, text};
use crate::panel::display_name::{self, DisplayNames};
use crate::panel::format::labels;
use crate::panel::format::value::{self, Placement};
use crate::panel::record::{self, history};
use crate::panel::request::{PanelRequest, if_match};
use crate::panel::session::flash::Flash;
use crate::panel::target::Target;
use crate::panel::{layout, redirect};
use crate::server::ApiResponse;
use crate::server::Response;
use charter_core::catalog::Entry;
use charter_core::error::Result;
use charter_core::meta::{FieldMeta, Shown};
use charter_core::ops::RESTORE;
use charter_core::query::Pair;

/// Query string of deleted records, the same as the API's.
const QUERY_STRING: &str = "?deleted=only";

/// [`QUERY_STRING`] as a further parameter.
pub(crate) const QUERY_PARAMETER: &str = "&deleted=only";

/// Returns true if the user may see and restore deleted records.
pub(crate) fn may_view(request: &PanelRequest<'_>, entry: &Entry) -> bool {
    entry.meta.keeps_deleted() && request.may_read(entry) && request.may_do(entry, RESTORE)
}

/// Returns true if query parameters request deleted records.
pub(crate) fn is_requested(pairs: &[Pair]) -> bool {
    pairs.iter().any(|pair| pair.name == "deleted")
}

/// The URL of the deleted records of a collection, or of one deleted record.
pub(crate) fn url(path: &str) -> String {
    format!("{path}{QUERY_STRING}")
}

/// `Deleted products`
pub(crate) fn heading(entry: &Entry) -> String {
    text!("Deleted {records}", records = labels::records(entry.meta))
}

pub(crate) fn deleted_at_field(entry: &Entry) -> Option<&'static FieldMeta> {
    entry.field("deleted_at")
}

/// The API's response with a deleted record, if there is one that the user may see.
pub(crate) async fn find(request: &PanelRequest<'_>, target: &Target<'_>) -> Result<Option<ApiResponse>> {
    if !may_view(request, target.entry) {
        return Ok(None);
    }
    let response = request.get(&url(&target.path())).await?;
    Ok(response.is_success().then_some(response))
}

/// The page of a deleted record.
pub(crate) async fn show(request: &PanelRequest<'_>, target: &Target<'_>) -> Result<Response> {
    let entry = target.entry;
    let response = request.get(&url(&target.path())).await?;
    // The record was restored after the link was made.
    if response.status.as_u16() == 404 && request.get(&target.path()).await?.is_success() {
        return Ok(redirect(&target.path()));
    }
    let record = response.json()?[entry.meta.name].clone();
    let fields: Vec<&'static FieldMeta> =
        entry.meta.fields.iter().filter(|f| f.shown != Shown::Never && request.may_read_field(entry, f)).collect();
    let display_names = DisplayNames::load_for_fields(request, entry, &fields, std::slice::from_ref(&record)).await?;
    let name = display_name::of(entry, &record);
    let version = response.etag().unwrap_or_default().to_string();
    let deleted_at = deleted_at_field(entry)
        .map(|field| value::render_field(request, entry, field, &record, &display_names, Placement::Page));
    let list = request.list_before(target).unwrap_or_else(|| url(&target.collection()));
    let breadcrumbs = [(target.collection(), labels::plural(entry.meta)), (list, heading(entry))];
    let actions = html! { @if may_view(request, entry) { (restore_menu(request, target, &name, &version)) } };
    let content = html! {
        (layout::header(&breadcrumbs, &html! { (name) }, &actions))
        div .notice role="status" {
            p { strong { @match deleted_at {
                Some(time) => { (html_text!("This {record} is deleted since {time}.", record = labels::singular(entry.meta), time = time)) },
                None => { (text!("This {record} is deleted.", record = labels::singular(entry.meta))) },
            } } }
            p { (text!("It is hidden from all lists and cannot be changed until it is restored.")) }
        }
        div .columns {
            div .main-column {
                (record::field_list(request, entry, &record, &display_names))
                (record::custom_fields(request, target, &record).await?)
            }
            div .side-column { (history::render_recent(request, target).await?) }
        }
    };
    Ok(layout::page(request, &name, &content))
}

/// The menu that asks for confirmation.
fn restore_menu(request: &PanelRequest<'_>, target: &Target<'_>, name: &str, version: &str) -> Markup {
    html! {
        details .menu {
            summary { (text!("Restore")) }
            div .menu-part {
                form method="post" action={ (target.path()) "/restore" } {
                    (layout::csrf_input(request))
                    input type="hidden" name="_version" value=(version);
                    p { (text!("It appears in all lists again, with everything that belongs to it.")) }
                    button .primary { (text!("Restore {name}", name = name)) }
                }
            }
        }
    }
}

/// Restores a deleted record.
pub(crate) async fn restore(request: &PanelRequest<'_>, target: &Target<'_>, form: &[Pair]) -> Result<Response> {
    let response =
        request.send("POST", &format!("{}/restore", target.path()), &if_match(form), Some(&json!({}))).await?;
    if response.is_success() {
        return Ok(Flash::Restored.redirect(&target.path()));
    }
    record::error_page(request, target, &text!("The record was not restored"), &response)
}
