//! Passkeys in the panel: created and removed on the account page, and used on the sign-in page.

use std::sync::Arc;

use maud::{Markup, html};
use salvo::Request;
use salvo::http::StatusCode;
use serde_json::{Value, json};

use super::account_page::{PATH as ACCOUNT, question, time, trail};
use super::browser_name;
use super::flash::Flash;
use super::second_factor::{Problem, field, verify_password};
use super::sign_in::{Destination, MAX_SIGN_IN_FORM_BYTES, SignInForm, enter, forget_attempts, refuse, sign_in_page};
use crate::language::{html_text, message, text};
use crate::panel::request::{PanelRequest, RawRequest, form_value, read_form_limited};
use crate::panel::{Panel, layout};
use crate::server::{Response, ServerState, client_ip, status_of};
use charter_core::error::{Error, Result};
use charter_core::principal::Principal;
use charter_core::query::Pair;
use charter_platform::auth::passkey::{self, MAX_NAME_CHARS};
use charter_platform::auth::record_failed_sign_in;

const PATH: &str = "/panel/account/passkeys";

/// Handles the paths below [`PATH`]. The CSRF token of a form is already checked.
pub(super) async fn handle(
    http_request: &Request,
    request: &PanelRequest<'_>,
    post: bool,
    rest: &[&str],
    form: &[Pair],
) -> Result<Response> {
    if !passkey::are_possible(request.state) {
        return Err(Error::NotFound);
    }
    match (post, rest) {
        (false, ["new"]) => Ok(password_page(request, form, None)),
        (true, ["new"]) => begin(http_request, request, form).await,
        (true, []) => create(request, form).await,
        (_, [id, "remove"]) => remove(request, post, id.parse().map_err(|_| Error::NotFound)?).await,
        _ => Err(Error::NotFound),
    }
}

/// The card on the account page.
pub(super) async fn render(request: &PanelRequest<'_>) -> Result<Markup> {
    if !passkey::are_possible(request.state) {
        return Ok(html! {});
    }
    let passkeys = passkey::list(request.state, &request.user).await?;
    Ok(html! {
        section .card {
            div .card-head { h2 { (text!("Passkeys")) " " span .count { (passkeys.len()) } }
                a .button.small href={ (PATH) "/new" } { (text!("Create a passkey…")) } }
            @if passkeys.is_empty() {
                p { (text!("A passkey signs you in with your fingerprint, face or screen lock, without a password and without a code.")) }
            } @else {
                div .scroll tabindex="0" role="region" aria-label=(text!("Passkeys")) { table {
                    thead { tr { th scope="col" { (text!("Name")) } th scope="col" { (text!("Created")) } th scope="col" { (text!("Last used")) } th scope="col" { span .hidden { (text!("Actions")) } } } }
                    tbody { @for passkey in &passkeys { tr {
                        td { (passkey.name) }
                        td { (time(request, &passkey.created_at.to_rfc3339())) }
                        td { @match passkey.last_used_at { Some(at) => (time(request, &at.to_rfc3339())), None => (text!("never")) } }
                        td { a href={ (PATH) "/" (passkey.id) "/remove" } aria-label=(text!("Remove {name}", name = passkey.name)) { (text!("Remove…")) } }
                    } } }
                } }
            }
        }
    })
}

