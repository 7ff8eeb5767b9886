//! Signing in and out, the link by which a password is set, and what becomes of a form when nobody is signed in.

use std::sync::Arc;

use maud::{Markup, html};
use salvo::Request;
use salvo::http::StatusCode;

use super::place::Place;
use super::said::Said;
use super::token::Token;
use super::visit::{Asked, Visit, field, is_ours, read_form_within, same_site, sent_back};
use super::{Panel, cookie, form as forms, page, see, visit, words};
use crate::auth::session::Found;
use crate::auth::{SignedIn, invitation, password, session};
use crate::context::State;
use crate::error::{Error, Result};
use crate::header;
use crate::query::{Pair, decode};
use crate::server::{Answer, origin};

/// What is said beside the form that was sent while nobody was signed in.
const KEPT: &str = "You are signed out. What you have written is kept: sign in to go on.";

/// The same where it could not be kept.
const TOO_LONG: &str = "You are signed out, and what you have written is too long to be kept on the way. Sign in in another tab, \
                        go back in this one, and send it again.";

/// Anybody may send these forms: what is kept of one that was sent while nobody was signed in, and the one to sign in by, in which that
/// stands as an address does, in bytes.
const LONGEST_DRAFT: usize = 64 << 10;
const LONGEST_OUTSIDE: usize = 1 << 20;

/// Characters of a user's address.
const LONGEST_EMAIL: usize = 255;

/// The pages for whoever is not signed in. Nothing for other paths.
pub async fn outside(
    panel: &Panel,
    state: &Arc<State>,
    request: &mut Request,
    asked: &Asked,
    rest: &[&str],
    found: Option<&Found>,
) -> Result<Option<Answer>> {
    let post = request.method().as_str() == "POST";
    if post && matches!(rest, ["sign-in"] | ["invitation", _]) {
        same_site(state, request)?;
    }
    Ok(Some(match (post, rest) {
        (false, ["sign-in"]) if found.is_some() => see(&target(asked)),
        (false, ["sign-in"]) => entrance(state, asked, StatusCode::OK, &Entrance::to(target(asked))),
        (true, ["sign-in"]) => sign_in(panel, state, request, asked).await?,
        (false, ["invitation", secret]) => invited(state, asked, secret, None).await?,
        (true, ["invitation", secret]) => {
            count(state, request, None)?;
            let form = read_form_within(LONGEST_OUTSIDE, request).await?;
            accept(state, asked, secret, &form).await?
        }
        _ => return Ok(None),
    }))
}

/// Leads whoever is not signed in to where that is done; a form that was sent is kept on the way.
pub async fn needed(state: &Arc<State>, request: &mut Request, asked: &Asked) -> Result<Answer> {
    if !asked.is_page || asked.segments.first().is_some_and(|first| first == super::ROOT) {
        return if asked.is_page { Ok(see("/panel/sign-in")) } else { Err(Error::Unauthenticated) };
    }
    if request.method().as_str() != "POST" {
        let to = asked.address();
        let path = if to == "/" { String::new() } else { format!("?to={}", words::escape(&to)) };
        return Ok(see(&format!("/panel/sign-in{path}")));
    }
    same_site(state, request)?;
    let draft = match read_form_within(LONGEST_DRAFT, request).await {
        Ok(form) => {
            let kept = form.iter().filter(|pair| pair.name != "_token");
            let draft = super::condition::address("", &kept.cloned().collect::<Vec<_>>());
            Some(draft.trim_start_matches('?').to_string())
        }
        Err(Error::PayloadTooLarge(_)) => None,
        Err(error) => return Err(error),
    };
    let said = if draft.is_some() { KEPT } else { TOO_LONG };
    let entrance_of = Entrance {
        draft,
        said: is_written(state, &asked.path).then(|| said.into()),
        ..Entrance::to(asked.path.clone())
    };
    Ok(entrance(state, asked, StatusCode::UNAUTHORIZED, &entrance_of))
}

