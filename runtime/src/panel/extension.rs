//! Pages and cards of an application in the panel.
//!
//! They read through the API as the user, so that they show nothing that the user may not read.

use std::fmt;

use maud::{Markup, html};
use serde_json::Value;

use super::format::datetime;
use super::layout;
use super::request::PanelRequest;
use crate::language::{label, text};
use crate::server::{Response, ServerState};
use charter_core::error::{Error, Result};
use charter_core::ops::{BoxFuture, Context};

/// Renders the content of a page or a card.
pub type RenderPanel = for<'a> fn(&'a PanelContext<'a>) -> BoxFuture<'a, Result<Markup>>;

/// A page of the application, at `/panel/pages/<path>` and in the navigation.
#[derive(Clone, Copy)]
pub struct PanelPage {
    /// One segment of a path: `utilisation`.
    pub path: &'static str,
    /// Heading and text of the link, translated like the labels of resources.
    pub title: &'static str,
    /// Heading of the navigation under which it is listed; empty for none. See `menu:` of a resource.
    pub menu: &'static str,
    /// The ability (`products:read`) or permission that it needs; empty for every user.
    pub right: &'static str,
    pub render: RenderPanel,
}

/// A card of the application on the overview.
#[derive(Clone, Copy)]
pub struct PanelCard {
    /// Heading, translated like the labels of resources.
    pub title: &'static str,
    /// The ability or permission that it needs; empty for every user.
    pub right: &'static str,
    pub render: RenderPanel,
}

impl fmt::Debug for PanelPage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PanelPage").field("path", &self.path).finish_non_exhaustive()
    }
}

impl fmt::Debug for PanelCard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PanelCard").field("title", &self.title).finish_non_exhaustive()
    }
}

/// The pages and cards of an application.
#[derive(Debug, Clone, Default)]
pub(crate) struct PanelExtensions {
    pub pages: Vec<PanelPage>,
    pub cards: Vec<PanelCard>,
}

impl PanelExtensions {
    /// Those of the application; `None` outside of one, as in unit tests.
    pub(super) fn of(state: &ServerState) -> Option<&PanelExtensions> {
        state.extension().ok()
    }
}

/// The request for a page: its user, parameters and formats.
pub struct PanelContext<'r>(&'r PanelRequest<'r>);

impl PanelContext<'_> {
    /// The user's context, for queries that the API does not answer. They must check the user's rights themselves.
    pub fn context(&self) -> Context<'_> {
        self.0.context()
    }

    /// The body of a GET of the API as the user: `/products?q[is_active_true]=1`.
    ///
    /// # Errors
    /// The API's error, which becomes the page.
    pub async fn get(&self, path: &str) -> Result<Value> {
        self.0.get_json(path).await
    }

    /// The value of a query parameter.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn parameter(&self, name: &str) -> Result<Option<String>> {
        let pairs = self.0.raw.query_pairs()?;
        Ok(pairs.into_iter().find(|pair| pair.name == name).map(|pair| pair.value))
    }

    /// A label or text of the application in the user's language.
    pub fn label(&self, english: &str) -> String {
        label(english)
    }

    /// `1,234.50` from `1234.50`, in the user's number form.
    pub fn number(&self, number: &str) -> String {
        self.0.locale.numbers.number(number)
    }

    /// `£1,234.50` from `1234.50`, in the company's currency.
    pub fn money(&self, amount: &str) -> Markup {
        self.0.locale.numbers.money(amount)
    }

    /// An RFC 3339 time in the user's time zone and language. Another text stays as it is.
    pub fn time(&self, time: &str) -> String {
        datetime::format_timestamp(self.0.locale.zone, time).unwrap_or_else(|| time.to_string())
    }

    /// A date (`2026-03-21`) in the user's language. Another text stays as it is.
    pub fn date(&self, date: &str) -> String {
        datetime::format_date(date).unwrap_or_else(|| date.to_string())
    }
}

/// The pages of the application that the user may see.
pub(super) fn pages<'r>(request: &'r PanelRequest<'_>) -> impl Iterator<Item = &'r PanelPage> {
    let may_see = |page: &&PanelPage| request.user.principal.has_right(page.right);
    PanelExtensions::of(request.state).into_iter().flat_map(|own| &own.pages).filter(may_see)
}

/// The path of a page.
pub(super) fn path_of(page: &PanelPage) -> String {
    format!("/panel/pages/{}", page.path)
}

/// Shows a page.
///
/// # Errors
/// [`Error::NotFound`] for an unknown path, [`Error::Forbidden`] without its right, and those of the page.
pub(super) async fn show(request: &PanelRequest<'_>, path: &str) -> Result<Response> {
    let mut pages = PanelExtensions::of(request.state).into_iter().flat_map(|own| &own.pages);
    let page = pages.find(|page| page.path == path).ok_or(Error::NotFound)?;
    if !request.user.principal.has_right(page.right) {
        return Err(layout::not_permitted());
    }
    let content = (page.render)(&PanelContext(request)).await?;
    let title = label(page.title);
    let content = html! { (layout::header(&[], &html! { (title) }, &html! {})) (content) };
    Ok(layout::page(request, &title, &content))
}

/// The cards that the user may see. A card that fails says so, and the others are shown.
pub(super) async fn cards(request: &PanelRequest<'_>) -> Vec<Markup> {
    let mut cards = Vec::new();
    let may_see = |card: &&PanelCard| request.user.principal.has_right(card.right);
    for card in PanelExtensions::of(request.state).into_iter().flat_map(|own| &own.cards).filter(may_see) {
        let content = (card.render)(&PanelContext(request)).await.unwrap_or_else(|error| {
            let request_id = request.raw.request_id.as_deref().unwrap_or("-");
            let cause = match &error {
                Error::Internal(cause) => cause.to_string(),
                other => other.message(request_id),
            };
            tracing::warn!(%request_id, card = card.title, cause, "card of the panel failed");
            html! { p .faint { (text!("This could not be loaded.")) } }
        });
        cards.push(html! { section .card { h2 { (label(card.title)) } (content) } });
    }
    cards
}
