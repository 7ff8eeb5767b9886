//! The page on which a user who forgot the password asks for a link by mail. Its answer is the same for every address.

use std::sync::Arc;

use maud::html;
use salvo::Request;
use salvo::http::StatusCode;

use super::sign_in::{MAX_EMAIL_CHARS, MAX_SIGN_IN_FORM_BYTES, refuse};
use crate::language::{message, text};
use crate::panel::request::{RawRequest, form_value, read_form_limited};
use crate::panel::{brand, layout};
use crate::server::{Response, ServerState, client_address, client_ip, status_of};
use charter_core::error::Result;
use charter_core::principal::Principal;
use charter_platform::auth::known_network::network_of;
use charter_platform::auth::password_reset;
use charter_platform::mail::Mailer;

/// Path of the page.
pub(super) const PATH: &str = "/panel/forgot-password";

/// Returns true if the server can send mail.
pub(super) fn is_offered(state: &ServerState) -> bool {
    state.extension::<Mailer>().is_ok_and(Mailer::is_on)
}

pub(super) fn page(state: &ServerState, raw: &RawRequest, status: StatusCode, problem: Option<&str>) -> Response {
    let title = text!("Forgot your password?");
    let content = html! {
        (brand::mark(state))
        h1 { (title) }
        p { (text!("We send you a link with which you choose a new password.")) }
        @if let Some(problem) = problem { div .problem role="alert" { p { (problem) } } }
        form method="post" action=(PATH) {
            div .field { label for="email" { (text!("Email")) }
                input #email type="email" name="email" required maxlength=(MAX_EMAIL_CHARS) autocomplete="username" autofocus; }
            button .primary.wide { (text!("Send the link")) }
        }
        p .faint { a href="/panel/sign-in" { (text!("Back to sign-in")) } }
    };
    layout::signed_out_page(state, raw.theme, status, &title, &content)
}

/// Requests a link. Each request counts for the client's address, and for its network at this account.
pub(super) async fn handle(state: &Arc<ServerState>, http_request: &mut Request, raw: &RawRequest) -> Result<Response> {
    let form = read_form_limited(MAX_SIGN_IN_FORM_BYTES, http_request).await?;
    let email = form_value(&form, "email").unwrap_or_default().trim().to_lowercase();
    // No account has such an email address, and PostgreSQL rejects NUL in a parameter.
    let is_plausible = email.chars().count() <= MAX_EMAIL_CHARS && !email.contains('\0');
    let email = if is_plausible { email.as_str() } else { "" };
    if let Err(error) = admit(state, http_request, email) {
        return Ok(refuse(page(state, raw, status_of(&error), Some(&message(&error.message("")))), &error));
    }
    let stranger = Principal::default();
    password_reset::request(&raw.context(state, &stranger), email)?;
    let title = text!("Check your mail");
    let content = html! {
        (brand::mark(state))
        h1 { (title) }
        p role="status" { (text!("If an active account has this address, we have sent it a link. The link works once, within an hour.")) }
        p { (text!("No mail after a few minutes? Look in the folder for spam, or ask an administrator for a link. A further request within five minutes sends no second mail.")) }
        p { a .button href="/panel/sign-in" { (text!("Back to sign-in")) } }
    };
    Ok(layout::signed_out_page(state, raw.theme, StatusCode::OK, &title, &content))
}

/// No network is a known one here, because the wait would show which accounts exist.
fn admit(state: &ServerState, http_request: &Request, account: &str) -> Result<()> {
    let proxies = &state.config.trusted_proxies;
    state.sign_ins.addresses.admit(client_ip(http_request, proxies))?;
    let network = network_of(client_address(http_request, proxies));
    state.sign_ins.resets.admit(account, network, false, state.clock.instant())
}
