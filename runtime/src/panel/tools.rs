//! What narrows and arranges a list: its search, its filter, its columns, and the conditions that are in force.

use maud::{Markup, html};

use super::columns::Column;
use super::condition::Wish;
use super::place::Place;
use super::row::Row;
use super::title::Titles;
use super::visit::Visit;
use super::{chooser, filter, title, views, words};
use crate::query::{Pair, Predicate, allows};

/// A form above a list. Most visitors open none: a closed one is not sent, but asked for when it is opened, as the page that has
/// it open. The script takes it out of that page; without one its link leads there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    Filter,
    Columns,
}

impl Tool {
    /// What it is called in an address, which is its id too.
    fn name(self) -> &'static str {
        match self {
            Tool::Filter => "filter",
            Tool::Columns => "columns",
        }
    }

    pub fn named(name: &str) -> Option<Tool> {
        [Tool::Filter, Tool::Columns].into_iter().find(|tool| tool.name() == name)
    }
}

/// The address of the same list with a tool open.
pub fn opened(place: &Place<'_>, wish: &Wish, tool: Tool) -> String {
    let list = wish.address(place);
    format!("{list}{}tool={}", if list.contains('?') { '&' } else { '?' }, tool.name())
}

/// The row of tools, and below it the conditions, each to be taken away.
pub fn bar(
    visit: &Visit<'_>,
    place: &Place<'_>,
    wish: &Wish,
    columns: &[Column],
    shown: &[&Column],
    views: &views::Shelf,
    titles: &Titles,
) -> Markup {
    let count = wish.rows.len();
    let said = |rows: &[Row]| filter::sentences(visit, rows, columns, titles);
    let (viewed, asked) = (said(&views.conditions()), said(&wish.rows));
    html! {
        div .tools {
            (search(place, wish))
            (tool(place, wish, Tool::Filter, &html! { "Filter" @if count > 0 { " " span .count { (count) } } },
                || filter::form(visit, place, wish, columns, titles)))
            (tool(place, wish, Tool::Columns, &html! { "Columns" }, || chooser::form(place, wish, columns, shown, views.per_page())))
        }
        @if count > 0 || !viewed.is_empty() || wish.unshaped().next().is_some() {
            ul .chips aria-label="Conditions" {
                @for said in &viewed { li .faint { (said) " (of the view)" } }
                @for (index, said) in asked.iter().enumerate() {
                    li { (said) " " a href=(wish.without(index).address(place)) aria-label={ "Remove: " (said) } { "×" } }
                }
                @for pair in wish.unshaped() {
                    li { code { (pair.name) "=" (pair.value) } " " a href=(wish.without_unshaped(pair).address(place)) aria-label={ "Remove: " (pair.name) } { "×" } }
                }
            }
        }
    }
}

fn tool(place: &Place<'_>, wish: &Wish, tool: Tool, summary: &Markup, form: impl FnOnce() -> Markup) -> Markup {
    let is_open = wish.tool == Some(tool);
    html! {
        details .tool id=(tool.name()) open[is_open] {
            summary { (summary) }
            @if is_open { (form()) } @else { a data-tool href=(opened(place, wish, tool)) { "Open the " (tool.name()) } }
        }
    }
}

/// The field for a word in the title, where titles are searched.
fn search(place: &Place<'_>, wish: &Wish) -> Markup {
    let Some(field) = title::field(place.entry).filter(|field| allows(field, Predicate::Cont, field.kind)) else {
        return Markup::default();
    };
    let name = format!("q[{}_cont]", field.name);
    // Joined by “and” behind all others it is what the address asks beside them, in whatever form they stand there.
    let listed = wish.listed();
    let is_last = |index: usize| index >= listed || index + 1 == wish.rows.len();
    let is_searched = |row: &Row| row.field == field.name && row.predicate == "cont" && row.logic == "and";
    let at = wish.rows.iter().enumerate().rposition(|(index, row)| is_searched(row) && is_last(index));
    let row = at.map(|at| &wish.rows[at]);
    let rest = Wish { page: None, ..at.map_or_else(|| wish.clone(), |at| wish.without(at)) };
    let rest: Vec<Pair> = rest.pairs().into_iter().filter(|pair| pair.name != name).collect();
    let said = format!("Search by {}", words::field(field).to_lowercase());
    html! {
        form .search method="get" action=(place.collection()) role="search" {
            (filter::hidden(&rest))
            input #search type="search" name=(name) value=(row.map_or("", |row| row.value.as_str())) placeholder=(said) aria-label=(said);
        }
    }
}
