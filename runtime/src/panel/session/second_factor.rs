//! Pages of one's own second factor: set up with a first code, its recovery codes and new ones, and turned off with the
//! password.

use maud::{Markup, html};
use salvo::Request;
use salvo::http::StatusCode;

use super::account_page::{PATH as ACCOUNT, trail};
use super::flash::Flash;
use super::own_sessions;
use super::qr_code;
use super::sign_in::{admit_attempt, forget_attempts};
use crate::language::text;
use crate::panel::request::{PanelRequest, form_value};
use crate::panel::{layout, redirect};
use crate::server::Response;
use charter_core::error::{Error, Result};
use charter_core::query::Pair;
use charter_platform::auth::password::{self, Password};
use charter_platform::auth::second_factor::{self, Confirmed, Offer};

const PATH: &str = "/panel/account/second-factor";

/// A value of a form that is refused.
#[derive(Clone, Copy)]
pub(super) enum Problem {
    Password,
    Code,
    /// The first code of an app.
    FirstCode,
}

impl Problem {
    fn field(self) -> &'static str {
        match self {
            Problem::Password => "password",
            Problem::Code | Problem::FirstCode => "code",
        }
    }

    /// The message, which follows the label of the field.
    fn message(self) -> String {
        match self {
            Problem::Password | Problem::Code => text!("is incorrect"),
            Problem::FirstCode => text!("is incorrect: check the clock of the device"),
        }
    }
}

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
            div .card-head { h2 { (text!("Second factor")) } @if codes.is_some() { span .tag.good { (text!("On")) } } }
            @match codes {
                Some(codes) => {
                    p { (text!("To sign in, you need a code of your authenticator app.")) " " (unused(codes)) }
                    div .buttons { a .button href={ (PATH) "/recovery-codes" } { (text!("New recovery codes…")) } a .button href={ (PATH) "/turn-off" } { (text!("Turn off…")) } }
                }
                None => {
                    p { (text!("With a second factor, your password alone does not sign in: an authenticator app on your phone shows a code as well.")) }
                    div .buttons { a .button href=(PATH) { (text!("Set up…")) } }
                }
            }
        }
    })
}

fn unused(codes: i64) -> String {
    match codes {
        0 => text!("No recovery code is left."),
        1 => text!("1 recovery code is left."),
        codes => text!("{count} recovery codes are left.", count = codes),
    }
}

fn new_offer(request: &PanelRequest<'_>) -> Result<Offer> {
    second_factor::offer(request.state, &request.user, &request.state.name_for_people())
}

async fn set_up_page(request: &PanelRequest<'_>, offer: &Offer, problem: Option<Problem>) -> Result<Response> {
    let others_end = own_sessions::others_end(request).await?;
    let groups: Vec<String> =
        offer.secret.as_bytes().chunks(4).map(|group| String::from_utf8_lossy(group).into()).collect();
    let title = text!("Set up a second factor");
    let content = html! {
        (layout::header(&trail(), &html! { (title) }, &html! {}))
        form .record method="post" action=(PATH) {
            (layout::csrf_input(request))
            input type="hidden" name="offer" value=(offer.sealed);
            fieldset .stacked {
                legend { (text!("1. Add the account to an authenticator app")) }
                (qr_code::render(&offer.uri, &text!("QR code for an authenticator app"))?)
                p { (text!("Scan the code, or enter this key:")) " " code .code { (groups.join(" ")) } }
                p { a href=(offer.uri) { (text!("Open an app on this device")) } }
            }
            fieldset {
                legend { (text!("2. Confirm")) }
                (field("code", &text!("Code of the app"), "text", "one-time-code", problem))
                (field("password", &text!("Password"), "password", "current-password", problem))
            }
            p .help { (others_end) " " (text!("The next page shows your recovery codes.")) }
            div .buttons { button .primary { (text!("Turn on")) } a .button href=(ACCOUNT) { (text!("Cancel")) } }
        }
    };
    let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(layout::page_with_status(request, status, &title, &content))
}

