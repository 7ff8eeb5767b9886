//! Sign-in page, its rate limits, and the draft: a form that was sent without a session is kept until the user signs
//! in.

use crate::server::status_of;
use std::sync::Arc;

use maud::{Markup, html};
use salvo::Request;
use salvo::http::StatusCode;

use super::csrf::CsrfToken;
use super::flash::Flash;
use super::{account, cookie, forgotten_password, oidc, passkeys, sign_in_code};
use crate::language::{html_text, message, text};
use crate::panel::list::cell;
use crate::panel::record::form_save;
use crate::panel::request::{
    PanelRequest, RawRequest, form_value, path_segments, read_form_limited, require_same_site, return_path,
};
use crate::panel::target::Target;
use crate::panel::{Panel, ROOT, brand, layout, redirect, url};
use crate::server::ServerState;
use crate::server::{Response, client_address, client_ip};
use charter_core::error::{Error, Result};
use charter_core::header;
use charter_core::principal::Principal;
use charter_core::query::{Pair, decode};
use charter_model::reserved::CELL_PAGE;
use charter_platform::auth::known_network::{self, network_of};
use charter_platform::auth::session::{Begun, CookieSession};
use charter_platform::auth::{Proof, password, record_failed_sign_in, session};

/// Limit of a form that is kept as a draft, in bytes. Anybody may send it.
const MAX_DRAFT_BYTES: usize = 64 << 10;
/// Limit of the sign-in form, in bytes. It contains the draft, percent-encoded.
pub(super) const MAX_SIGN_IN_FORM_BYTES: usize = 1 << 20;

/// Longest email address of an account.
pub(super) const MAX_EMAIL_CHARS: usize = 255;

/// True for the paths that only scripts request: that of the sign-in page, which has no session yet, and a cell of a list
/// whose session may have ended. Without a session, the answer is JSON.
pub(crate) fn is_script_request(segments: &[String]) -> bool {
    segments == [ROOT, "sign-in", "passkey", "options"] || segments.last().is_some_and(|last| last == CELL_PAGE)
}

/// Handles the paths below `/panel` that need no session; `None` for other paths.
pub(crate) async fn handle_signed_out(
    panel: &Panel,
    state: &Arc<ServerState>,
    http_request: &mut Request,
    raw: &RawRequest,
    rest: &[&str],
    session: Option<&CookieSession>,
) -> Result<Option<Response>> {
    let post = http_request.method().as_str() == "POST";
    if post && matches!(rest, ["sign-in" | "forgot-password"] | ["sign-in", "code" | "passkey"] | ["invitation", _]) {
        require_same_site(state, http_request)?;
    }
    Ok(Some(match (post, rest) {
        (false, ["sign-in"]) if session.is_some() => redirect(&redirect_target(raw)),
        (false, ["sign-in"]) => sign_in_page(state, raw, StatusCode::OK, &SignInForm::leading_to(redirect_target(raw))),
        (true, ["sign-in"]) => sign_in(panel, state, http_request, raw).await?,
        (true, ["sign-in", "code"]) => sign_in_code::handle(panel, state, http_request, raw).await?,
        (false, ["sign-in", "passkey", "options"]) => passkeys::options(state, http_request, raw)?,
        (true, ["sign-in", "passkey"]) => passkeys::sign_in(panel, state, http_request, raw).await?,
        (false, ["sign-in", "oidc", rest @ ..]) => oidc::handle(panel, state, http_request, raw, rest).await?,
        (false, ["invitation", secret]) => account::invitation_page(state, raw, secret, None).await?,
        (true, ["invitation", secret]) => {
            state.sign_ins.addresses.admit(client_ip(http_request, &state.config.trusted_proxies))?;
            let form = read_form_limited(MAX_SIGN_IN_FORM_BYTES, http_request).await?;
            account::accept_invitation(state, raw, secret, &form).await?
        }
        (false, ["forgot-password"]) if forgotten_password::is_offered(state) => {
            forgotten_password::page(state, raw, StatusCode::OK, None)
        }
        (true, ["forgot-password"]) if forgotten_password::is_offered(state) => {
            forgotten_password::handle(state, http_request, raw).await?
        }
        _ => return Ok(None),
    }))
}

