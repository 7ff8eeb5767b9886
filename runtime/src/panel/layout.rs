//! Page layout: document head, navigation, page header, keyboard help, and error pages.

use crate::server::status_of;
use std::sync::Arc;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use salvo::Request;
use salvo::http::StatusCode;

use super::confirmation::undo;
use super::display_name;
use super::format::labels;
use super::request::PanelRequest;
use super::session::cookie;
use super::{asset, brand, navigation};
use crate::config::Brand;
use crate::language::{self, Tables, text};
use crate::server::Response;
use crate::server::ServerState;
use charter_core::error::Error;

/// A page of a signed-in user, with status 200.
pub(super) fn page(request: &PanelRequest<'_>, title: &str, content: &Markup) -> Response {
    page_with_status(request, StatusCode::OK, title, content)
}

pub(super) fn page_with_status(
    request: &PanelRequest<'_>,
    status: StatusCode,
    title: &str,
    content: &Markup,
) -> Response {
    let frame = Frame {
        theme: request.raw.theme,
        title,
        application_name: &request.state.name_for_people(),
        brand: &request.state.config.brand,
        languages: &request.state.languages,
        request: Some(request),
    };
    html_response(status, document(&frame, content))
}

/// A page without navigation, for clients without a session.
pub(super) fn signed_out_page(
    state: &ServerState,
    theme: Option<&str>,
    status: StatusCode,
    title: &str,
    content: &Markup,
) -> Response {
    html_response(
        status,
        document(
            &Frame {
                theme,
                title,
                application_name: &state.name_for_people(),
                brand: &state.config.brand,
                languages: &state.languages,
                request: None,
            },
            content,
        ),
    )
}

fn html_response(status: StatusCode, page: Markup) -> Response {
    Response::html(status, page.0.into_bytes())
}

/// The parts of a page around its content.
struct Frame<'f> {
    theme: Option<&'f str>,
    title: &'f str,
    application_name: &'f str,
    brand: &'f Brand,
    languages: &'f Tables,
    request: Option<&'f PanelRequest<'f>>,
}

fn document(frame: &Frame<'_>, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang=(language::current_code()) data-theme=[frame.theme] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                @if let Some(request) = frame.request {
                    meta name="panel-token" content=(request.csrf_token.masked);
                    meta name="panel-user" content=[request.user.principal.user_id];
                    // Rendering waits for the whole page. Otherwise the columns of a long table change their widths.
                    link rel="expect" href="#status" blocking="render";
                }
                title { (frame.title) " · " (frame.application_name) }
                link rel="icon" href=(brand::icon_url(frame.brand).unwrap_or_else(|| asset::url("icon.svg")));
                link rel="stylesheet" href=(asset::url("panel.css"));
                (brand::style_link(frame.brand))
                // Not a module: it runs before the modules that read it.
                @if let Some(url) = asset::texts_url(frame.languages) { script src=(url) {} }
                script type="module" src=(asset::url("panel.js")) {}
            }
            body {
                @if let Some(request) = frame.request {
                    a .skip href="#main" { (text!("Skip to content")) }
                    div .frame {
                        (navigation::render(request))
                        main #main tabindex="-1" { (undo::notice(request)) (content) }
                    }
                    (keyboard_help())
                    div #status .status role="status" aria-live="polite" { @if let Some(flash) = request.raw.flash { (flash.text()) } }
                } @else { main #main .alone tabindex="-1" { (content) } }
            }
        }
    }
}

/// The hidden CSRF field of a form.
pub(super) fn csrf_input(request: &PanelRequest<'_>) -> Markup {
    html! { input type="hidden" name="_token" value=(request.csrf_token.masked); }
}

/// The dialog of keyboard shortcuts, opened by `?`.
fn keyboard_help() -> Markup {
    let rows = [
        (text!("Ctrl + K"), text!("Search everything")),
        ("/".to_string(), text!("Search this list")),
        ("j / k".to_string(), text!("Next or previous row")),
        (text!("Enter"), text!("Open the row")),
        (text!("Space"), text!("View the row")),
        ("x".to_string(), text!("Select the row")),
        ("F2".to_string(), text!("Edit the cells of the row")),
        ("n".to_string(), text!("New record")),
        ("e".to_string(), text!("Edit this record")),
        ("f".to_string(), text!("Open the filter")),
        ("[ / ]".to_string(), text!("Previous or next page")),
        (text!("g then h"), text!("Go to the overview")),
        (text!("Ctrl + Enter"), text!("Save the form")),
        ("?".to_string(), text!("Show this help")),
    ];
    html! {
        dialog #keys aria-labelledby="keys-title" {
            h2 #keys-title { (text!("Keyboard shortcuts")) }
            dl .keys { @for (key, action) in &rows { div { dt { kbd { (key) } } dd { (action) } } } }
            form method="dialog" { button { (text!("Close")) } }
        }
    }
}

