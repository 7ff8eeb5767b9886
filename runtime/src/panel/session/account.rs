//! Pages of an account: setting a password by an invitation link, changing it, the theme, and signing out.

use std::sync::Arc;

use maud::{Markup, html};
use salvo::Request;
use salvo::http::StatusCode;

use super::cookie;
use super::flash::Flash;
use super::sign_in::{Destination, admit_attempt, forget_attempts};
use super::{account_page, forgotten_password, own_sessions, passkeys, second_factor, sign_in_code};
use crate::language::{html_text, message, text};
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
    let incorrect = Some(("old", text!("is incorrect")));
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
        Err(Error::Invalid(errors)) => {
            password_page(request, Some(("password", message(&errors.messages("password"))))).await
        }
        Err(error) => Err(error),
    }
}

/// `problem` is a field of the form and its message.
async fn password_page(request: &PanelRequest<'_>, problem: Option<(&str, String)>) -> Result<Response> {
    let user: &SignedIn = &request.user;
    let others_end = own_sessions::others_end(request).await?;
    let problem_of =
        |field: &str| problem.as_ref().filter(|(known, _)| *known == field).map(|(_, message)| message.as_str());
    let title = text!("Change your password");
    let content = html! {
        (layout::header(&[], &html! { (title) }, &html! {}))
        form .record method="post" action="/panel/password" {
            (layout::csrf_input(request))
            div .field .invalid[problem_of("old").is_some()] { label for="old" { (text!("Current password")) }
                input #old type="password" name="old" required autocomplete="current-password";
                @if let Some(problem) = problem_of("old") { p .error { (text!("Current password")) " " (problem) } } }
            (new_password_field(&user.email, problem_of("password")))
            p .help { (others_end) }
            div .buttons { button .primary { (text!("Change password")) } a .button href="/" { (text!("Cancel")) } }
        }
    };
    let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(layout::page_with_status(request, status, &title, &content))
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
        h1 { (text!("Welcome, {name}", name = name)) }
        @if is_reset {
            p { (html_text!("Choose a new password for {email}.", email = html! { strong { (email) } })) }
            p { (text!("The new password signs out all your sessions.")) }
        } @else {
            p { (html_text!("Choose a password for {email}.", email = html! { strong { (email) } })) }
        }
        form method="post" action={ "/panel/invitation/" (secret) } {
            (new_password_field(&email, problem.as_deref()))
            button .primary.wide { (text!("Set password and sign in")) }
        }
    };
    let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(layout::signed_out_page(state, raw.theme, status, &text!("Choose a password"), &content))
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
        Err(Error::Invalid(errors)) => {
            invitation_page(state, raw, secret, Some(message(&errors.messages("password")))).await
        }
        Err(error) => Err(error),
    }
}

fn expired_link_page(state: &ServerState, raw: &RawRequest) -> Response {
    let title = text!("This link has expired");
    let content = html! {
        (brand::mark(state))
        h1 { (title) }
        p { (text!("A link works once, and for a limited time.")) " "
            @if forgotten_password::is_offered(state) {
                (html_text!("{send_a_new_one}, or ask an administrator.", send_a_new_one = html! { a href=(forgotten_password::PATH) { (text!("Send a new one")) } }))
            } @else { (text!("Ask an administrator for a new one.")) } }
        p { a .button href="/panel/sign-in" { (text!("Sign in")) } }
    };
    layout::signed_out_page(state, raw.theme, StatusCode::GONE, &title, &content)
}

fn new_password_field(email: &str, problem: Option<&str>) -> Markup {
    let min_chars = password::LENGTH.start();
    html! {
        input type="text" name="username" value=(email) autocomplete="username" hidden;
        div .field .invalid[problem.is_some()] { label for="password" { (text!("New password")) }
            input #password type="password" name="password" required minlength=(min_chars) autocomplete="new-password" aria-describedby="password-help" aria-invalid=[problem.map(|_| "true")];
            @if let Some(problem) = problem { p .error { (text!("New password")) " " (problem) } }
            p .help #password-help { (text!("At least {count} characters.", count = min_chars)) " " (text!("Several words are easy to remember and hard to guess.")) } }
    }
}
