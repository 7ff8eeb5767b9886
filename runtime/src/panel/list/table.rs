//! Table of a list. Links and classes of its columns are computed once for all rows.

use std::collections::HashMap;

use maud::{Markup, html};

use super::cell;
use super::columns::Column;
use super::response::Fields;
use super::trash;
use crate::language::text;
use crate::panel::display_name::{self, DisplayNames};
use crate::panel::format::value::{self, Placement};
use crate::panel::request::PanelRequest;
use crate::panel::target::Target;
use crate::panel::url;
use charter_core::catalog::{Entry, name_field};
use charter_core::meta::{FieldMeta, Kind};
use charter_core::ops::protection::Protection;

/// Length of the list's URL that every link to a record may contain.
const MAX_BACK_BYTES: usize = 1_000;

pub(super) struct Table<'l> {
    request: &'l PanelRequest<'l>,
    target: &'l Target<'l>,
    /// The path of the records.
    collection: String,
    /// The list as it is, to return to from a record; empty if it is the whole list, or too long for every row.
    list: String,
    columns: Vec<TableColumn<'l>>,
    name_field: Option<&'static FieldMeta>,
    display_names: &'l DisplayNames,
    /// Records whose cells cannot be edited.
    protections: &'l HashMap<i64, Protection>,
    /// True if rows have a checkbox.
    pub is_selectable: bool,
    /// The tooltip of a cell that can be edited.
    edit_hint: String,
    pub shows_trash: bool,
}

struct TableColumn<'l> {
    column: &'l Column,
    /// True if the cells link to the record.
    links_to_record: bool,
    class: Option<&'static str>,
    /// The label in front of the value where rows are cards: a number or a yes means nothing without its column.
    card_label: Option<&'l str>,
    /// The source of a derived value: the reference field, and the path of the source's list.
    source: Option<(&'static str, &'static str)>,
    /// The field that the cells are an input for after a double click.
    editable: Option<&'static str>,
}

impl<'l> Table<'l> {
    /// `list` is the path of the list with its query string.
    pub(super) fn new(
        request: &'l PanelRequest<'l>,
        target: &'l Target<'l>,
        shown: &[&'l Column],
        (display_names, protections): (&'l DisplayNames, &'l HashMap<i64, Protection>),
        list: String,
    ) -> Table<'l> {
        let name_field = name_field(target.entry);
        let link_column = link_column(name_field, shown);
        let column = |(index, column): (usize, &&'l Column)| TableColumn {
            column,
            links_to_record: index == link_column,
            class: cell_class(column, index == link_column),
            card_label: (column.kind.facts().is_number || column.kind == Kind::Boolean)
                .then_some(column.label.as_str())
                .filter(|_| index != link_column),
            source: column.field.and_then(|field| source_of(request, target.entry, field)),
            editable: column.field.filter(|field| cell::is_offered(request, target, field)).map(|field| field.name),
        };
        let columns = shown.iter().enumerate().map(column).collect();
        let is_whole = matches!(list.split_once('?'), None | Some((_, "" | "deleted=only")));
        let list = if is_whole || list.len() > MAX_BACK_BYTES { String::new() } else { list };
        Table {
            request,
            target,
            collection: target.collection(),
            list,
            columns,
            name_field,
            display_names,
            protections,
            is_selectable: false,
            edit_hint: text!("Double-click to edit"),
            shows_trash: false,
        }
    }

    /// The columns, each with the class of its cells.
    pub(super) fn columns(&self) -> impl Iterator<Item = (&Column, Option<&'static str>)> {
        self.columns.iter().map(|column| (column.column, column.class))
    }

    pub(super) fn render_row(&self, record: &impl Fields) -> Markup {
        let id = record.value("id").as_i64().unwrap_or_default();
        let name = display_name::from_field(self.name_field, self.target.entry, record);
        let mut href = format!("{}/{id}", self.collection);
        if self.shows_trash {
            href = trash::url(&href);
        }
        if !self.list.is_empty() {
            href = url::with_back(&href, &self.list);
        }
        let is_editable = !self.shows_trash && !self.protections.contains_key(&id);
        html! {
            tr data-row {
                @if self.is_selectable { td .pick { label { input type="checkbox" name="id" value=(id) aria-label=(text!("Select {name}", name = name)); } } }
                @for column in &self.columns {
                    @let editable = column.editable.filter(|_| is_editable);
                    td class=[column.class] data-label=[column.card_label] data-field=[editable] title=[editable.map(|_| &self.edit_hint)] {
                        @if column.links_to_record {
                            a href=(href) data-open {
                                @let text = record.value(&column.column.name).as_str().unwrap_or_default();
                                @if text.trim().is_empty() { (name) } @else { (self.render_link_text(column, record, text)) }
                            }
                        } @else { (self.render_value(column, record)) }
                    }
                }
            }
        }
    }

    /// The value inside the link to the record, without a link of its own.
    fn render_link_text(&self, column: &TableColumn<'_>, record: &impl Fields, text: &str) -> Markup {
        match column.column.field.map(|field| field.kind) {
            Some(
                Kind::Ref { .. }
                | Kind::PolymorphicRef { .. }
                | Kind::RefList { .. }
                | Kind::Links { .. }
                | Kind::Derived { .. },
            )
            | None => html! { (text) },
            Some(_) => self.render_value(column, record),
        }
    }

    fn render_value(&self, TableColumn { column, source, .. }: &TableColumn<'_>, record: &impl Fields) -> Markup {
        let Some(field) = column.field else {
            let Some(definition) = &column.custom_field else { return value::render_empty() };
            let value = record.value("custom_fields").get(&definition.name);
            return value::render_custom_field(self.request, Some(definition), value, Placement::Table);
        };
        let shown = value::render_kind(self.request, field, column.kind, record, self.display_names, Placement::Table);
        match source.and_then(|(via, path)| Some((record.value(via).as_i64()?, path))) {
            Some((id, path)) if record.value(field.name).as_str().is_some() => {
                html! { a href={ "/" (path) "/" (id) } { (shown) } }
            }
            _ => shown,
        }
    }
}

/// The CSS class of a column's cells.
fn cell_class(column: &Column, links_to_record: bool) -> Option<&'static str> {
    match (column.kind.facts().is_number, links_to_record) {
        (true, true) => Some("number lead"),
        (true, false) => Some("number"),
        (false, true) => Some("lead"),
        (false, false) => None,
    }
}

/// The index of the column that links to the record: the name field, else the first one.
fn link_column(name_field: Option<&'static FieldMeta>, shown: &[&Column]) -> usize {
    let name = name_field.map(|field| field.name);
    shown.iter().position(|column| Some(column.name.as_str()) == name).unwrap_or(0)
}

/// See [`TableColumn::source`]; `None` if the user may not read the source's list.
fn source_of(
    request: &PanelRequest<'_>,
    entry: &Entry,
    field: &'static FieldMeta,
) -> Option<(&'static str, &'static str)> {
    let Kind::Derived { via, .. } = field.kind else { return None };
    let Kind::Ref { resource } = entry.field(via)?.kind else { return None };
    let referenced = request.state.catalog.linked(resource);
    display_name::is_listable(request, referenced).then_some((via, referenced.meta.path))
}
