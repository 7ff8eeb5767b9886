//! The page of one's own account: name, password, sessions and tokens.

use maud::{Markup, html};
use salvo::http::StatusCode;

use super::flash::Flash;
use super::{own_sessions, own_tokens, passkeys, preferences, second_factor};
use crate::language::{message, text};
use crate::panel::confirmation::Question;
use crate::panel::format::datetime::format_timestamp;
use crate::panel::format::size::format_size;
use crate::panel::layout;
use crate::panel::request::{PanelRequest, form_value};
use crate::server::Response;
use charter_core::error::{Error, Result};
use charter_core::query::Pair;
use charter_platform::attachment::{StorageUse, storage_use};
use charter_platform::auth::user;

/// Path of the page.
pub(super) const PATH: &str = "/panel/account";

fn title() -> String {
    text!("Your account")
}

/// The links above the pages that belong to this one.
pub(super) fn trail() -> Vec<(String, String)> {
    vec![(PATH.into(), title())]
}

/// Handles the paths below [`PATH`]. The CSRF token of a form is already checked.
pub(super) async fn handle(request: &PanelRequest<'_>, post: bool, rest: &[&str], form: &[Pair]) -> Result<Response> {
    match (post, rest) {
        (false, []) => page(request, None, None).await,
        (true, []) => rename(request, form_value(form, "name").unwrap_or_default()).await,
        (true, ["preferences"]) => preferences::save(request, form).await,
        (_, ["sessions", rest @ ..]) => own_sessions::handle(request, post, rest).await,
        (_, ["tokens", rest @ ..]) => own_tokens::handle(request, post, rest).await,
        _ => Err(Error::NotFound),
    }
}

async fn rename(request: &PanelRequest<'_>, name: &str) -> Result<Response> {
    let Some(user_id) = request.user.principal.user_id else { return Err(Error::NotFound) };
    match user::rename(&request.context(), user_id, name).await {
        Ok(()) => Ok(Flash::Saved.redirect(PATH)),
        Err(Error::Invalid(errors)) => page(request, Some((name, message(&errors.messages("name")))), None).await,
        Err(error) => Err(error),
    }
}

/// The page with a time zone that is refused, and the message.
pub(super) async fn page_with_refused_zone(
    request: &PanelRequest<'_>,
    zone: &str,
    problem: String,
) -> Result<Response> {
    page(request, None, Some((zone, problem))).await
}

/// `refused` is a name with its message, `refused_zone` a time zone with its message.
async fn page(
    request: &PanelRequest<'_>,
    refused: Option<(&str, String)>,
    refused_zone: Option<(&str, String)>,
) -> Result<Response> {
    let (sessions, tokens) = (own_sessions::render(request).await?, own_tokens::render(request).await?);
    let (factor, passkeys) = (second_factor::render(request).await?, passkeys::render(request).await?);
    let storage = storage_card(request).await?;
    let content = html! {
        (layout::header(&[], &html! { (title()) }, &html! {}))
        div .stack {
            (profile(request, refused.as_ref()))
            (preferences::render(request, refused_zone.as_ref()))
            section .card {
                h2 { (text!("Password")) }
                p { (text!("A new password signs out your other sessions.")) }
                div .buttons { a .button href="/panel/password" { (text!("Change password")) } }
            }
            (factor)
            (passkeys)
            (sessions)
            (tokens)
            (storage)
        }
    };
    let status =
        if refused.is_some() || refused_zone.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(layout::page_with_status(request, status, &title(), &content))
}

/// The card of the files that the user has uploaded, if there is a limit.
async fn storage_card(request: &PanelRequest<'_>) -> Result<Markup> {
    let Some(user_id) = request.user.principal.user_id else { return Ok(html! {}) };
    let Some(StorageUse { used, limit }) = storage_use(request.state, user_id).await? else { return Ok(html! {}) };
    Ok(html! {
        section .card {
            h2 { (text!("Files")) }
            p { (text!("The files that you uploaded use {used} of at most {limit}.", used = format_size(used), limit = format_size(limit))) }
        }
    })
}

fn profile(request: &PanelRequest<'_>, refused: Option<&(&str, String)>) -> Markup {
    let user = &request.user;
    let name = refused.map_or(user.name.as_str(), |(name, _)| name);
    html! {
        form .record method="post" action=(PATH) {
            (layout::csrf_input(request))
            div .field .invalid[refused.is_some()] { label for="name" { (text!("Name")) }
                input #name type="text" name="name" value=(name) required maxlength="255" autocomplete="name" aria-invalid=[refused.map(|_| "true")];
                @if let Some((_, problem)) = refused { p .error { (text!("Name")) " " (problem) } } }
            div .field { label for="address" { (text!("Email")) }
                input #address type="email" value=(user.email) readonly aria-describedby="address-help";
                p .help #address-help { (text!("Only an administrator can change it.")) } }
            div .buttons { button .primary { (text!("Save")) } }
        }
    }
}

/// A page that asks before access is ended.
pub(super) fn question(request: &PanelRequest<'_>, title: &str, button: &str, consequences: &Markup) -> Response {
    let (content, inputs) = (consequences, &html! {});
    Question { trail: trail(), title, content, inputs, button: Some(button), cancel: PATH }.page(request)
}

/// A time in the user's time zone.
pub(super) fn time(request: &PanelRequest<'_>, rfc3339: &str) -> Markup {
    let text = format_timestamp(request.locale.zone, rfc3339).unwrap_or_else(|| rfc3339.to_string());
    html! { time datetime=(rfc3339) { (text) } }
}