pub(super) fn field(name: &str, label: &str, kind: &str, autocomplete: &str, problem: Option<Problem>) -> Markup {
    let message = problem.filter(|problem| problem.field() == name).map(Problem::message);
    html! {
        div .field .invalid[message.is_some()] { label for=(name) { (label) }
            input id=(name) type=(kind) name=(name) required autocomplete=(autocomplete) aria-invalid=[message.is_some().then_some("true")];
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
        return set_up_page(request, &offer, Some(Problem::Password)).await;
    };
    match second_factor::confirm(&request.context(), &request.user, &password, &offer, sent("code")).await? {
        Confirmed::Added(codes) => {
            forget_attempts(request.state, http_request, &request.user.email);
            Ok(recovery_codes_page(request, &text!("The second factor is on."), &codes))
        }
        Confirmed::WrongCode => set_up_page(request, &offer, Some(Problem::FirstCode)).await,
        Confirmed::Outdated => Ok(redirect(ACCOUNT)),
    }
}

fn recovery_codes_page(request: &PanelRequest<'_>, outcome: &str, codes: &[String]) -> Response {
    let title = text!("Your recovery codes");
    let content = html! {
        (layout::header(&trail(), &html! { (title) }, &html! {}))
        div .notice { p { strong { (outcome) " " (text!("Store these {count} codes now: they are not shown again.", count = codes.len())) }
            " " (text!("Each signs you in once instead of a code of the app, for example if you lose your phone.")) } }
        section .card { ul .codes { @for code in codes { li { code .code { (code) } } } } }
        div .buttons { a .button.primary href=(ACCOUNT) { (text!("I have stored them")) } }
    };
    layout::page(request, &title, &content)
}

fn renew_page(request: &PanelRequest<'_>, codes: i64, problem: Option<Problem>) -> Response {
    let title = text!("New recovery codes");
    let content = html! {
        (layout::header(&trail(), &html! { (title) }, &html! {}))
        div .notice { p { (unused(codes)) " " strong { (text!("Old codes become invalid.")) } " " (text!("The next page shows the new ones.")) } }
        form .record method="post" action={ (PATH) "/recovery-codes" } {
            (layout::csrf_input(request))
            (field("code", &text!("Code of the app, or a recovery code"), "text", "one-time-code", problem))
            (field("password", &text!("Password"), "password", "current-password", problem))
            div .buttons { button .primary { (text!("Create new codes")) } a .button href=(ACCOUNT) { (text!("Cancel")) } }
        }
    };
    let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    layout::page_with_status(request, status, &title, &content)
}

async fn renew(http_request: &Request, request: &PanelRequest<'_>, codes: i64, form: &[Pair]) -> Result<Response> {
    let sent = |name: &str| form_value(form, name).unwrap_or_default();
    if verify_password(http_request, request, sent("password")).await?.is_none() {
        return Ok(renew_page(request, codes, Some(Problem::Password)));
    }
    match second_factor::renew_recovery_codes(&request.context(), &request.user, sent("code")).await? {
        Confirmed::Added(codes) => {
            forget_attempts(request.state, http_request, &request.user.email);
            Ok(recovery_codes_page(request, &text!("Your old codes are invalid."), &codes))
        }
        Confirmed::WrongCode => Ok(renew_page(request, codes, Some(Problem::Code))),
        Confirmed::Outdated => Ok(redirect(ACCOUNT)),
    }
}

async fn turn_off_page(request: &PanelRequest<'_>, codes: i64, problem: Option<Problem>) -> Result<Response> {
    let others_end = own_sessions::others_end(request).await?;
    let content = html! {
        (layout::header(&trail(), &html! { (text!("Turn off the second factor?")) }, &html! {}))
        div .notice { p { strong { (text!("From then on, your password alone signs in.")) } " " (unused(codes)) " " (text!("They become invalid.")) " " (others_end) } }
        form .record method="post" action={ (PATH) "/turn-off" } {
            (layout::csrf_input(request))
            (field("password", &text!("Password"), "password", "current-password", problem))
            div .buttons { button .danger { (text!("Turn off")) } a .button href=(ACCOUNT) { (text!("Cancel")) } }
        }
    };
    let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(layout::page_with_status(request, status, &text!("Turn off the second factor"), &content))
}

async fn turn_off(http_request: &Request, request: &PanelRequest<'_>, codes: i64, form: &[Pair]) -> Result<Response> {
    let password = form_value(form, "password").unwrap_or_default();
    if verify_password(http_request, request, password).await?.is_none() {
        return turn_off_page(request, codes, Some(Problem::Password)).await;
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
