//! What surrounds every page: its head, the navigation, and how errors look.

use std::sync::Arc;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use salvo::Request;
use salvo::http::StatusCode;

use super::visit::Visit;
use super::{asset, cookie, words};
use crate::catalog::Entry;
use crate::context::State;
use crate::error::Error;
use crate::server::Answer;

/// The platform's own resources, which stand together in the navigation with what there is one of.
const ADMINISTRATION: &[&str] = &["user", "role", "token", "webhook", "custom_field", "custom_view", "audit_entry"];

/// A page for a user who is signed in.
pub fn answer(visit: &Visit<'_>, title: &str, content: &Markup) -> Answer {
    with_status(visit, StatusCode::OK, title, content)
}

/// The same with another status.
pub fn with_status(visit: &Visit<'_>, status: StatusCode, title: &str, content: &Markup) -> Answer {
    let framed = Framed { theme: visit.asked.theme, title, name: &visit.state.name_for_people(), visit: Some(visit) };
    html_answer(status, document(&framed, content))
}

/// A page for whoever is not.
pub fn bare(state: &State, theme: Option<&str>, status: StatusCode, title: &str, content: &Markup) -> Answer {
    html_answer(status, document(&Framed { theme, title, name: &state.name_for_people(), visit: None }, content))
}

fn html_answer(status: StatusCode, page: Markup) -> Answer {
    Answer::page(status, page.0.into_bytes())
}

/// What a page says around its content.
struct Framed<'f> {
    theme: Option<&'f str>,
    title: &'f str,
    /// What the application is called.
    name: &'f str,
    /// Of whoever is signed in.
    visit: Option<&'f Visit<'f>>,
}

/// A whole page. The content, which is long, is copied once.
fn document(framed: &Framed<'_>, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" data-theme=[framed.theme] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                @if let Some(visit) = framed.visit {
                    meta name="panel-token" content=(visit.token.shown);
                    // A table whose last rows are not read yet would be drawn twice, in columns of other widths.
                    link rel="expect" href="#said" blocking="render";
                }
                title { (framed.title) " · " (framed.name) }
                link rel="icon" href=(asset::address("icon.svg"));
                link rel="stylesheet" href=(asset::address("panel.css"));
                script type="module" src=(asset::address("panel.js")) {}
            }
            body {
                @if let Some(visit) = framed.visit {
                    a .skip href="#main" { "Skip to the content" }
                    div .frame {
                        (navigation(visit))
                        main #main tabindex="-1" { (content) }
                    }
                    (keys())
                    div #said .said role="status" aria-live="polite" { @if let Some(said) = visit.asked.says { (said.text()) } }
                } @else { main #main .alone tabindex="-1" { (content) } }
            }
        }
    }
}

fn navigation(visit: &Visit<'_>) -> Markup {
    let shown = |entry: &&Entry| {
        let listed = entry.is_listed() && entry.meta.under.is_none() && !entry.is_attached();
        (listed || entry.meta.singleton) && visit.may_read(entry)
    };
    let (administration, records): (Vec<&Entry>, Vec<&Entry>) = visit
        .state
        .catalog
        .entries()
        .iter()
        .filter(shown)
        .partition(|entry| entry.meta.singleton || ADMINISTRATION.contains(&entry.meta.name));
    let here = visit.asked.segments.first().map(String::as_str).unwrap_or_default();
    let link = |entry: &Entry| {
        let current = (entry.meta.path == here).then_some("page");
        html! { li { a href={ "/" (entry.meta.path) } aria-current=[current] { (words::plural(entry.meta)) } } }
    };
    html! {
        nav .side aria-label="Main" {
            a .brand href="/" aria-current=[here.is_empty().then_some("page")] {
                (mark()) span { (visit.state.name_for_people()) }
            }
            // On a phone it is what the button opens, elsewhere it stands open: the style sheet knows which.
            button .opens type="button" popovertarget="links" { "Menu" }
            div .links #links popover {
                ul { @for entry in records { (link(entry)) } }
                @if !administration.is_empty() {
                    h2 { "Administration" }
                    ul { @for entry in administration { (link(entry)) } }
                }
            }
            div .me {
                details {
                    summary { span .who { (visit.user.name) } }
                    p .faint { (visit.user.email) }
                    ul {
                        li { a href="/panel/password" { "Change password" } }
                        li { a href="/docs" { "API reference" } }
                        li { button type="button" .plain data-keys { "Keyboard shortcuts" } }
                    }
                    form method="post" action="/panel/theme" .themes {
                        (token(visit))
                        input type="hidden" name="back" value=(visit.asked.address());
                        @for (value, label) in [("auto", "Auto"), ("light", "Light"), ("dark", "Dark")] {
                            @let pressed = visit.asked.theme.unwrap_or("auto") == value;
                            button name="theme" value=(value) aria-pressed=(pressed) { (label) }
                        }
                    }
                    form method="post" action="/panel/sign-out" { (token(visit)) button .wide { "Sign out" } }
                }
            }
        }
    }
}