pub(super) fn logo() -> Markup {
    PreEscaped(
        r#"<svg class="mark" viewBox="0 0 20 20" aria-hidden="true"><path d="M4 2h9l3 3v13H4z" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="M7 8h6M7 11h6M7 14h3" stroke="currentColor" stroke-width="1.6"/></svg>"#
            .into(),
    )
}

/// The header of a page: breadcrumb, title and buttons.
pub(super) fn header(trail: &[(String, String)], title: &Markup, actions: &Markup) -> Markup {
    html! {
        header .head {
            @if !trail.is_empty() {
                nav .trail aria-label=(text!("Breadcrumb")) {
                    @for (index, (href, label)) in trail.iter().enumerate() {
                        @if index > 0 { span aria-hidden="true" { "/" } }
                        a href=(href) { (label) }
                    }
                }
            }
            div .headline { h1 { (title) } div .actions { (actions) } }
        }
    }
}

/// The error for a page or an operation that the user's roles do not allow.
pub(super) fn not_permitted() -> Error {
    Error::Forbidden(text!("Your roles do not allow this. Ask an administrator for access."))
}

/// The response to an error without a session: a page for browsers, else the API's JSON.
pub(super) fn error_page(state: &Arc<ServerState>, http_request: &Request, error: &Error, is_page: bool) -> Response {
    let request_id = crate::server::headers::request_id(http_request).unwrap_or_else(|| "-".into());
    if !is_page {
        log_cause(error, &request_id);
        return Response::error(error, &request_id);
    }
    let (title, content) = error_content(error, &request_id);
    let content = html! {
        (brand::mark(state))
        h1 { (title) }
        (content)
        p { a .button href="/" { (text!("Go to the overview")) } }
    };
    signed_out_page(state, cookie::read_theme(http_request.headers()), status_of(error), &title, &content)
}

/// The page of an error for a user who is signed in, with the navigation and a link to the list of the resource.
pub(super) fn signed_in_error_page(request: &PanelRequest<'_>, error: &Error) -> Response {
    let (title, content) = error_content(error, request.raw.request_id.as_deref().unwrap_or("-"));
    let entry = request.raw.segments.first().and_then(|first| {
        request.state.catalog.entries().iter().find(|entry| entry.meta.under.is_none() && entry.meta.path == *first)
    });
    let content = html! {
        (header(&[], &html! { (title) }, &html! {}))
        (content)
        div .buttons {
            @if let Some(entry) = entry.filter(|entry| display_name::is_listable(request, entry) && request.raw.segments.len() > 1) {
                a .button href={ "/" (entry.meta.path) } { (text!("All {records}", records = labels::records(entry.meta))) }
            }
            a .button href="/" { (text!("Go to the overview")) }
        }
    };
    page_with_status(request, status_of(error), &title, &content)
}

/// Title and message of an error.
fn error_content(error: &Error, request_id: &str) -> (String, Markup) {
    log_cause(error, request_id);
    let message = language::message(&error.message(request_id));
    let (title, message) = match error {
        Error::NotFound => (text!("Not found"), text!("This page does not exist, or you may not see it.")),
        Error::Forbidden(_)
        | Error::PermissionMissing(_)
        | Error::FieldsForbidden(_)
        | Error::AbilityMissing(_)
        | Error::RoleAbilityMissing(_)
        | Error::AdministratorsOnly => (text!("Not permitted"), message),
        Error::RateLimited(_) => (text!("Too many attempts"), message),
        Error::Internal(_) => (text!("Something went wrong"), message),
        _ => (text!("The request failed"), message),
    };
    (title, html! { p { (labels::render_code(&message)) } })
}

fn log_cause(error: &Error, request_id: &str) {
    if let Error::Internal(cause) = error {
        tracing::error!(%request_id, cause = cause.to_string(), "panel page failed");
    }
}