/// Sends a client without a session to the sign-in page, which keeps the form that the client sent.
pub(crate) async fn require_sign_in(
    state: &Arc<ServerState>,
    http_request: &mut Request,
    raw: &RawRequest,
) -> Result<Response> {
    if !raw.wants_html || raw.segments.first().is_some_and(|first| first == ROOT) {
        return if raw.wants_html { Ok(redirect("/panel/sign-in")) } else { Err(Error::Unauthenticated) };
    }
    if http_request.method().as_str() != "POST" {
        let to = raw.path_and_query();
        let query = if to == "/" { String::new() } else { format!("?to={}", url::encode(&to)) };
        return Ok(redirect(&format!("/panel/sign-in{query}")));
    }
    require_same_site(state, http_request)?;
    let draft = match read_form_limited(MAX_DRAFT_BYTES, http_request).await {
        Ok(form) => {
            let pairs = form.iter().filter(|pair| pair.name != "_token");
            let draft = url::with_query("", &pairs.cloned().collect::<Vec<_>>());
            Some(draft.trim_start_matches('?').to_string())
        }
        Err(Error::PayloadTooLarge(_)) => None,
        Err(error) => return Err(error),
    };
    let notice = match draft {
        Some(_) => draft_preserved(),
        None => text!(
            "You are signed out, and your input is too long to preserve. Sign in in another tab, then go back in this tab and save again."
        ),
    };
    let form = SignInForm {
        destination: Destination { to: raw.path.clone(), draft },
        notice: is_record_form(state, &raw.path).then_some(notice),
        ..SignInForm::default()
    };
    Ok(sign_in_page(state, raw, StatusCode::UNAUTHORIZED, &form))
}

fn draft_preserved() -> String {
    text!("You are signed out. Your input is preserved. Sign in to continue.")
}

/// Returns true if a POST to this path sends the form of a record, not just a button.
fn is_record_form(state: &ServerState, path: &str) -> bool {
    let segments = path_segments(path).unwrap_or_default();
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    Target::resolve(&state.catalog, &segments).is_some_and(|(_, rest)| rest.is_empty())
}

/// The local page to open after signing in.
pub(super) fn redirect_target(raw: &RawRequest) -> String {
    let pairs = decode(&raw.query).unwrap_or_default();
    let to = pairs.into_iter().find(|pair| pair.name == "to").map(|pair| pair.value);
    to.filter(|to| url::is_local_path(to)).unwrap_or_else(|| "/".into())
}

#[derive(Default)]
pub(super) struct SignInForm {
    pub destination: Destination,
    pub email: String,
    pub notice: Option<String>,
    pub problem: Option<String>,
}

impl SignInForm {
    fn leading_to(to: String) -> SignInForm {
        SignInForm { destination: Destination { to, draft: None }, ..SignInForm::default() }
    }

    /// The form after a refusal, without an address.
    pub(super) fn refused(state: &ServerState, destination: Destination, problem: String) -> SignInForm {
        let notice = destination.notice(state);
        SignInForm { destination, notice, problem: Some(problem), ..SignInForm::default() }
    }
}