/// The first page: name and password.
fn password_page(request: &PanelRequest<'_>, form: &[Pair], problem: Option<Problem>) -> Response {
    let suggested = browser_name::describe(request.raw.user_agent.as_deref());
    let name = form_value(form, "name").unwrap_or(&suggested);
    let title = text!("Create a passkey");
    let content = html! {
        (layout::header(&trail(), &html! { (title) }, &html! {}))
        form .record method="post" action={ (PATH) "/new" } {
            (layout::csrf_input(request))
            div .field { label for="name" { (text!("Name")) }
                input #name type="text" name="name" value=(name) required maxlength=(MAX_NAME_CHARS) aria-describedby="name-help";
                p .help #name-help { (text!("By which you recognize the device or the password manager.")) } }
            (field("password", &text!("Password"), "password", "current-password", problem))
            div .buttons { button .primary { (text!("Continue")) } a .button href=(ACCOUNT) { (text!("Cancel")) } }
        }
    };
    let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    layout::page_with_status(request, status, &title, &content)
}

/// The second page: its button asks the browser for the passkey.
async fn begin(http_request: &Request, request: &PanelRequest<'_>, form: &[Pair]) -> Result<Response> {
    let password = form_value(form, "password").unwrap_or_default();
    if verify_password(http_request, request, password).await?.is_none() {
        return Ok(password_page(request, form, Some(Problem::Password)));
    }
    forget_attempts(request.state, http_request, &request.user.email);
    let ceremony = passkey::begin_creation(&request.context(), &request.user).await?;
    let title = text!("Create a passkey");
    let content = html! {
        (layout::header(&trail(), &html! { (title) }, &html! {}))
        form .record method="post" action=(PATH) data-passkey="create" data-options=(ceremony.options) {
            (layout::csrf_input(request))
            input type="hidden" name="ceremony" value=(ceremony.sealed);
            input type="hidden" name="credential";
            input type="hidden" name="name" value=(form_value(form, "name").unwrap_or_default());
            p { (text!("Your browser asks where to store the passkey, and for your fingerprint, face or screen lock.")) }
            p .error data-problem role="alert" hidden {}
            div .buttons { button .primary { (text!("Create passkey")) } a .button href=(ACCOUNT) { (text!("Cancel")) } }
        }
    };
    Ok(layout::page(request, &title, &content))
}

async fn create(request: &PanelRequest<'_>, form: &[Pair]) -> Result<Response> {
    let sent = |name: &str| form_value(form, name).unwrap_or_default();
    let (context, user) = (request.context(), &request.user);
    match passkey::create(&context, user, sent("ceremony"), sent("credential"), sent("name")).await? {
        true => Ok(Flash::Saved.redirect(ACCOUNT)),
        false => Err(Error::Conflict(text!(
            "The passkey was not created: it took too long, or the browser's answer is invalid. Try again."
        ))),
    }
}

async fn remove(request: &PanelRequest<'_>, post: bool, id: i64) -> Result<Response> {
    if post {
        passkey::remove(&request.context(), &request.user, id).await?;
        return Ok(Flash::Done.redirect(ACCOUNT));
    }
    let passkeys = passkey::list(request.state, &request.user).await?;
    let passkey = passkeys.into_iter().find(|passkey| passkey.id == id).ok_or(Error::NotFound)?;
    let consequences = html! {
        p { (html_text!("{passkey_no_longer_signs_you_in}: {name}.", passkey_no_longer_signs_you_in = html! { strong { (text!("This passkey no longer signs you in")) } }, name = passkey.name))
            " " (text!("Your sessions stay. Delete it on the device, too.")) }
    };
    Ok(question(request, &text!("Remove {name}?", name = passkey.name), &text!("Remove passkey"), &consequences))
}

/// The button on the sign-in page. A script shows it if the browser has passkeys.
pub(super) fn sign_in_form(state: &ServerState, destination: &Destination) -> Markup {
    if !passkey::are_possible(state) {
        return html! {};
    }
    html! {
        form method="post" action="/panel/sign-in/passkey" data-passkey="get" data-options="/panel/sign-in/passkey/options" hidden {
            p .or { (text!("or")) }
            (destination.inputs())
            input type="hidden" name="ceremony";
            input type="hidden" name="credential";
            p .error data-problem role="alert" hidden {}
            button .wide { (text!("Sign in with a passkey")) }
        }
    }
}

/// Answers with the options of a sign-in, for the script.
pub(super) fn options(state: &Arc<ServerState>, http_request: &Request, raw: &RawRequest) -> Result<Response> {
    if !passkey::are_possible(state) {
        return Err(Error::NotFound);
    }
    state.sign_ins.addresses.admit(client_ip(http_request, &state.config.trusted_proxies))?;
    let stranger = Principal::default();
    let ceremony = passkey::begin_sign_in(&raw.context(state, &stranger))?;
    let options: Value = serde_json::from_str(&ceremony.options).map_err(Error::internal)?;
    let body = json!({ "options": options, "ceremony": ceremony.sealed }).to_string();
    Ok(Response::json(StatusCode::OK, body.into_bytes()))
}

/// Signs in with the passkey of the form.
pub(super) async fn sign_in(
    panel: &Panel,
    state: &Arc<ServerState>,
    http_request: &mut Request,
    raw: &RawRequest,
) -> Result<Response> {
    if !passkey::are_possible(state) {
        return Err(Error::NotFound);
    }
    let form = read_form_limited(MAX_SIGN_IN_FORM_BYTES, http_request).await?;
    let (sent, destination) = (|name: &str| form_value(&form, name).unwrap_or_default(), Destination::of(&form));
    if let Err(error) = state.sign_ins.addresses.admit(client_ip(http_request, &state.config.trusted_proxies)) {
        let form = SignInForm::refused(state, destination, message(&error.message("")));
        return Ok(refuse(sign_in_page(state, raw, status_of(&error), &form), &error));
    }
    let stranger = Principal::default();
    let context = raw.context(state, &stranger);
    let (ceremony, credential) = (sent("ceremony"), sent("credential"));
    match passkey::finish_sign_in(&context, ceremony, credential, raw.user_agent.as_deref()).await? {
        Some(secret) => enter(panel, state, raw, &secret, &destination).await,
        None => {
            record_failed_sign_in(&context, "").await?;
            let problem =
                text!("This passkey is not known here, or the sign-in took too long. Try again, or use your password.");
            let form = SignInForm::refused(state, destination, problem);
            Ok(sign_in_page(state, raw, StatusCode::UNPROCESSABLE_ENTITY, &form))
        }
    }
}
