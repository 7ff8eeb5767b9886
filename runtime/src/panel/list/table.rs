//! The table of a list. What is the same for all of its rows is found once.

use maud::{Markup, html};

use super::cell::{self, Room};
use super::columns::Column;
use super::deleted;
use super::listing::Fields;
use super::place::Place;
use super::title::{self, Titles};
use super::visit::Visit;
use crate::catalog::Entry;
use crate::meta::{FieldMeta, Kind};

/// The columns of a table, and what its rows have in common.
pub struct Table<'l> {
    visit: &'l Visit<'l>,
    place: &'l Place<'l>,
    /// The path of the records.
    collection: String,
    cells: Vec<Cell<'l>>,
    /// The field by which people know a record.
    named: Option<&'static FieldMeta>,
    titles: &'l Titles,
    /// Whether a row can be chosen.
    pub picks: bool,
    /// Whether they are deleted records.
    pub of_deleted: bool,
}

/// A column.
struct Cell<'l> {
    column: &'l Column,
    /// Whether it leads to the record.
    leads: bool,
    class: Option<&'static str>,
    /// Where a derived value is from: the field that refers to it, and the path of those records.
    from: Option<(&'static str, &'static str)>,
}

impl<'l> Table<'l> {
    pub fn new(visit: &'l Visit<'l>, place: &'l Place<'l>, shown: &[&'l Column], titles: &'l Titles) -> Table<'l> {
        let named = title::field(place.entry);
        let leads = leading(named, shown);
        let cell = |(index, column): (usize, &&'l Column)| Cell {
            column,
            leads: index == leads,
            class: class(column, index == leads),
            from: column.field.and_then(|field| from(visit, place.entry, field)),
        };
        let cells = shown.iter().enumerate().map(cell).collect();
        let collection = place.collection();
        Table { visit, place, collection, cells, named, titles, picks: false, of_deleted: false }
    }

    /// The columns, and the class of each.
    pub fn columns(&self) -> impl Iterator<Item = (&Column, Option<&'static str>)> {
        self.cells.iter().map(|cell| (cell.column, cell.class))
    }

    /// The row of a record.
    pub fn row(&self, record: &impl Fields) -> Markup {
        let id = record.value("id").as_i64().unwrap_or_default();
        let called = title::by(self.named, self.place.entry, record);
        let mut href = format!("{}/{id}", self.collection);
        if self.of_deleted {
            href = deleted::address(&href);
        }
        html! {
            tr data-row {
                @if self.picks { td .pick { input type="checkbox" name="id" value=(id) aria-label={ "Select " (called) }; } }
                @for cell in &self.cells {
                    td class=[cell.class] {
                        @if cell.leads {
                            a href=(href) data-open {
                                @let text = record.value(&cell.column.name).as_str().unwrap_or_default();
                                @if text.trim().is_empty() { (called) } @else { (self.leading(cell, record, text)) }
                            }
                        } @else { (self.value(cell, record)) }
                    }
                }
            }
        }
    }

    /// A link holds no link.
    fn leading(&self, cell: &Cell<'_>, record: &impl Fields, text: &str) -> Markup {
        match cell.column.field.map(|field| field.kind) {
            Some(Kind::Ref { .. } | Kind::PolymorphicRef { .. } | Kind::RefList { .. } | Kind::Derived { .. })
            | None => html! { (text) },
            Some(_) => self.value(cell, record),
        }
    }

    fn value(&self, Cell { column, from, .. }: &Cell<'_>, record: &impl Fields) -> Markup {
        let Some(field) = column.field else {
            let Some(definition) = &column.custom else { return cell::nothing() };
            let value = record.value("custom_fields").of(&definition.name);
            return cell::custom(self.visit, Some(definition), value, Room::Table);
        };
        let shown = cell::of_kind(self.visit, field, column.kind, record, self.titles, Room::Table);
        match from.and_then(|(via, path)| Some((record.value(via).as_i64()?, path))) {
            Some((id, path)) if record.value(field.name).as_str().is_some() => {
                html! { a href={ "/" (path) "/" (id) } { (shown) } }
            }
            _ => shown,
        }
    }
}

/// How the cells of a column look.
fn class(column: &Column, leads: bool) -> Option<&'static str> {
    match (cell::is_number(column.kind), leads) {
        (true, true) => Some("number lead"),
        (true, false) => Some("number"),
        (false, true) => Some("lead"),
        (false, false) => None,
    }
}

/// The column that says what a record is called.
fn leading(named: Option<&'static FieldMeta>, shown: &[&Column]) -> usize {
    let named = named.map(|field| field.name);
    shown.iter().position(|column| Some(column.name.as_str()) == named).unwrap_or(0)
}

/// Where a derived value is from, if the user can go there.
fn from(visit: &Visit<'_>, entry: &Entry, field: &'static FieldMeta) -> Option<(&'static str, &'static str)> {
    let Kind::Derived { via, .. } = field.kind else { return None };
    let Kind::Ref { resource } = entry.field(via)?.kind else { return None };
    let target = visit.state.catalog.linked(resource);
    title::is_reached(visit, target).then_some((via, target.meta.path))
}
