//! Totals below the numeric columns of a list: the sums over all matching records, loaded on request.

use maud::{Markup, html};
use serde_json::Value;

use super::columns::Column;
use super::params::ListParams;
use crate::language::{message, text};
use crate::panel::format::value::{self, Placement};
use crate::panel::request::PanelRequest;
use crate::panel::target::Target;
use crate::panel::url;
use charter_core::error::Result;
use charter_core::meta::Kind;
use charter_core::ops::endpoints::SUMMARY;
use charter_core::query::{Function, Pair, can_aggregate};

pub(super) enum Totals {
    /// No column has a total.
    None,
    /// A link that shows them, because a sum reads all records.
    Link,
    /// The sums by column.
    Shown(Value),
    /// The message of the API.
    Failed(String),
}

impl Totals {
    /// Loads the totals if the page shows them.
    pub(super) async fn load(
        request: &PanelRequest<'_>,
        target: &Target<'_>,
        params: &ListParams,
        shown: &[&Column],
    ) -> Result<Totals> {
        let names: Vec<&str> =
            shown.iter().filter(|column| has_total(target, column)).map(|c| c.name.as_str()).collect();
        if names.is_empty() {
            return Ok(Totals::None);
        }
        if !params.shows_totals {
            return Ok(Totals::Link);
        }
        let all = ListParams { sort: None, page: None, per_page: None, columns: None, ..params.clone() };
        let mut pairs = all.pairs();
        let is_selection =
            |name: &str| ["filters", "search", "view_id", "deleted"].contains(&name) || name.starts_with("q[");
        pairs.retain(|pair| is_selection(&pair.name));
        pairs.push(Pair { name: Function::Sum.name().into(), value: names.join(",") });
        let path = url::with_query(&format!("{}/{SUMMARY}", target.collection()), &pairs);
        let response = request.get(&path).await?;
        if !response.is_success() {
            return Ok(Totals::Failed(response.problem().message));
        }
        Ok(Totals::Shown(response.json()?["summary"][0][Function::Sum.name()].take()))
    }

    /// The link that shows or hides the totals.
    pub(super) fn link(&self, target: &Target<'_>, params: &ListParams) -> Markup {
        let other = ListParams { shows_totals: !params.shows_totals, ..params.clone() };
        html! {
            @if !matches!(self, Totals::None) {
                " " a .totals href=(other.page_url(target)) { @if params.shows_totals { (text!("Hide totals")) } @else { (text!("Totals")) } }
            }
        }
    }

    /// The last row of the table.
    pub(super) fn footer<'c>(
        &self,
        request: &PanelRequest<'_>,
        is_selectable: bool,
        columns: impl Iterator<Item = (&'c Column, Option<&'static str>)>,
    ) -> Markup {
        let columns: Vec<_> = columns.collect();
        match self {
            Totals::None | Totals::Link => html! {},
            Totals::Failed(problem) => html! {
                tfoot { tr { td colspan=(columns.len() + usize::from(is_selectable)) role="alert" { (text!("The totals cannot be shown: {problem}", problem = message(problem))) } } }
            },
            Totals::Shown(sums) => html! {
                tfoot { tr {
                    @if is_selectable { td .pick {} }
                    @for (index, (column, class)) in columns.into_iter().enumerate() {
                        @let sum = sums[&column.name].as_str().map(|sum| render(request, column, sum));
                        @if index == 0 {
                            th scope="row" class=[class] { (text!("Total")) @if let Some(sum) = sum { " " (sum) } }
                        } @else {
                            td class=[class] { @if let Some(sum) = sum { (sum) } }
                        }
                    }
                } }
            },
        }
    }
}

/// True for numbers that add up. An integer such as `country_of_origin_id` is the id of another system.
fn has_total(target: &Target<'_>, column: &Column) -> bool {
    match (column.field, &column.custom_field) {
        _ if column.name.ends_with("_id") => false,
        (Some(field), _) => can_aggregate(Function::Sum, &target.entry.source(field)),
        (None, Some(_)) => !column.predicates.is_empty() && column.kind.facts().is_number,
        (None, None) => false,
    }
}

/// A sum in the format of the column's cells.
fn render(request: &PanelRequest<'_>, column: &Column, sum: &str) -> Markup {
    match (column.field, column.kind) {
        (None, _) | (_, Kind::Integer) => html! { (request.locale.numbers.number(sum)) },
        (Some(field), kind) => value::render_unlinked(request, field, kind, &Value::from(sum), Placement::Table),
    }
}
