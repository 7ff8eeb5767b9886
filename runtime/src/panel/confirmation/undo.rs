//! "Undo" in the notice of a soft deletion or a bulk change: a form with a sealed offer, which names the requests to
//! undo and is valid in the session that it was made in.

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use maud::{Markup, html};
use salvo::Request;
use serde::{Deserialize, Serialize};

use crate::language::{html_text, message, text};
use crate::panel::display_name;
use crate::panel::format::labels;
use crate::panel::layout;
use crate::panel::request::{PanelRequest, form_value, path_segments, read_form, return_path};
use crate::panel::session::flash::Flash;
use crate::panel::target::Target;
use crate::server::Response;
use charter_core::crypto::aead;
use charter_core::error::{Error, Result};
use charter_core::ops::write::undo::{self, MAX_RECORDS, Requests, Undone};
use charter_core::query::Pair;

/// Purpose of the encryption key.
const PURPOSE: &str = "panel undo";
/// How long a change can be undone.
const LIFETIME: TimeDelta = TimeDelta::hours(1);
/// Characters of the text, which a cookie holds.
const MAX_TEXT_CHARS: usize = 120;
/// Requests of one offer, each with its id.
pub(in crate::panel) const MAX_REQUESTS: usize = 20;

/// The requests that a form with the button "Undo" undoes.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::panel) struct Offer {
    session: String,
    /// Seconds since 1970.
    until: i64,
    since: i64,
    /// The path of the collection.
    collection: String,
    /// The ids of the requests.
    requests: Vec<String>,
    text: String,
}

/// The time from which the audit log is read, to the second like its entries.
pub(in crate::panel) fn now(request: &PanelRequest<'_>) -> DateTime<Utc> {
    request.state.clock.now().trunc_subsecs(0)
}

/// Seals an offer for requests that changed `count` records since a time; `None` for too many, and if no request has
/// an id.
///
/// # Errors
/// When the operating system has no randomness.
pub(in crate::panel) fn seal(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
    (requests, since): (&[String], DateTime<Utc>),
    count: i64,
    text: &str,
) -> Result<Option<String>> {
    let fits = (1..=MAX_RECORDS as i64).contains(&count) && (1..=MAX_REQUESTS).contains(&requests.len());
    if !fits {
        return Ok(None);
    }
    let offer = Offer {
        session: request.user.session_key(),
        until: (request.state.clock.now() + LIFETIME).timestamp(),
        since: since.timestamp(),
        collection: target.collection(),
        requests: requests.to_vec(),
        text: text.chars().take(MAX_TEXT_CHARS).collect(),
    };
    let json = serde_json::to_string(&offer).map_err(Error::internal)?;
    aead::encrypt(request.state.secret_key.as_str(), PURPOSE, &json).map(Some)
}

/// `None` if an offer was changed, has expired, or is of another session.
fn open(request: &PanelRequest<'_>, sealed: &str) -> Option<Offer> {
    let json = aead::decrypt(request.state.secret_key.as_str(), PURPOSE, sealed)?;
    let offer: Offer = serde_json::from_str(&json).ok()?;
    let is_valid = offer.until > request.state.clock.now().timestamp() && offer.session == request.user.session_key();
    is_valid.then_some(offer)
}

/// The notice of the last request with its button, above the content of the next page.
pub(in crate::panel) fn notice(request: &PanelRequest<'_>) -> Markup {
    let sealed = request.raw.undo.as_deref();
    let Some((offer, sealed)) = sealed.and_then(|sealed| Some((open(request, sealed)?, sealed))) else {
        return Markup::default();
    };
    html! { div .notice.done { p { (offer.text) } (button(request, sealed, &request.raw.path_and_query())) } }
}

/// The button "Undo". `back` is the page after it.
pub(in crate::panel) fn button(request: &PanelRequest<'_>, sealed: &str, back: &str) -> Markup {
    html! {
        form .one method="post" action="/panel/undo" {
            (layout::csrf_input(request))
            input type="hidden" name="_undo" value=(sealed);
            input type="hidden" name="_back" value=(back);
            button { (text!("Undo")) }
        }
    }
}

/// Undoes what an offer names, and says how many records were changed back.
///
/// # Errors
/// [`Error::Conflict`] if the offer is no longer valid.
pub(in crate::panel) async fn run(http_request: &mut Request, request: &PanelRequest<'_>) -> Result<Response> {
    let form = read_form(http_request).await?;
    request.require_csrf_token(&form)?;
    let offer = form_value(&form, "_undo").and_then(|sealed| open(request, sealed));
    let offer = offer.ok_or_else(|| Error::Conflict(text!("This can no longer be undone.")))?;
    let segments = path_segments(&offer.collection)?;
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    let (target, _) = Target::resolve(&request.state.catalog, &segments).ok_or(Error::NotFound)?;
    let since = DateTime::from_timestamp(offer.since, 0).unwrap_or_default();
    let requests = Requests { ids: &offer.requests, since };
    let undone = undo::undo(&request.context(), target.entry, requests).await?;
    if let (1, true, true) = (undone.done.len(), undone.changed_since.is_empty(), undone.rejected.is_empty()) {
        return Ok(Flash::Undone.redirect(return_path(&form).unwrap_or(&offer.collection)));
    }
    Ok(result_page(request, &target, &undone, &form))
}

fn result_page(request: &PanelRequest<'_>, target: &Target<'_>, undone: &Undone, form: &[Pair]) -> Response {
    let (meta, numbers) = (target.entry.meta, &request.locale.numbers);
    let numbers_of = |records: usize| i64::try_from(records).unwrap_or(i64::MAX);
    let remaining = undone.changed_since.len() + undone.rejected.len();
    let title = if undone.done.is_empty() { text!("Nothing was undone") } else { text!("Undone") };
    let link = |id: &i64| html! { a href=(target.record(*id).path()) { (display_name::unnamed(meta, *id)) } };
    let (done, remaining) = (numbers_of(undone.done.len()), numbers_of(remaining));
    let content = html! {
        (layout::header(&[(target.collection(), labels::plural(meta))], &html! { (title) }, &html! {}))
        div .notice role="status" {
            p { (set_back(&numbers.records(meta, done), done)) }
            @if remaining > 0 { p { (not_set_back(&numbers.records(meta, remaining), remaining)) } }
        }
        @if remaining > 0 {
            div .problem role="alert" { ul {
                @for id in &undone.changed_since { li { (html_text!("{record}: changed again since, and left as it is", record = link(id))) } }
                @for (id, error) in &undone.rejected { li { (link(id)) ": " (reason(target, error)) } }
            } }
        }
        p { a .button.primary href=(return_path(form).unwrap_or(&target.collection())) { (text!("Back to the list")) } }
    };
    layout::page(request, &title, &content)
}

fn set_back(records: &str, count: i64) -> String {
    match count {
        1 => text!("{records} was set back.", records = records),
        _ => text!("{records} were set back.", records = records),
    }
}

fn not_set_back(records: &str, count: i64) -> String {
    match count {
        1 => text!("{records} was not.", records = records),
        _ => text!("{records} were not.", records = records),
    }
}

/// An error in the words of the panel.
fn reason(target: &Target<'_>, error: &Error) -> String {
    let fields = labels::field_problems(target.entry.meta, &error.body("-")["errors"]);
    if fields.is_empty() { message(&error.message("-")) } else { fields.join("; ") }
}