/// Whether what is sent there was written, and not only pressed.
fn is_written(state: &State, path: &str) -> bool {
    let segments = visit::segments(path).unwrap_or_default();
    let parts: Vec<&str> = segments.iter().map(String::as_str).collect();
    Place::find(&state.catalog, &parts).is_some_and(|(_, rest)| rest.is_empty())
}

/// Where to go once signed in: a page of ours.
fn target(asked: &Asked) -> String {
    let pairs = decode(&asked.query).unwrap_or_default();
    let to = pairs.into_iter().find(|pair| pair.name == "to").map(|pair| pair.value);
    to.filter(|to| is_ours(to)).unwrap_or_else(|| "/".into())
}

/// The form to sign in by.
#[derive(Default)]
struct Entrance {
    to: String,
    email: String,
    draft: Option<String>,
    said: Option<String>,
    problem: Option<String>,
}

impl Entrance {
    fn to(to: String) -> Entrance {
        Entrance { to, ..Entrance::default() }
    }
}

fn entrance(state: &State, asked: &Asked, status: StatusCode, entrance: &Entrance) -> Answer {
    let content = html! {
        (page::mark())
        h1 { "Sign in to " (state.name_for_people()) }
        @if let Some(said) = &entrance.said { div .notice role="status" { p { (said) } } }
        @if let Some(problem) = &entrance.problem { div .problem role="alert" { p { (problem) } } }
        form method="post" action="/panel/sign-in" {
            input type="hidden" name="to" value=(entrance.to);
            @if let Some(draft) = &entrance.draft { input type="hidden" name="draft" value=(draft); }
            div .field { label for="email" { "Email" }
                input #email type="email" name="email" value=(entrance.email) required autocomplete="username" autofocus[entrance.email.is_empty()]; }
            div .field { label for="password" { "Password" }
                input #password type="password" name="password" required autocomplete="current-password" autofocus[!entrance.email.is_empty()]; }
            button .primary.wide { "Sign in" }
        }
        p .faint { "No password yet, or forgotten? An administrator sends a link: “Invite” on your user’s page, or " code { (state.name) " user invite" } "." }
    };
    page::bare(state, asked.theme, status, "Sign in", &content)
}

/// Refuses who tries too often, from one address: for one account less often than for all together. Others who try the same
/// account from elsewhere do not keep its owner out, until they are very many: what is refused counts no further, so that one
/// address alone never is.
fn count(state: &State, request: &Request, account: Option<&str>) -> Result<()> {
    let address = origin(request, &state.config.trusted_proxies);
    let limits = &state.sign_ins;
    limits.addresses.admit(address)?;
    if let Some(account) = account.map(str::to_lowercase) {
        limits.accounts_from_addresses.admit((account.clone(), address))?;
        limits.accounts.admit(account)?;
    }
    Ok(())
}

async fn sign_in(panel: &Panel, state: &Arc<State>, request: &mut Request, asked: &Asked) -> Result<Answer> {
    let form = read_form_within(LONGEST_OUTSIDE, request).await?;
    let sent = |name: &str| field(&form, name).map(String::from);
    let email = sent("email").unwrap_or_default();
    // No account has a longer address, or one with a character that PostgreSQL does not take.
    let known = email.trim().chars().count() <= LONGEST_EMAIL && !email.contains('\0');
    let to = sent("to").filter(|to| is_ours(to)).unwrap_or_else(|| "/".into());
    let draft = sent("draft").filter(|draft| !draft.is_empty());
    let said = (draft.is_some() && is_written(state, &to)).then(|| KEPT.to_string());
    if let Err(refused) = count(state, request, known.then(|| email.trim())) {
        // What was written is kept for when one may try again.
        let problem = Some(refused.message(""));
        let again = entrance(state, asked, refused.status(), &Entrance { to, email, draft, said, problem });
        return Ok(match refused {
            Error::RateLimited(seconds) => again.with_text(header::RETRY_AFTER, &seconds.to_string()),
            _ => again,
        });
    }
    let found = match known {
        true => password::find(state, &email, &sent("password").unwrap_or_default()).await?,
        false => None,
    };
    // A secret of its own for each session: one that somebody put into the browser before leads nowhere.
    let begun = match found {
        Some(password) => session::begin(state, &password).await?,
        None => None,
    };
    let Some(secret) = begun else {
        let problem = Some("The address or the password is not right.".into());
        let again = Entrance { to, email, draft, said, problem };
        return Ok(entrance(state, asked, StatusCode::UNPROCESSABLE_ENTITY, &again));
    };
    let cookie = cookie::session(state, &secret);
    if let Some(draft) = draft
        && let Some(answer) = resume(panel, state, asked, &secret, &to, &draft).await?
    {
        return Ok(answer.with_text(cookie::SET, &cookie));
    }
    Ok(see(&to).with_text(cookie::SET, &cookie))
}

/// The form that was sent while nobody was signed in, filled in again.
async fn resume(
    panel: &Panel,
    state: &Arc<State>,
    asked: &Asked,
    secret: &str,
    to: &str,
    draft: &str,
) -> Result<Option<Answer>> {
    let Some(found) = session::find(state, secret, true).await? else { return Ok(None) };
    let Ok(segments) = visit::segments(to) else { return Ok(None) };
    let parts: Vec<&str> = segments.iter().map(String::as_str).collect();
    let Some((place, rest)) = Place::find(&state.catalog, &parts) else { return Ok(None) };
    if !rest.is_empty() {
        // What was pressed, and not written: it is to be pressed again, where it was.
        let form = decode(draft)?;
        return Ok(Some(Said::Stale.at(sent_back(&form).unwrap_or(&place.path()))));
    }
    let asked = Asked {
        path: to.to_string(),
        query: String::new(),
        session: Some(secret.to_string()),
        segments: segments.clone(),
        theme: asked.theme,
        is_page: true,
        ..Asked::default()
    };
    let visit = Visit::new(panel, state, asked, found.user).await?;
    forms::again(&visit, &place, &decode(draft)?, Some(kept()), StatusCode::OK).await.map(Some)
}

fn kept() -> Markup {
    html! { p { strong { "You were signed out meanwhile." } " Nothing is lost: look at the form, and save it again." } }
}

/// A form of a page that this browser was shown in another session: nothing of it is carried out, and what was written is
/// shown again with the token of this one. What was pressed, and not written, is to be pressed again.
///
/// # Errors
/// [`Error::Conflict`] when it is no form of ours, and what the form needs of the API.
pub async fn stale(visit: &Visit<'_>, place: &Place<'_>, rest: &[&str], form: &[Pair]) -> Result<Answer> {
    let Err(refusal) = visit.need_token(form) else { return Err(Error::NotFound) };
    let of_ours = field(form, "_token").is_some_and(Token::is_one);
    match rest {
        _ if !of_ours || !visit.asked.is_page => Err(refusal),
        [] => forms::again(visit, place, form, Some(kept()), StatusCode::CONFLICT).await,
        _ => Ok(Said::Stale.at(&place.path())),
    }
}

async fn invited(state: &State, asked: &Asked, secret: &str, problem: Option<String>) -> Result<Answer> {
    let Some((_, name, email)) = invitation::find(state, secret).await? else { return Ok(over(state, asked)) };
    let content = html! {
        (page::mark())
        h1 { "Welcome, " (name) }
        p { "Choose a password for " strong { (email) } "." }
        form method="post" action={ "/panel/invitation/" (secret) } { (new_password(&email, problem.as_deref())) button .primary.wide { "Set the password and sign in" } }
    };
    let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(page::bare(state, asked.theme, status, "Choose a password", &content))
}

fn new_password(email: &str, problem: Option<&str>) -> Markup {
    let least = password::CHARACTERS.start();
    html! {
        input type="text" name="username" value=(email) autocomplete="username" hidden;
        div .field .invalid[problem.is_some()] { label for="password" { "New password" }
            input #password type="password" name="password" required minlength=(least) autocomplete="new-password" aria-describedby="password-help" aria-invalid=[problem.map(|_| "true")];
            @if let Some(problem) = problem { p .error { "Password " (problem) } }
            p .help #password-help { "At least " (least) " characters. Several words are easy to remember and hard to guess." } }
    }
}

fn over(state: &State, asked: &Asked) -> Answer {
    let content = html! {
        (page::mark())
        h1 { "This link is over" }
        p { "It works once, and for a week. Ask an administrator for another one." }
        p { a .button href="/panel/sign-in" { "Sign in" } }
    };
    page::bare(state, asked.theme, StatusCode::GONE, "This link is over", &content)
}

async fn accept(state: &Arc<State>, asked: &Asked, secret: &str, form: &[Pair]) -> Result<Answer> {
    match invitation::accept(state, secret, field(form, "password").unwrap_or_default()).await {
        Ok(Some(session)) => Ok(see("/").with_text(cookie::SET, &cookie::session(state, &session))),
        Ok(None) => Ok(over(state, asked)),
        Err(Error::Invalid(errors)) => invited(state, asked, secret, Some(errors.messages("password"))).await,
        Err(error) => Err(error),
    }
}

/// What belongs to no resource, for who is signed in: the theme, the password, the way out.
pub async fn inside(request: &mut Request, visit: &Visit<'_>, rest: &[&str]) -> Result<Answer> {
    let post = request.method().as_str() == "POST";
    let form = if post { visit.form(request).await? } else { Vec::new() };
    if post {
        visit.need_token(&form)?;
    }
    let sent = |name: &str| field(&form, name);
    match (post, rest) {
        (true, ["sign-out"]) => {
            session::end(visit.state, &visit.user).await?;
            Ok(see("/panel/sign-in").with_text(cookie::SET, &cookie::no_session(visit.state)))
        }
        (true, ["theme"]) => {
            let back = sent("back").filter(|back| is_ours(back)).unwrap_or("/");
            Ok(see(back).with_text(cookie::SET, &cookie::theme(sent("theme").unwrap_or_default())))
        }
        (false, ["password"]) => Ok(change(visit, None)),
        (true, ["password"]) => {
            count(visit.state, request, Some(&visit.user.email))?;
            let user = &visit.user;
            let old = password::find(visit.state, &user.email, sent("old").unwrap_or_default()).await?;
            let wrong = || change(visit, Some(("old", "is not right".into())));
            let Some(old) = old.filter(|old| Some(old.user_id) == user.principal.user_id) else { return Ok(wrong()) };
            match password::change(visit.state, &old, sent("password").unwrap_or_default()).await {
                Ok(Some(secret)) => {
                    Ok(Said::Saved.with(see("/").with_text(cookie::SET, &cookie::session(visit.state, &secret))))
                }
                Ok(None) => Ok(wrong()),
                Err(Error::Invalid(errors)) => Ok(change(visit, Some(("password", errors.messages("password"))))),
                Err(error) => Err(error),
            }
        }
        _ => Err(Error::NotFound),
    }
}

fn change(visit: &Visit<'_>, problem: Option<(&str, String)>) -> Answer {
    let user: &SignedIn = &visit.user;
    let of = |field: &str| problem.as_ref().filter(|(known, _)| *known == field).map(|(_, said)| said.as_str());
    let content = html! {
        (page::head(&[], &html! { "Change your password" }, &html! {}))
        form .record method="post" action="/panel/password" {
            (page::token(visit))
            div .field .invalid[of("old").is_some()] { label for="old" { "Current password" }
                input #old type="password" name="old" required autocomplete="current-password";
                @if let Some(said) = of("old") { p .error { "The current password " (said) } } }
            (new_password(&user.email, of("password")))
            p .help { "Every other session of yours ends." }
            div .buttons { button .primary { "Change" } a .button href="/" { "Cancel" } }
        }
    };
    let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    page::with_status(visit, status, "Change your password", &content)
}