pub(super) fn sign_in_page(state: &ServerState, raw: &RawRequest, status: StatusCode, form: &SignInForm) -> Response {
    let content = html! {
        (brand::mark(state))
        h1 { (text!("Sign in to {application}", application = state.name_for_people())) }
        @if let Some(notice) = &form.notice { div .notice role="status" { p { (notice) } } }
        @if let Some(problem) = &form.problem { div .problem role="alert" { p { (problem) } } }
        form method="post" action="/panel/sign-in" {
            (form.destination.inputs())
            div .field { label for="email" { (text!("Email")) }
                input #email type="email" name="email" value=(form.email) required autocomplete="username" autofocus[form.email.is_empty()]; }
            div .field { label for="password" { (text!("Password")) }
                input #password type="password" name="password" required autocomplete="current-password" autofocus[!form.email.is_empty()]; }
            button .primary.wide { (text!("Sign in")) }
        }
        (passkeys::sign_in_form(state, &form.destination))
        (oidc::link(state, &form.destination))
        @if forgotten_password::is_offered(state) { p { a href=(forgotten_password::PATH) { (text!("Forgot your password?")) } } } @else {
            p .faint { (html_text!("No password yet, or forgotten? Ask an administrator for a link: “Invite” on your user’s page, or {command}.", command = html! { code { (state.name) " user invite" } })) }
        }
    };
    layout::signed_out_page(state, raw.theme, status, &text!("Sign in"), &content)
}

/// Counts an attempt to sign in to an account and rejects it beyond a limit: of the client address, or of its network
/// at this account. Networks from which the account's owner has signed in before are not delayed by the attempts of
/// others.
pub(crate) async fn admit_attempt(state: &ServerState, http_request: &Request, account: &str) -> Result<()> {
    let proxies = &state.config.trusted_proxies;
    state.sign_ins.addresses.admit(client_ip(http_request, proxies))?;
    let network = network_of(client_address(http_request, proxies));
    let is_known = known_network::is_known(state, account, network).await?;
    state.sign_ins.accounts.admit(&account.to_lowercase(), network, is_known, state.clock.instant())
}

/// Forgets the attempts of the client's network after a correct password.
pub(crate) fn forget_attempts(state: &ServerState, http_request: &Request, account: &str) {
    let network = network_of(client_address(http_request, &state.config.trusted_proxies));
    state.sign_ins.accounts.succeeded(&account.to_lowercase(), network);
}

/// Adds to a page the time after which a refused client may try again.
pub(super) fn refuse(page: Response, error: &Error) -> Response {
    match error {
        Error::RateLimited(seconds) => page.with_text(header::RETRY_AFTER, &seconds.to_string()),
        _ => page,
    }
}

async fn sign_in(
    panel: &Panel,
    state: &Arc<ServerState>,
    http_request: &mut Request,
    raw: &RawRequest,
) -> Result<Response> {
    let form = read_form_limited(MAX_SIGN_IN_FORM_BYTES, http_request).await?;
    let sent = |name: &str| form_value(&form, name).map(String::from);
    let destination = Destination::of(&form);
    let email = sent("email").unwrap_or_default();
    // No account has such an email address, and PostgreSQL rejects NUL in a parameter.
    let is_plausible = email.trim().chars().count() <= MAX_EMAIL_CHARS && !email.contains('\0');
    // Nobody has the address of an implausible account: all such attempts count as one.
    let account = if is_plausible { email.trim() } else { "" };
    if let Err(error) = admit_attempt(state, http_request, account).await {
        let form = SignInForm { email, ..SignInForm::refused(state, destination, message(&error.message(""))) };
        return Ok(refuse(sign_in_page(state, raw, status_of(&error), &form), &error));
    }
    let password = match is_plausible {
        true => password::find(state, &email, &sent("password").unwrap_or_default()).await?,
        false => None,
    };
    let proof = password.map(Proof::Password);
    let stranger = Principal::default();
    let context = raw.context(state, &stranger);
    // Each sign-in gets a new secret, which prevents session fixation.
    let begun = match &proof {
        Some(proof) => session::begin(&context, proof, raw.user_agent.as_deref()).await?,
        None => Begun::Refused,
    };
    if let (Begun::NeedsCode, Some(proof)) = (&begun, &proof) {
        // The attempts are forgotten only after the code.
        return sign_in_code::ask(&context, state, raw, proof, &destination);
    }
    let Begun::Session(secret) = begun else {
        record_failed_sign_in(&context, &email).await?;
        let problem = text!("The email or password is incorrect.");
        let form = SignInForm { email, ..SignInForm::refused(state, destination, problem) };
        return Ok(sign_in_page(state, raw, StatusCode::UNPROCESSABLE_ENTITY, &form));
    };
    forget_attempts(state, http_request, account);
    enter(panel, state, raw, &secret, &destination).await
}

/// The page to open after a sign-in, and the form to fill in again on it.
#[derive(Default)]
pub(super) struct Destination {
    pub to: String,
    pub draft: Option<String>,
}

impl Destination {
    /// The destination in the hidden fields of a form.
    pub(super) fn of(form: &[Pair]) -> Destination {
        let sent = |name: &str| form_value(form, name).map(String::from);
        let to = sent("to").filter(|to| url::is_local_path(to)).unwrap_or_else(|| "/".into());
        Destination { to, draft: sent("draft").filter(|draft| !draft.is_empty()) }
    }

    /// The hidden fields.
    pub(super) fn inputs(&self) -> Markup {
        html! {
            input type="hidden" name="to" value=(self.to);
            @if let Some(draft) = &self.draft { input type="hidden" name="draft" value=(draft); }
        }
    }

    /// The message that a draft of a record is preserved.
    pub(super) fn notice(&self, state: &ServerState) -> Option<String> {
        (self.draft.is_some() && is_record_form(state, &self.to)).then(draft_preserved)
    }
}

/// Answers a successful sign-in: sets the session's cookie and leads to the destination.
pub(super) async fn enter(
    panel: &Panel,
    state: &Arc<ServerState>,
    raw: &RawRequest,
    secret: &str,
    destination: &Destination,
) -> Result<Response> {
    let set_session = cookie::set_session(state, secret);
    if let Some(draft) = &destination.draft
        && let Some(answer) = restore_draft(panel, state, raw, secret, &destination.to, draft).await?
    {
        return Ok(answer.with_text(cookie::SET_COOKIE, &set_session));
    }
    Ok(redirect(&destination.to).with_text(cookie::SET_COOKIE, &set_session))
}

/// The form of a draft, filled in again. A button that was pressed without a session is not pressed again: its page
/// says so.
async fn restore_draft(
    panel: &Panel,
    state: &Arc<ServerState>,
    raw: &RawRequest,
    secret: &str,
    to: &str,
    draft: &str,
) -> Result<Option<Response>> {
    let Some(session) = session::find(state, secret, true).await? else { return Ok(None) };
    let Ok(segments) = path_segments(to) else { return Ok(None) };
    let parts: Vec<&str> = segments.iter().map(String::as_str).collect();
    let Some((target, rest)) = Target::resolve(&state.catalog, &parts) else { return Ok(None) };
    if !rest.is_empty() {
        let form = decode(draft)?;
        return Ok(Some(Flash::Stale.redirect(return_path(&form).unwrap_or(&target.path()))));
    }
    let raw = RawRequest {
        path: to.to_string(),
        query: String::new(),
        session_secret: Some(secret.to_string()),
        segments: segments.clone(),
        theme: raw.theme,
        wants_html: true,
        ..RawRequest::default()
    };
    let request = PanelRequest::new(panel, state, raw, session.user).await?;
    form_save::show_unsaved(&request, &target, &decode(draft)?, Some(unsaved_notice()), StatusCode::OK).await.map(Some)
}

fn unsaved_notice() -> Markup {
    html! { p { strong { (text!("The form was not saved, because your session had ended.")) } " " (text!("Your input is below. Check it and save again.")) } }
}

/// Answers a form with the CSRF token of another session: nothing is saved, and the form is shown again with a valid
/// token. A button is not pressed again: its page says so.
///
/// # Errors
/// [`Error::Conflict`] if the token is malformed, and those of rendering the form.
pub(crate) async fn reject_stale_form(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
    rest: &[&str],
    form: &[Pair],
) -> Result<Response> {
    let Err(stale) = request.require_csrf_token(form) else { return Err(Error::NotFound) };
    let is_panel_form = form_value(form, "_token").is_some_and(CsrfToken::is_well_formed);
    match rest {
        [CELL_PAGE] if is_panel_form => cell::show_unsaved(request, target, form),
        _ if !is_panel_form || !request.raw.wants_html => Err(stale),
        [] => form_save::show_unsaved(request, target, form, Some(unsaved_notice()), StatusCode::CONFLICT).await,
        _ => Ok(Flash::Stale.redirect(&target.path())),
    }
}
