//! Pages of one's own second factor: set up with a first code, its recovery codes and new ones, and turned off with the
//! password.

use maud::{Markup, html};
use salvo::Request;
use salvo::http::StatusCode;

use super::account_page::PATH as ACCOUNT;
use super::flash::Flash;
use super::own_sessions;
use super::qr_code;
use super::sign_in::{admit_attempt, forget_attempts};
use crate::panel::request::{PanelRequest, form_value};
use crate::panel::{layout, redirect};
use crate::server::Response;
use charter_core::error::{Error, Result};
use charter_core::query::Pair;
use charter_platform::auth::password::{self, Password};
use charter_platform::auth::second_factor::{self, Confirmed, Offer};

const PATH: &str = "/panel/account/second-factor";
const SET_UP: &str = "Set up a second factor";
const RENEW: &str = "New recovery codes";
const TURN_OFF: &str = "Turn off the second factor";
pub(super) const WRONG_PASSWORD: &str = "is incorrect";

/// A field of a form and its message.
pub(super) type Problem = (&'static str, &'static str);

/// Handles the paths below [`PATH`]. The CSRF token of a form is already checked.
pub(super) async fn handle(
    http_request: &Request,
    request: &PanelRequest<'_>,
    post: bool,
    rest: &[&str],
    form: &[Pair],
) -> Result<Response> {
    let codes = second_factor::recovery_codes(&request.context(), &request.user).await?;
    match (post, rest, codes) {
        (false, [], None) => set_up_page(request, &new_offer(request)?, None).await,
        (true, [], None) => set_up(http_request, request, form).await,
        (false, ["recovery-codes"], Some(codes)) => Ok(renew_page(request, codes, None)),
        (true, ["recovery-codes"], Some(codes)) => renew(http_request, request, codes, form).await,
        (false, ["turn-off"], Some(codes)) => turn_off_page(request, codes, None).await,
        (true, ["turn-off"], Some(codes)) => turn_off(http_request, request, codes, form).await,
        // It was set up or turned off meanwhile.
        (_, [] | ["turn-off" | "recovery-codes"], _) => Ok(redirect(ACCOUNT)),
        _ => Err(Error::NotFound),
    }
}

/// The card on the account page.
pub(super) async fn render(request: &PanelRequest<'_>) -> Result<Markup> {
    let codes = second_factor::recovery_codes(&request.context(), &request.user).await?;
    Ok(html! {
        section .card {
            div .card-head { h2 { "Second factor" } @if codes.is_some() { span .tag.good { "On" } } }
            @match codes {
                Some(codes) => {
                    p { "To sign in, you need a code of your authenticator app. " (unused(codes)) }
                    div .buttons { a .button href={ (PATH) "/recovery-codes" } { (RENEW) "…" } a .button href={ (PATH) "/turn-off" } { "Turn off…" } }
                }
                None => {
                    p { "With a second factor, your password alone does not sign in: an authenticator app on your phone shows a code as well." }
                    div .buttons { a .button href=(PATH) { "Set up…" } }
                }
            }
        }
    })
}

fn unused(codes: i64) -> String {
    match codes {
        0 => "No recovery code is left.".into(),
        1 => "1 recovery code is left.".into(),
        codes => format!("{codes} recovery codes are left."),
    }
}

fn new_offer(request: &PanelRequest<'_>) -> Result<Offer> {
    second_factor::offer(request.state, &request.user, &request.state.name_for_people())
}

async fn set_up_page(request: &PanelRequest<'_>, offer: &Offer, problem: Option<Problem>) -> Result<Response> {
    let others_end = own_sessions::others_end(request).await?;
    let groups: Vec<String> =
        offer.secret.as_bytes().chunks(4).map(|group| String::from_utf8_lossy(group).into()).collect();
    let content = html! {
        (layout::header(&[(ACCOUNT.into(), "Your account".into())], &html! { (SET_UP) }, &html! {}))
        form .record method="post" action=(PATH) {
            (layout::csrf_input(request))
            input type="hidden" name="offer" value=(offer.sealed);
            fieldset .stacked {
                legend { "1. Add the account to an authenticator app" }
                (qr_code::render(&offer.uri, "QR code for an authenticator app")?)
                p { "Scan the code, or enter this key: " code .code { (groups.join(" ")) } }
                p { a href=(offer.uri) { "Open an app on this device" } }
            }
            fieldset {
                legend { "2. Confirm" }
                (field("code", "Code of the app", "text", "one-time-code", problem))
                (field("password", "Password", "password", "current-password", problem))
            }
            p .help { (others_end) " The next page shows your recovery codes." }
            div .buttons { button .primary { "Turn on" } a .button href=(ACCOUNT) { "Cancel" } }
        }
    };
    let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(layout::page_with_status(request, status, SET_UP, &content))
}

pub(super) fn field(name: &str, label: &str, kind: &str, autocomplete: &str, problem: Option<Problem>) -> Markup {
    let message = problem.filter(|(field, _)| *field == name).map(|(_, message)| message);
    html! {
        div .field .invalid[message.is_some()] { label for=(name) { (label) }
            input id=(name) type=(kind) name=(name) required autocomplete=(autocomplete) aria-invalid=[message.map(|_| "true")];
            @if let Some(message) = message { p .error { (label) " " (message) } } }
    }
}

