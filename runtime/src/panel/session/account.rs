//! Pages of an account: setting a password by an invitation link, changing it, the theme, and signing out.

use std::sync::Arc;

use maud::{Markup, html};
use salvo::Request;
use salvo::http::StatusCode;

use super::cookie;
use super::flash::Flash;
use super::sign_in::{Destination, admit_attempt, forget_attempts};
use super::{account_page, forgotten_password, own_sessions, passkeys, second_factor, sign_in_code};
use crate::panel::request::{PanelRequest, RawRequest, form_value, read_form};
use crate::panel::{brand, layout, redirect, url};
use crate::server::Response;
use crate::server::ServerState;
use charter_core::error::{Error, Result};
use charter_core::principal::Principal;
use charter_core::query::Pair;
use charter_platform::auth::invitation::{Accepted, Invited};
use charter_platform::auth::{SignedIn, invitation, password, session};

/// Handles the paths below `/panel` of a signed-in user.
pub(crate) async fn handle(http_request: &mut Request, request: &PanelRequest<'_>, rest: &[&str]) -> Result<Response> {
    let post = http_request.method().as_str() == "POST";
    let form = if post { read_form(http_request).await? } else { Vec::new() };
    if post {
        request.require_csrf_token(&form)?;
    }
    let sent = |name: &str| form_value(&form, name);
    match (post, rest) {
        (true, ["sign-out"]) => {
            session::end(&request.context(), &request.user).await?;
            Ok(redirect("/panel/sign-in").with_text(cookie::SET_COOKIE, &cookie::clear_session(request.state)))
        }
        (true, ["theme"]) => {
            let back = sent("back").filter(|back| url::is_local_path(back)).unwrap_or("/");
            let theme = cookie::set_theme(sent("theme").unwrap_or_default());
            Ok(redirect(back).with_text(cookie::SET_COOKIE, &theme))
        }
        (false, ["password"]) => password_page(request, None).await,
        (true, ["password"]) => {
            admit_attempt(request.state, http_request, &request.user.email).await?;
            let (current, new) = (sent("old").unwrap_or_default(), sent("password").unwrap_or_default());
            let answer = change_password(request, current, new).await?;
            if answer.status().is_redirection() {
                forget_attempts(request.state, http_request, &request.user.email);
            }
            Ok(answer)
        }
        (_, ["account", "second-factor", rest @ ..]) => {
            second_factor::handle(http_request, request, post, rest, &form).await
        }
        (_, ["account", "passkeys", rest @ ..]) => passkeys::handle(http_request, request, post, rest, &form).await,
        (_, ["account", rest @ ..]) => account_page::handle(request, post, rest, &form).await,
        _ => Err(Error::NotFound),
    }
}

async fn change_password(request: &PanelRequest<'_>, current: &str, new: &str) -> Result<Response> {
    let (state, user) = (request.state, &request.user);
    let incorrect = Some(("old", "is incorrect".into()));
    let current = password::find(state, &user.email, current).await?;
    let Some(current) = current.filter(|current| Some(current.user_id) == user.principal.user_id) else {
        return password_page(request, incorrect).await;
    };
    match password::change(&request.context(), &current, new, request.raw.user_agent.as_deref()).await {
        Ok(Some(secret)) => {
            let home = redirect("/").with_text(cookie::SET_COOKIE, &cookie::set_session(state, &secret));
            Ok(Flash::Saved.add_to(home))
        }
        // Another request changed the password or deactivated the user meanwhile.
        Ok(None) => password_page(request, incorrect).await,
        Err(Error::Invalid(errors)) => password_page(request, Some(("password", errors.messages("password")))).await,
        Err(error) => Err(error),
    }
}

