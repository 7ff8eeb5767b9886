//! The user's own sessions on the account page: listed, and ended after a question.

use chrono::{DateTime, Utc};
use maud::{Markup, html};

use super::account_page::{self, PATH, question};
use super::browser_name;
use super::flash::Flash;
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
    let count = |count: usize| if count == 1 { "1 session".into() } else { format!("{count} sessions") };
    let stays = sessions.len() - ending.len();
    let title = format!("End {}?", count(ending.len()));
    let consequences = html! {
        p { strong { (count(ending.len())) " will end" } ", and " (count(stays)) @if stays == 1 { " stays" } @else { " stay" } ", including this one. \
            The browsers of ended sessions have to sign in again." }
        ul { @for session in ending { li { (browser_name::describe(session.user_agent.as_deref())) ", " (session.address.as_deref().unwrap_or("unknown address"))
            ", last used " (time(request, session.last_used_at)) } } }
    };
    Ok(question(request, &title, &title.replace('?', ""), &consequences))
}

/// The card of the sessions.
pub(super) async fn render(request: &PanelRequest<'_>) -> Result<Markup> {
    let sessions = own_sessions::list(request.state, &request.user).await?;
    Ok(html! {
        section .card {
            div .card-head { h2 { "Sessions " span .count { (sessions.len()) } }
                @if sessions.len() > 1 { a .button.small href={ (PATH) "/sessions/end-others" } { "End all others…" } } }
            div .scroll tabindex="0" role="region" aria-label="Sessions" { table {
                thead { tr { th scope="col" { "Browser" } th scope="col" { "Signed in from" } th scope="col" { "Signed in" } th scope="col" { "Last used" } th scope="col" { span .hidden { "Actions" } } } }
                tbody { @for session in &sessions { tr {
                    td { (browser_name::describe(session.user_agent.as_deref())) }
                    td { (session.address.as_deref().unwrap_or("Unknown address")) }
                    td { (time(request, session.created_at)) }
                    td { (time(request, session.last_used_at)) }
                    td { @if session.is_current { span .tag.good { "This session" } } @else {
                        a href={ (PATH) "/sessions/" (session.id) "/end" } aria-label={ "End the session of " (browser_name::describe(session.user_agent.as_deref())) } { "End…" } } }
                } } }
            } }
        }
    })
}

/// The effect of a new password or second factor on the other sessions of the user.
pub(super) async fn others_end(request: &PanelRequest<'_>) -> Result<String> {
    let others = own_sessions::list(request.state, &request.user).await?.iter().filter(|one| !one.is_current).count();
    Ok(match others {
        0 => "You have no other sessions.".into(),
        1 => "Your other session ends.".into(),
        others => format!("Your {others} other sessions end."),
    })
}

fn time(request: &PanelRequest<'_>, time: DateTime<Utc>) -> Markup {
    account_page::time(request, &time.to_rfc3339())
}
