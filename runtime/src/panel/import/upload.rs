//! Upload of a file to import: a plain form, which the API receives as it arrives.

use maud::{Markup, html};
use salvo::Request;
use salvo::http::StatusCode;

use super::ENTITY_TYPE;
use crate::language::{message, text};
use crate::panel::format::labels;
use crate::panel::request::PanelRequest;
use crate::panel::target::Target;
use crate::panel::{layout, redirect, url};
use crate::server::ApiResponse;
use crate::server::Response;
use charter_core::catalog::Entry;
use charter_core::error::{Error, Result};
use charter_core::header;
use charter_core::meta::Operation;
use charter_core::ops::API;

/// The query parameter with the CSRF token. The body is a file, which is not read before it is authorized.
pub(super) const TOKEN: &str = "_token";

/// The page with the form.
///
/// # Errors
/// 403 if the user may not import.
pub(crate) async fn show_form(request: &PanelRequest<'_>, target: &Target<'_>) -> Result<Response> {
    if !request.may(target.entry, Operation::Create) {
        return Err(layout::not_permitted());
    }
    Ok(form(request, target, None))
}

fn form(request: &PanelRequest<'_>, target: &Target<'_>, refused: Option<&ApiResponse>) -> Response {
    let chosen = request.raw.query_pairs().unwrap_or_default().into_iter().find(|pair| pair.name == ENTITY_TYPE);
    let chosen = chosen.map(|pair| pair.value).unwrap_or_default();
    let entries = request.state.catalog.entries().iter();
    let offered: Vec<&Entry> = entries.filter(|entry| super::upload_url(request, entry).is_some()).collect();
    // The token is not in the body: the body of a form with a file is passed on to the API.
    let query = format!("?{TOKEN}={}&{ENTITY_TYPE}={}", request.csrf_token.masked, url::encode(&chosen));
    let title = text!("Import a file");
    let content = html! {
        (layout::header(&[(target.collection(), labels::plural(target.entry.meta))], &html! { (title) }, &html! {}))
        @if let Some(response) = refused { (problem(target, response)) }
        form .card method="post" enctype="multipart/form-data" action={ (target.collection()) (query) } {
            div .field {
                label for="entity_type" { (text!("Records")) }
                select #entity_type name=(ENTITY_TYPE) required {
                    @for entry in &offered {
                        option value=(entry.meta.plural) selected[entry.meta.plural == chosen] { (labels::plural(entry.meta)) }
                    }
                }
            }
            div .field {
                label for="file" { (text!("File")) }
                input #file type="file" name="file" required accept=".csv,.tsv,.txt,.xlsx,.ndjson,.jsonl";
                p .faint { (text!("CSV, XLSX or NDJSON. The first row has the names of the columns. Nothing is written before you have seen what it would do.")) }
            }
            p { button .primary { (text!("Upload")) } }
        }
    };
    let status = refused.map_or(StatusCode::OK, |response| response.status);
    layout::page_with_status(request, status, &title, &content)
}

fn problem(target: &Target<'_>, response: &ApiResponse) -> Markup {
    let problem = response.problem();
    html! {
        div .problem role="alert" {
            p { (message(&problem.message)) }
            ul { @for (name, messages) in &problem.errors { li { (labels::error_field(target.entry.meta, name)) " " (labels::messages(messages)) } } }
        }
    }
}

/// True for the form of this page.
pub(crate) fn is_upload(http_request: &Request) -> bool {
    http_request.content_type().is_some_and(|kind| kind.essence_str() == "multipart/form-data")
}

/// Receives the form.
///
/// # Errors
/// [`Error::Conflict`] without a valid CSRF token.
pub(crate) async fn receive(
    http_request: &mut Request,
    request: &PanelRequest<'_>,
    target: &Target<'_>,
) -> Result<Response> {
    if !is_upload(http_request) {
        return Err(Error::UnsupportedMediaType("Send the form as `multipart/form-data`."));
    }
    let token = request.raw.query_pairs()?.into_iter().filter(|pair| pair.name == TOKEN).collect::<Vec<_>>();
    request.require_csrf_token(&token)?;
    let response = request.upload_to_api(http_request, &target.collection()).await?;
    match response.header(header::LOCATION).and_then(|path| path.strip_prefix(API)) {
        Some(path) if response.status == StatusCode::CREATED => Ok(redirect(path)),
        _ if matches!(response.status.as_u16(), 413 | 422) => Ok(form(request, target, Some(&response))),
        _ => Err(response.error()),
    }
}
