//! Sign-in with the identity provider: the link on the sign-in page, the way there, and the way back.

use std::sync::Arc;

use maud::{Markup, html};
use salvo::Request;
use salvo::http::StatusCode;

use super::cookie::{SET_COOKIE, read_pending, set_pending};
use super::sign_in::{Destination, SignInForm, enter, redirect_target, refuse, sign_in_page};
use super::sign_in_code;
use crate::language::{message, text};
use crate::panel::request::RawRequest;
use crate::panel::{Panel, redirect, url};
use crate::server::{Response, ServerState, client_ip, status_of};
use charter_core::error::{Error, Result};
use charter_core::principal::Principal;
use charter_core::query::decode;
use charter_platform::auth::oidc::{Account, Answer, Finished, Identity, Provider, account_of};
use charter_platform::auth::session::{self, Begun};
use charter_platform::auth::{Proof, record_failed_sign_in};

const PATH: &str = "/panel/sign-in/oidc";
/// Longest page address that is kept through the sign-in.
const MAX_TARGET_BYTES: usize = 2000;

/// The link on the sign-in page. A form that waits for the sign-in stays in this tab.
pub(super) fn link(state: &ServerState, destination: &Destination) -> Markup {
    let Some(provider) = &state.oidc else { return html! {} };
    let name = &provider.config.name;
    let has_draft = destination.draft.is_some();
    let to = if has_draft { "/" } else { destination.to.as_str() };
    html! {
        p .or { (text!("or")) }
        a .button.wide href={ (PATH) "?to=" (url::encode(to)) } target=[has_draft.then_some("_blank")] { (text!("Sign in with {provider}", provider = name)) }
        @if has_draft { p .faint { (text!("It opens in a new tab. Then go back in this tab and save again.")) } }
    }
}

/// Handles the paths below [`PATH`].
pub(super) async fn handle(
    panel: &Panel,
    state: &Arc<ServerState>,
    http_request: &Request,
    raw: &RawRequest,
    rest: &[&str],
) -> Result<Response> {
    let Some(provider) = &state.oidc else { return Err(Error::NotFound) };
    if let Err(error) = state.sign_ins.addresses.admit(client_ip(http_request, &state.config.trusted_proxies)) {
        let form = SignInForm::refused(state, Destination::of(&[]), message(&error.message("")));
        return Ok(refuse(sign_in_page(state, raw, status_of(&error), &form), &error));
    }
    match rest {
        [] => begin(state, raw, provider).await,
        ["callback"] => {
            let pending = read_pending(state, http_request.headers()).unwrap_or_default();
            let answer = finish(panel, state, raw, provider, &pending).await?;
            // Each sign-in works once.
            Ok(answer.with_text(SET_COOKIE, &set_pending(state, "")))
        }
        _ => Err(Error::NotFound),
    }
}

async fn begin(state: &Arc<ServerState>, raw: &RawRequest, provider: &Provider) -> Result<Response> {
    let to = redirect_target(raw);
    let to = if to.len() <= MAX_TARGET_BYTES { to.as_str() } else { "/" };
    match provider.begin(state, to).await? {
        Some(start) => Ok(redirect(&start.url).with_text(SET_COOKIE, &set_pending(state, &start.sealed))),
        None => Ok(refused(state, raw, StatusCode::BAD_GATEWAY, unreachable(provider))),
    }
}

async fn finish(
    panel: &Panel,
    state: &Arc<ServerState>,
    raw: &RawRequest,
    provider: &Provider,
    pending: &str,
) -> Result<Response> {
    let name = &provider.config.name;
    let (status, problem) = match provider.finish(state, pending, answer_of(raw)?).await? {
        Finished::Identity(identity, to) => {
            return sign_in(panel, state, raw, provider, &identity, &Destination { to, draft: None }).await;
        }
        Finished::Expired => (
            StatusCode::UNPROCESSABLE_ENTITY,
            text!("The sign-in took too long, or was begun in another browser. Sign in again."),
        ),
        Finished::Denied => {
            (StatusCode::UNPROCESSABLE_ENTITY, text!("{provider} did not sign you in.", provider = name))
        }
        Finished::Failed => (StatusCode::BAD_GATEWAY, unreachable(provider)),
    };
    Ok(refused(state, raw, status, problem))
}

fn unreachable(provider: &Provider) -> String {
    text!(
        "{provider} cannot be reached, or its answer is invalid. Try again, or sign in with your password.",
        provider = provider.config.name
    )
}

fn refused(state: &ServerState, raw: &RawRequest, status: StatusCode, problem: String) -> Response {
    sign_in_page(state, raw, status, &SignInForm::refused(state, Destination::of(&[]), problem))
}

/// The parameters of the callback.
fn answer_of(raw: &RawRequest) -> Result<Answer> {
    let mut answer = Answer::default();
    for pair in decode(&raw.query)? {
        match pair.name.as_str() {
            "code" => answer.code = Some(pair.value),
            "state" => answer.state = Some(pair.value),
            "iss" => answer.issuer = Some(pair.value),
            "error" => answer.error = Some(pair.value),
            _ => {}
        }
    }
    Ok(answer)
}

async fn sign_in(
    panel: &Panel,
    state: &Arc<ServerState>,
    raw: &RawRequest,
    provider: &Provider,
    identity: &Identity,
    destination: &Destination,
) -> Result<Response> {
    let stranger = Principal::default();
    let context = raw.context(state, &stranger);
    let name = &provider.config.name;
    let problem = match account_of(&context, &provider.config, identity).await {
        Ok(Account::User(user_id)) => {
            let proof = Proof::Provider { user_id };
            match session::begin(&context, &proof, raw.user_agent.as_deref()).await? {
                Begun::Session(secret) => return enter(panel, state, raw, &secret, destination).await,
                Begun::NeedsCode => return sign_in_code::ask(&context, state, raw, &proof, destination),
                Begun::Refused => text!("Your account is deactivated."),
            }
        }
        Ok(Account::Deactivated) => text!("Your account is deactivated."),
        Ok(Account::Unknown) => {
            let email = identity.email.as_deref().unwrap_or_default();
            text!(
                "There is no account for {email}. Ask an administrator to create one with this address.",
                email = email
            )
        }
        Ok(Account::NoAddress) => text!("{provider} does not confirm an email address of yours.", provider = name),
        Ok(Account::LinkedToAnother) => text!(
            "Another person at {provider} signs in with your email address here. Ask an administrator to unlink the account.",
            provider = name
        ),
        Err(Error::Invalid(errors)) => {
            text!("No account could be created for you: {reason}.", reason = message(&errors.to_text()))
        }
        Err(error) => return Err(error),
    };
    record_failed_sign_in(&context, identity.email.as_deref().unwrap_or(&identity.subject)).await?;
    Ok(refused(state, raw, StatusCode::UNPROCESSABLE_ENTITY, problem))
}
