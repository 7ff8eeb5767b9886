//! The user's own sessions on the account page: listed, and ended after a question.

use chrono::{DateTime, Utc};
use maud::{Markup, html};

use super::account_page::{self, PATH, question};
use super::browser_name;
use super::flash::Flash;
use crate::language::{html_text, text};
use crate::panel::request::PanelRequest;
use crate::server::Response;
use charter_core::error::{Error, Result};
use charter_platform::auth::own_sessions::{self, Ended, OwnSession};

/// Handles the paths below `/panel/account/sessions`: a question with GET, its answer with POST.
pub(super) async fn handle(request: &PanelRequest<'_>, post: bool, rest: &[&str]) -> Result<Response> {
    let ended = match rest {
        ["end-others"] => Ended::Others,
        [id, "end"] => Ended::One(id.parse().map_err(|_| Error::NotFound)?),
        _ => return Err(Error::NotFound),
    };
    if post {
        own_sessions::end(&request.context(), &request.user, ended).await?;
        return Ok(Flash::Done.redirect(PATH));
    }
    let sessions = own_sessions::list(request.state, &request.user).await?;
    let ends =
        |session: &&OwnSession| !session.is_current && (ended == Ended::Others || ended == Ended::One(session.id));
    let ending: Vec<&OwnSession> = sessions.iter().filter(ends).collect();
    if ending.is_empty() && ended != Ended::Others {
        return Err(Error::NotFound);
    }
    let (count, stays) = (ending.len(), sessions.len() - ending.len());
    let (title, button, will_end) = match count {
        1 => (text!("End 1 session?"), text!("End 1 session"), text!("1 session will end")),
        _ => (
            text!("End {count} sessions?", count = count),
            text!("End {count} sessions", count = count),
            text!("{count} sessions will end", count = count),
        ),
    };
    let stay = match stays {
        1 => text!("1 session stays"),
        _ => text!("{count} sessions stay", count = stays),
    };
    let described = |session: &OwnSession| {
        html_text!(
            "{browser}, {address}, last used {time}",
            browser = browser_name::describe(session.user_agent.as_deref()),
            address = session.address.clone().unwrap_or_else(|| text!("unknown address")),
            time = time(request, session.last_used_at)
        )
    };
    let consequences = html! {
        p { (html_text!("{sessions_will_end}, and {sessions_stay}, including this one.", sessions_will_end = html! { strong { (will_end) } }, sessions_stay = stay))
            " " (text!("The browsers of ended sessions have to sign in again.")) }
        ul { @for session in ending { li { (described(session)) } } }
    };
    Ok(question(request, &title, &button, &consequences))
}

/// The card of the sessions.
pub(super) async fn render(request: &PanelRequest<'_>) -> Result<Markup> {
    let sessions = own_sessions::list(request.state, &request.user).await?;
    Ok(html! {
        section .card {
            div .card-head { h2 { (text!("Sessions")) " " span .count { (sessions.len()) } }
                @if sessions.len() > 1 { a .button.small href={ (PATH) "/sessions/end-others" } { (text!("End all others…")) } } }
            div .scroll tabindex="0" role="region" aria-label=(text!("Sessions")) { table {
                thead { tr { th scope="col" { (text!("Browser")) } th scope="col" { (text!("Signed in from")) } th scope="col" { (text!("Signed in")) } th scope="col" { (text!("Last used")) } th scope="col" { span .hidden { (text!("Actions")) } } } }
                tbody { @for session in &sessions { tr {
                    td { (browser_name::describe(session.user_agent.as_deref())) }
                    td { (session.address.clone().unwrap_or_else(|| text!("Unknown address"))) }
                    td { (time(request, session.created_at)) }
                    td { (time(request, session.last_used_at)) }
                    td { @if session.is_current { span .tag.good { (text!("This session")) } } @else {
                        a href={ (PATH) "/sessions/" (session.id) "/end" } aria-label=(text!("End the session of {browser}", browser = browser_name::describe(session.user_agent.as_deref()))) { (text!("End…")) } } }
                } } }
            } }
        }
    })
}

/// The effect of a new password or second factor on the other sessions of the user.
pub(super) async fn others_end(request: &PanelRequest<'_>) -> Result<String> {
    let others = own_sessions::list(request.state, &request.user).await?.iter().filter(|one| !one.is_current).count();
    Ok(match others {
        0 => text!("You have no other sessions."),
        1 => text!("Your other session ends."),
        others => text!("Your {count} other sessions end.", count = others),
    })
}

fn time(request: &PanelRequest<'_>, time: DateTime<Utc>) -> Markup {
    account_page::time(request, &time.to_rfc3339())
}
