//! What narrows and arranges a list: its search, its filter, its columns, and the conditions that are in force.

use maud::{Markup, html};

use super::columns::Column;
use super::condition::{Wish, address};
use super::place::Place;
use super::visit::Visit;
use super::{chooser, filter, title, views, words};
use crate::query::{Pair, Predicate};

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
    let mut pairs = wish.pairs();
    pairs.extend(wish.page.clone().map(|page| Pair { name: "page".into(), value: page }));
    pairs.push(Pair { name: "tool".into(), value: tool.name().into() });
    address(&place.collection(), &pairs)
}

/// The row of tools, and below it the conditions, each to be taken away.
pub fn bar(
    visit: &Visit<'_>,
    place: &Place<'_>,
    wish: &Wish,
    columns: &[Column],
    shown: &[&Column],
    views: &views::Shelf,
) -> Markup {
    let count = wish.rows.len();
    let viewed = views.conditions();
    html! {
        div .tools {
            (search(place, wish))
            (tool(place, wish, Tool::Filter, &html! { "Filter" @if count > 0 { " " span .count { (count) } } },
                || filter::form(visit, place, wish, columns)))
            (tool(place, wish, Tool::Columns, &html! { "Columns" }, || chooser::form(place, wish, columns, shown)))
        }
        @if count > 0 || !viewed.is_empty() {
            ul .chips aria-label="Conditions" {
                @for row in &viewed { li .faint { (filter::sentence(visit, row, columns)) " (of the view)" } }
                @for (index, row) in wish.rows.iter().enumerate() {
                    @let said = filter::sentence(visit, row, columns);
                    li { (said) " " a href=(wish.without(index).address(place)) aria-label={ "Remove: " (said) } { "×" } }
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
    let Some(field) = title::field(place.entry).filter(|field| Predicate::Cont.allowed(field, field.kind)) else {
        return Markup::default();
    };
    let name = format!("q[{}_cont]", field.name);
    let row = wish.rows.iter().find(|row| row.field == field.name && row.predicate == "cont" && wish.is_plain());
    let rest: Vec<Pair> = wish.pairs().into_iter().filter(|pair| pair.name != name).collect();
    let said = format!("Search by {}", words::field(field).to_lowercase());
    html! {
        form .search method="get" action=(place.collection()) role="search" {
            (filter::hidden(&rest))
            input #search type="search" name=(name) value=(row.map_or("", |row| row.value.as_str())) placeholder=(said) aria-label=(said);
        }
    }
}