/// `problem` is a field of the form and its message.
async fn password_page(request: &PanelRequest<'_>, problem: Option<(&str, String)>) -> Result<Response> {
    let user: &SignedIn = &request.user;
    let others_end = own_sessions::others_end(request).await?;
    let message =
        |field: &str| problem.as_ref().filter(|(known, _)| *known == field).map(|(_, message)| message.as_str());
    let content = html! {
        (layout::header(&[], &html! { "Change your password" }, &html! {}))
        form .record method="post" action="/panel/password" {
            (layout::csrf_input(request))
            div .field .invalid[message("old").is_some()] { label for="old" { "Current password" }
                input #old type="password" name="old" required autocomplete="current-password";
                @if let Some(message) = message("old") { p .error { "Current password " (message) } } }
            (new_password_field(&user.email, message("password")))
            p .help { (others_end) }
            div .buttons { button .primary { "Change password" } a .button href="/" { "Cancel" } }
        }
    };
    let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(layout::page_with_status(request, status, "Change your password", &content))
}

/// The page of an invitation link, or of a link for a new password.
pub(crate) async fn invitation_page(
    state: &ServerState,
    raw: &RawRequest,
    secret: &str,
    problem: Option<String>,
) -> Result<Response> {
    let Some(Invited { name, email, is_reset, .. }) = invitation::find(state, secret).await? else {
        return Ok(expired_link_page(state, raw));
    };
    let content = html! {
        (brand::mark(state))
        h1 { "Welcome, " (name) }
        p { "Choose a " @if is_reset { "new " } "password for " strong { (email) } "." }
        @if is_reset { p { "The new password signs out all your sessions." } }
        form method="post" action={ "/panel/invitation/" (secret) } {
            (new_password_field(&email, problem.as_deref()))
            button .primary.wide { "Set password and sign in" }
        }
    };
    let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(layout::signed_out_page(state, raw.theme, status, "Choose a password", &content))
}

/// Sets the password of the link's user and signs the user in.
pub(crate) async fn accept_invitation(
    state: &Arc<ServerState>,
    raw: &RawRequest,
    secret: &str,
    form: &[Pair],
) -> Result<Response> {
    let stranger = Principal::default();
    let context = raw.context(state, &stranger);
    let password = form_value(form, "password").unwrap_or_default();
    match invitation::accept(&context, secret, password, raw.user_agent.as_deref()).await {
        Ok(Some(Accepted::Session(session))) => {
            Ok(redirect("/").with_text(cookie::SET_COOKIE, &cookie::set_session(state, &session)))
        }
        Ok(Some(Accepted::NeedsCode(proof))) => sign_in_code::ask(&context, state, raw, &proof, &Destination::of(&[])),
        Ok(None) => Ok(expired_link_page(state, raw)),
        Err(Error::Invalid(errors)) => invitation_page(state, raw, secret, Some(errors.messages("password"))).await,
        Err(error) => Err(error),
    }
}

fn expired_link_page(state: &ServerState, raw: &RawRequest) -> Response {
    let content = html! {
        (brand::mark(state))
        h1 { "This link has expired" }
        p { "A link works once, and for a limited time. " @if forgotten_password::is_offered(state) { a href=(forgotten_password::PATH) { "Send a new one" } ", or ask an administrator." } @else { "Ask an administrator for a new one." } }
        p { a .button href="/panel/sign-in" { "Sign in" } }
    };
    layout::signed_out_page(state, raw.theme, StatusCode::GONE, "This link has expired", &content)
}

fn new_password_field(email: &str, problem: Option<&str>) -> Markup {
    let min_chars = password::LENGTH.start();
    html! {
        input type="text" name="username" value=(email) autocomplete="username" hidden;
        div .field .invalid[problem.is_some()] { label for="password" { "New password" }
            input #password type="password" name="password" required minlength=(min_chars) autocomplete="new-password" aria-describedby="password-help" aria-invalid=[problem.map(|_| "true")];
            @if let Some(problem) = problem { p .error { "New password " (problem) } }
            p .help #password-help { "At least " (min_chars) " characters. Several words are easy to remember and hard to guess." } }
    }
}
