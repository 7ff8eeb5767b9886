//! The second step of a sign-in: the code of the second factor. The form carries the sealed first step.

use std::sync::Arc;

use maud::html;
use salvo::Request;
use salvo::http::StatusCode;

use super::sign_in::{
    Destination, MAX_SIGN_IN_FORM_BYTES, SignInForm, admit_attempt, enter, forget_attempts, refuse, sign_in_page,
};
use crate::language::{message, text};
use crate::panel::request::{RawRequest, form_value, read_form_limited};
use crate::panel::{Panel, brand, layout};
use crate::server::{Response, ServerState, status_of};
use charter_core::error::Result;
use charter_core::ops::Context;
use charter_core::principal::Principal;
use charter_platform::auth::{Proof, pending_sign_in, record_failed_sign_in};

/// Asks for the code after a proof.
///
/// # Errors
/// When the operating system has no randomness.
pub(super) fn ask(
    context: &Context<'_>,
    state: &ServerState,
    raw: &RawRequest,
    proof: &Proof,
    destination: &Destination,
) -> Result<Response> {
    let sealed = pending_sign_in::seal(context, proof)?;
    Ok(page(state, raw, StatusCode::OK, &sealed, destination, None))
}

fn page(
    state: &ServerState,
    raw: &RawRequest,
    status: StatusCode,
    sealed: &str,
    destination: &Destination,
    problem: Option<&str>,
) -> Response {
    let title = text!("Enter your code");
    let content = html! {
        (brand::mark(state))
        h1 { (title) }
        @if let Some(notice) = destination.notice(state) { div .notice role="status" { p { (notice) } } }
        @if let Some(problem) = problem { div .problem role="alert" { p { (problem) } } }
        form method="post" action="/panel/sign-in/code" {
            (destination.inputs())
            input type="hidden" name="pending" value=(sealed);
            div .field { label for="code" { (text!("Code")) }
                input #code type="text" name="code" required autofocus maxlength="40" autocomplete="one-time-code" autocapitalize="characters" spellcheck="false" aria-describedby="code-help";
                p .help #code-help { (text!("The six digits of your authenticator app, or one of your recovery codes.")) } }
            button .primary.wide { (text!("Sign in")) }
        }
        p .faint { (text!("Device and recovery codes lost? Ask an administrator to remove your second factor.")) " " a href="/panel/sign-in" { (text!("Start again")) } }
    };
    layout::signed_out_page(state, raw.theme, status, &title, &content)
}

/// Verifies the code and signs in. Each attempt counts like one with a password.
pub(super) async fn handle(
    panel: &Panel,
    state: &Arc<ServerState>,
    http_request: &mut Request,
    raw: &RawRequest,
) -> Result<Response> {
    let form = read_form_limited(MAX_SIGN_IN_FORM_BYTES, http_request).await?;
    let destination = Destination::of(&form);
    let sealed = form_value(&form, "pending").unwrap_or_default();
    let Some(pending) = pending_sign_in::open(state, sealed).await? else {
        let expired = text!("The sign-in took too long, or your password has been changed. Sign in again.");
        let form = SignInForm::refused(state, destination, expired);
        return Ok(sign_in_page(state, raw, StatusCode::UNPROCESSABLE_ENTITY, &form));
    };
    if let Err(error) = admit_attempt(state, http_request, &pending.email).await {
        let problem = message(&error.message(""));
        return Ok(refuse(page(state, raw, status_of(&error), sealed, &destination, Some(&problem)), &error));
    }
    let stranger = Principal::default();
    let context = raw.context(state, &stranger);
    let code = form_value(&form, "code").unwrap_or_default();
    let Some(secret) = pending_sign_in::finish(&context, &pending, code, raw.user_agent.as_deref()).await? else {
        record_failed_sign_in(&context, &pending.email).await?;
        let problem = text!("The code is incorrect, or was used before.");
        return Ok(page(state, raw, StatusCode::UNPROCESSABLE_ENTITY, sealed, &destination, Some(&problem)));
    };
    forget_attempts(state, http_request, &pending.email);
    enter(panel, state, raw, &secret, &destination).await
}