async fn set_up(http_request: &Request, request: &PanelRequest<'_>, form: &[Pair]) -> Result<Response> {
    let sent = |name: &str| form_value(form, name).unwrap_or_default();
    let issuer = request.state.name_for_people();
    // A form with a changed offer starts again.
    let Some(offer) = second_factor::offered(request.state, &request.user, &issuer, sent("offer"))? else {
        return Ok(redirect(PATH));
    };
    let Some(password) = verify_password(http_request, request, sent("password")).await? else {
        return set_up_page(request, &offer, Some(("password", WRONG_PASSWORD))).await;
    };
    match second_factor::confirm(&request.context(), &request.user, &password, &offer, sent("code")).await? {
        Confirmed::Added(codes) => {
            forget_attempts(request.state, http_request, &request.user.email);
            Ok(recovery_codes_page(request, "The second factor is on.", &codes))
        }
        Confirmed::WrongCode => {
            set_up_page(request, &offer, Some(("code", "is incorrect: check the clock of the device"))).await
        }
        Confirmed::Outdated => Ok(redirect(ACCOUNT)),
    }
}

fn recovery_codes_page(request: &PanelRequest<'_>, outcome: &str, codes: &[String]) -> Response {
    let content = html! {
        (layout::header(&[(ACCOUNT.into(), "Your account".into())], &html! { "Your recovery codes" }, &html! {}))
        div .notice { p { strong { (outcome) " Store these " (codes.len()) " codes now: they are not shown again." }
            " Each signs you in once instead of a code of the app, for example if you lose your phone." } }
        section .card { ul .codes { @for code in codes { li { code .code { (code) } } } } }
        div .buttons { a .button.primary href=(ACCOUNT) { "I have stored them" } }
    };
    layout::page(request, "Your recovery codes", &content)
}

fn renew_page(request: &PanelRequest<'_>, codes: i64, problem: Option<Problem>) -> Response {
    let content = html! {
        (layout::header(&[(ACCOUNT.into(), "Your account".into())], &html! { (RENEW) }, &html! {}))
        div .notice { p { (unused(codes)) " " strong { "Old codes become invalid." } " The next page shows the new ones." } }
        form .record method="post" action={ (PATH) "/recovery-codes" } {
            (layout::csrf_input(request))
            (field("code", "Code of the app, or a recovery code", "text", "one-time-code", problem))
            (field("password", "Password", "password", "current-password", problem))
            div .buttons { button .primary { "Create new codes" } a .button href=(ACCOUNT) { "Cancel" } }
        }
    };
    let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    layout::page_with_status(request, status, RENEW, &content)
}

async fn renew(http_request: &Request, request: &PanelRequest<'_>, codes: i64, form: &[Pair]) -> Result<Response> {
    let sent = |name: &str| form_value(form, name).unwrap_or_default();
    if verify_password(http_request, request, sent("password")).await?.is_none() {
        return Ok(renew_page(request, codes, Some(("password", WRONG_PASSWORD))));
    }
    match second_factor::renew_recovery_codes(&request.context(), &request.user, sent("code")).await? {
        Confirmed::Added(codes) => {
            forget_attempts(request.state, http_request, &request.user.email);
            Ok(recovery_codes_page(request, "Your old codes are invalid.", &codes))
        }
        Confirmed::WrongCode => Ok(renew_page(request, codes, Some(("code", "is incorrect")))),
        Confirmed::Outdated => Ok(redirect(ACCOUNT)),
    }
}

async fn turn_off_page(request: &PanelRequest<'_>, codes: i64, problem: Option<Problem>) -> Result<Response> {
    let others_end = own_sessions::others_end(request).await?;
    let content = html! {
        (layout::header(&[(ACCOUNT.into(), "Your account".into())], &html! { (TURN_OFF) "?" }, &html! {}))
        div .notice { p { strong { "From then on, your password alone signs in." } " " (unused(codes)) " They become invalid. " (others_end) } }
        form .record method="post" action={ (PATH) "/turn-off" } {
            (layout::csrf_input(request))
            (field("password", "Password", "password", "current-password", problem))
            div .buttons { button .danger { "Turn off" } a .button href=(ACCOUNT) { "Cancel" } }
        }
    };
    let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(layout::page_with_status(request, status, TURN_OFF, &content))
}

async fn turn_off(http_request: &Request, request: &PanelRequest<'_>, codes: i64, form: &[Pair]) -> Result<Response> {
    let password = form_value(form, "password").unwrap_or_default();
    if verify_password(http_request, request, password).await?.is_none() {
        return turn_off_page(request, codes, Some(("password", WRONG_PASSWORD))).await;
    }
    second_factor::turn_off(&request.context(), &request.user).await?;
    forget_attempts(request.state, http_request, &request.user.email);
    Ok(Flash::Done.redirect(ACCOUNT))
}

/// Verifies the user's password, counted like an attempt to sign in.
pub(super) async fn verify_password(
    http_request: &Request,
    request: &PanelRequest<'_>,
    password: &str,
) -> Result<Option<Password>> {
    let (state, user) = (request.state, &request.user);
    admit_attempt(state, http_request, &user.email).await?;
    let found = password::find(state, &user.email, password).await?;
    Ok(found.filter(|found| Some(found.user_id) == user.principal.user_id))
}