/// The field that every form has.
pub fn token(visit: &Visit<'_>) -> Markup {
    html! { input type="hidden" name="_token" value=(visit.token.shown); }
}

/// The keys that work on every page, opened by `?`.
fn keys() -> Markup {
    let rows = [
        ("/", "Search this list"),
        ("j / k", "Next or previous row"),
        ("Enter", "Open the row"),
        ("x", "Select the row"),
        ("n", "New record"),
        ("e", "Edit this record"),
        ("f", "Open the filter"),
        ("[ / ]", "Previous or next page"),
        ("g then h", "Go to the overview"),
        ("Ctrl + Enter", "Save the form"),
        ("?", "This help"),
    ];
    html! {
        dialog #keys aria-labelledby="keys-title" {
            h2 #keys-title { "Keyboard shortcuts" }
            dl .keys { @for (key, what) in rows { div { dt { kbd { (key) } } dd { (what) } } } }
            form method="dialog" { button { "Close" } }
        }
    }
}

/// The panel's mark.
pub fn mark() -> Markup {
    PreEscaped(
        r#"<svg class="mark" viewBox="0 0 20 20" aria-hidden="true"><path d="M4 2h9l3 3v13H4z" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="M7 8h6M7 11h6M7 14h3" stroke="currentColor" stroke-width="1.6"/></svg>"#
            .into(),
    )
}

/// The head of a page: where it is, its title, and what can be done.
pub fn head(trail: &[(String, String)], title: &Markup, actions: &Markup) -> Markup {
    html! {
        header .head {
            @if !trail.is_empty() {
                nav .trail aria-label="Where this is" {
                    @for (index, (href, label)) in trail.iter().enumerate() {
                        @if index > 0 { span aria-hidden="true" { "/" } }
                        a href=(href) { (label) }
                    }
                }
            }
            div .headline { h1 { (title) } div .actions { (actions) } }
        }
    }
}

/// What the panel offers to nobody in this role, and somebody asked for.
pub fn not_permitted() -> Error {
    Error::Forbidden("Your roles do not allow this. An administrator can change that.".into())
}

/// What went wrong: in words and with a way on, or as the API tells its clients.
pub fn failed(state: &Arc<State>, request: &Request, error: &Error, is_page: bool) -> Answer {
    let request_id = crate::server::headers::request_id(request).unwrap_or_else(|| "-".into());
    if let Error::Internal(cause) = error {
        tracing::error!(%request_id, cause = cause.to_string(), "a page failed");
    }
    if !is_page {
        return Answer::error(error, &request_id);
    }
    let (title, said) = match error {
        Error::NotFound => ("Not found", "There is nothing here, or you may not see it.".to_string()),
        Error::Forbidden(_) | Error::PermissionMissing(_) | Error::AbilityMissing(_) | Error::AdministratorsOnly => {
            ("Not permitted", error.message(&request_id))
        }
        Error::RateLimited(_) => ("Too many attempts", error.message(&request_id)),
        Error::Internal(_) => ("It failed", error.message(&request_id)),
        _ => ("That did not work", error.message(&request_id)),
    };
    let content = html! {
        (mark())
        h1 { (title) }
        p { (said) }
        p { a .button href="/" { "To the overview" } }
    };
    bare(state, cookie::sent_theme(request.headers()), error.status(), title, &content)
}
