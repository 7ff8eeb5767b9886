//! Navigation: the search, the lists and pages by the heading of their `menu`, and what belongs to the user.

use maud::{Markup, html};

use super::format::labels;
use super::layout::csrf_input;
use super::request::PanelRequest;
use super::{brand, extension};
use crate::language::{label, text};
use charter_core::catalog::Entry;
use charter_core::meta::Operation;
use charter_core::ops::search::SEARCH;

/// The heading of the platform's resources and of singletons without a `menu`. It comes last.
const ADMINISTRATION: &str = "Administration";

/// Links under one heading.
pub(super) struct Menu {
    /// Empty for the first one.
    pub heading: String,
    pub links: Vec<Link>,
}

/// A list, a singleton or a page of the application.
pub(super) struct Link {
    pub path: String,
    pub label: String,
    /// The noun of a record that the user may create in the list.
    pub creates: Option<String>,
}

/// The heading of a resource.
fn heading_of(entry: &Entry) -> &'static str {
    match entry.meta.menu {
        "" if entry.meta.singleton => ADMINISTRATION,
        menu => menu,
    }
}

/// Returns true for a resource that is listed under "Administration".
pub(super) fn is_administration(entry: &Entry) -> bool {
    heading_of(entry) == ADMINISTRATION
}

/// The links that the user may follow: those without a heading, then the headings in the order of their first link.
pub(super) fn menus(request: &PanelRequest<'_>) -> Vec<Menu> {
    let is_shown = |entry: &&Entry| {
        let listed = entry.is_listed() && entry.meta.under.is_none() && !entry.is_attached();
        (listed || entry.meta.singleton) && request.may_read(entry)
    };
    let of_resources = request.state.catalog.entries().iter().filter(is_shown).map(|entry| {
        let creates = request.may(entry, Operation::Create).then(|| labels::singular(entry.meta));
        let link = Link { path: format!("/{}", entry.meta.path), label: labels::plural(entry.meta), creates };
        (heading_of(entry), link)
    });
    let of_application = extension::pages(request)
        .map(|page| (page.menu, Link { path: extension::path_of(page), label: label(page.title), creates: None }));
    let mut menus: Vec<(&str, Vec<Link>)> = vec![("", Vec::new())];
    for (heading, link) in of_resources.chain(of_application) {
        match menus.iter_mut().find(|(known, _)| *known == heading) {
            Some((_, links)) => links.push(link),
            None => menus.push((heading, vec![link])),
        }
    }
    menus.sort_by_key(|(heading, _)| *heading == ADMINISTRATION);
    let menu = |(heading, links)| Menu { heading: label(heading), links };
    menus.into_iter().filter(|(_, links)| !links.is_empty()).map(menu).collect()
}

pub(super) fn render(request: &PanelRequest<'_>) -> Markup {
    let path = format!("/{}", request.raw.segments.first().map(String::as_str).unwrap_or_default());
    let is_current = |link: &Link| link.path == path || link.path == request.raw.path;
    let current = |is_current: bool| is_current.then_some("page");
    html! {
        nav .side aria-label=(text!("Main")) {
            a .brand href="/" aria-current=[current(path == "/")] {
                (brand::mark(request.state)) span { (request.state.name_for_people()) }
            }
            // A script opens a dialog instead of the page.
            a .find href={ "/" (SEARCH) } aria-current=[current(path.trim_start_matches('/') == SEARCH)] aria-keyshortcuts="Control+K Meta+K" data-search {
                span { (text!("Search")) } kbd aria-hidden="true" { (text!("Ctrl K")) }
            }
            // A popover on narrow screens; the style sheet shows it permanently on wide ones.
            button .opens type="button" popovertarget="links" { (text!("Menu")) }
            div .links #links popover {
                @for menu in menus(request) {
                    @if !menu.heading.is_empty() { h2 { (menu.heading) } }
                    ul { @for link in &menu.links {
                        li { a href=(link.path) aria-current=[current(is_current(link))] data-create=[&link.creates] { (link.label) } }
                    } }
                }
            }
            div .me {
                details {
                    summary { span .who { (request.user.name) } }
                    p .faint { (request.user.email) }
                    ul {
                        li { a href="/panel/account" { (text!("Your account")) } }
                        li { a href="/panel/password" { (text!("Change password")) } }
                        li { a href="/docs" { (text!("API reference")) } }
                        li { button type="button" .plain data-keys { (text!("Keyboard shortcuts")) } }
                    }
                    form method="post" action="/panel/theme" .themes {
                        (csrf_input(request))
                        input type="hidden" name="back" value=(request.raw.path_and_query());
                        @for (value, label) in [("auto", text!("Auto")), ("light", text!("Light")), ("dark", text!("Dark"))] {
                            @let pressed = request.raw.theme.unwrap_or("auto") == value;
                            button name="theme" value=(value) aria-pressed=(pressed) { (label) }
                        }
                    }
                    form method="post" action="/panel/sign-out" { (csrf_input(request)) button .wide { (text!("Sign out")) } }
                }
            }
        }
    }
}
