//! List page of a collection: toolbar, table, pages, export, and the bulk operations on selected rows.

pub(super) mod cell;
pub(super) mod column_picker;
pub(super) mod columns;
pub(super) mod export;
pub(super) mod filter_form;
pub(super) mod filter_inputs;
pub(super) mod filter_row;
pub(super) mod params;
mod peek;
pub(super) mod related_columns;
pub(super) mod remembered;
pub(super) mod response;
pub(super) mod saved_view_form;
pub(super) mod saved_views;
mod table;
mod toolbar;
mod totals;
pub(super) mod trash;

use std::borrow::Cow;
use std::collections::HashMap;

use maud::{Markup, html};
use serde_json::Value;

use crate::language::{label, message, text};
use crate::panel::dashboard::chart;
use crate::panel::display_name::{self, DisplayNames};
use crate::panel::format::labels;
use crate::panel::record::{action, protection};
use crate::panel::request::PanelRequest;
use crate::panel::target::Target;
use crate::panel::{bulk, import, layout, redirect, url};
use crate::server::ApiResponse;
use crate::server::Response;
use charter_core::error::Result;
use charter_core::meta::{ActionOn, FieldMeta, Operation};
use charter_core::ops::API;
use charter_core::ops::protection::Protection;
use charter_core::query::Predicate;
use columns::Column;
use params::ListParams;
use response::{Fields as _, ListBody, ListRecord};
use saved_views::SavedViews;
use table::Table;
use toolbar::Tool;
use totals::Totals;

/// Value of `per_page` for line charts, which show the latest records.
const CHART_RECORDS: &str = "100";

pub(super) async fn show(request: &PanelRequest<'_>, target: &Target<'_>) -> Result<Response> {
    let entry = target.entry;
    let all = columns::load(request, entry).await?;
    let pairs = request.raw.query_pairs()?;
    let deleted_at = trash::deleted_at_field(entry).filter(|_| trash::is_requested(&pairs));
    let columns = match deleted_at {
        Some(field) => Cow::Owned([&all[..], &[columns::deleted_at(request, entry, field)]].concat()),
        None => Cow::Borrowed(&all[..]),
    };
    let filter_columns = match related_columns::are_needed(&pairs) {
        true => Cow::Owned([&columns[..], &related_columns::of(request, entry)].concat()),
        false => Cow::Borrowed(&columns[..]),
    };
    let mut params = ListParams::parse(pairs, &filter_columns, request.locale.zone)?;
    if params.needs_redirect {
        // After an arrow button, the column picker is open and the button focused.
        let canonical = ListParams { needs_redirect: false, page: None, ..params };
        let Some(arrow) = &canonical.pressed_arrow else {
            return Ok(redirect(&toolbar::url_after_form(target, &canonical)));
        };
        return Ok(redirect(&format!(
            "{}#{}",
            toolbar::url_with_open_tool(target, &canonical, Tool::Columns),
            url::encode(arrow)
        )));
    }
    if deleted_at.is_some() && params.sort.is_none() && params.view_id.is_none() {
        params.sort = Some("-deleted_at".into());
    }
    let views = SavedViews::load(request, target, params.view_id).await?;
    if params.view_id.is_none() {
        params.sort = params.sort.or_else(|| columns::default_sort(entry));
        params.per_page = params.per_page.or_else(|| remembered::per_page(request, entry));
    }
    let mut shown = columns::shown(request, entry, &params, &views, &columns);
    // The list of deleted records shows the time of deletion.
    if let Some(field) = deleted_at.filter(|_| params.columns.is_none()) {
        shown.extend(columns.iter().find(|column| column.name == field.name));
    }
    let api_path = params.api_path(target, Some(&columns::titled_fields(entry, &shown)));
    let (response, totals) = tokio::join!(request.get(&api_path), Totals::load(request, target, &params, &shown));
    let response = response?;
    let title = if deleted_at.is_some() { trash::heading(entry) } else { labels::plural(entry.meta) };
    let parents = display_name::parent_breadcrumbs(request, target).await?;
    let charts = if deleted_at.is_none() && response.is_success() {
        line_charts(request, target, &params).await?
    } else {
        html! {}
    };
    let page = ListPage {
        request,
        target,
        parents: &parents,
        params: &params,
        columns: &filter_columns,
        shown: &shown,
        views: &views,
        charts,
        totals: &totals?,
        may_create: request.may(entry, Operation::Create) && protection::may_create(request, target).await?,
    };
    let view_conditions = views.conditions();
    let mut display_names =
        DisplayNames::load_for_filters(request, view_conditions.iter().chain(&params.rows), &filter_columns).await?;
    if !response.is_success() {
        if !response.status.is_client_error() || [403, 404].contains(&response.status.as_u16()) {
            return Err(response.error());
        }
        return Ok(layout::page_with_status(
            request,
            response.status,
            &title,
            &page.render_error(&response, &display_names),
        ));
    }
    let body = response.list_body()?;
    let fields: Vec<&'static FieldMeta> = shown.iter().filter_map(|column| column.field).collect();
    display_names.extend(DisplayNames::load_for_fields(request, entry, &fields, &body.records).await?);
    let ids = body.records.iter().filter_map(|record| record.value("id").as_i64());
    let protections = protection::of_records(request, entry, ids.filter(|_| deleted_at.is_none())).await?;
    let content = page.render(&body, &display_names, (&api_path, &protections));
    Ok(layout::page(request, &title, &content))
}

/// The parts of a list page.
struct ListPage<'l> {
    request: &'l PanelRequest<'l>,
    target: &'l Target<'l>,
    parents: &'l [(String, String)],
    params: &'l ListParams,
    /// All columns, and those of referred records, which are for conditions only.
    columns: &'l [Column],
    shown: &'l [&'l Column],
    views: &'l SavedViews,
    /// Charts above the table.
    charts: Markup,
    totals: &'l Totals,
    /// True if the user may create records here.
    may_create: bool,
}

/// Line charts of the latest records that match the conditions, whatever the page and the sort order of the list.
async fn line_charts(request: &PanelRequest<'_>, target: &Target<'_>, params: &ListParams) -> Result<Markup> {
    let Some((fields, sort)) = chart::time_series_query(target.entry) else { return Ok(html! {}) };
    let latest = ListParams { sort: Some(sort), page: None, per_page: Some(CHART_RECORDS.into()), ..params.clone() };
    let response = request.get(&latest.api_path(target, Some(&fields))).await?;
    Ok(chart::line_charts(request, target.entry, &response.list_body()?.records))
}

impl ListPage<'_> {
    fn render(
        &self,
        ListBody { records, meta }: &ListBody<'_>,
        display_names: &DisplayNames,
        (api_path, protections): (&str, &HashMap<i64, Protection>),
    ) -> Markup {
        let total = meta["total"].as_i64();
        html! {
            (self.header(total, api_path))
            @if !self.params.shows_trash() { (self.views.render(self.request, self.target, self.params, self.shown)) }
            (toolbar::render(self.request, self.target, self.params, self.columns, self.shown, self.views, display_names))
            @if records.is_empty() { (self.empty()) } @else {
                (self.charts)
                (self.table(records, display_names, total, protections))
                (self.pager(meta, records.len()))
                (peek::dialog())
            }
        }
    }

    fn render_error(&self, response: &ApiResponse, display_names: &DisplayNames) -> Markup {
        let problem = response.problem();
        html! {
            (self.header(None, ""))
            (self.views.render(self.request, self.target, self.params, self.shown))
            div .problem role="alert" {
                p { strong { (text!("This list cannot be shown, because a condition or parameter is invalid.")) } }
                ul { @for (name, messages) in &problem.errors { li { (self.parameter_label(name)) " " (labels::messages(messages)) } } }
                @if problem.errors.is_empty() { p { (message(&problem.message)) } }
                p { a href=(self.target.collection()) { (text!("Show all")) } }
            }
            (toolbar::render(self.request, self.target, self.params, self.columns, self.shown, self.views, display_names))
        }
    }

    /// The words for an invalid parameter: `Weight is more than` for `q[weight_gt]`.
    fn parameter_label(&self, name: &str) -> Markup {
        let key = name.strip_prefix("q[").and_then(|rest| rest.strip_suffix(']'));
        let found = key.and_then(|key| {
            let known = |(field, _): &(&str, Predicate)| self.columns.iter().find(|column| column.name == *field);
            Predicate::splits(key).find_map(|split| known(&split).map(|column| (column, split.1)))
        });
        match found {
            Some((column, predicate)) => {
                let comparison = filter_form::predicate_label(predicate, column.kind);
                html! { strong { (text!("{field} {comparison}", field = column.label, comparison = comparison)) } ":" }
            }
            None if name == "view_id" => html! { strong { (text!("The view")) } },
            None => html! { code { (name) } },
        }
    }

    fn header(&self, total: Option<i64>, api_path: &str) -> Markup {
        let (request, target, entry) = (self.request, self.target, self.target.entry);
        let mut breadcrumbs = self.parents.to_vec();
        let shows_trash = self.params.shows_trash();
        if shows_trash {
            breadcrumbs.push((target.collection(), labels::plural(entry.meta)));
        }
        let title = html! {
            @if shows_trash { (trash::heading(entry)) } @else { (labels::plural(entry.meta)) }
            @if let Some(total) = total { " " span .count { (self.request.locale.numbers.count(total)) } }
        };
        let actions = html! {
            @if !api_path.is_empty() {
                (export::menu(request, target, self.params, api_path))
            }
            @if !shows_trash {
                @for action in entry.meta.actions.iter().filter(|action| action.on == ActionOn::Collection && action::may_run(request, target, action)) {
                    (action::button(request, target, action, ""))
                }
            }
            @if !shows_trash && trash::may_view(request, entry) {
                a .button href=(trash::url(&target.collection())) { (text!("Deleted")) }
            }
            @if !shows_trash && self.may_create {
                @if let Some(url) = import::upload_url(request, entry) { a .button href=(url) { (text!("Import")) } }
                a .button.primary href={ (target.collection()) "/new" } data-new { (text!("New {record}", record = labels::singular(entry.meta))) }
            }
        };
        layout::header(&breadcrumbs, &title, &actions)
    }

    fn empty(&self) -> Markup {
        let (entry, params) = (self.target.entry, self.params);
        let shows_trash = params.shows_trash();
        let has_others = params.passthrough.iter().any(|pair| pair.name != "deleted");
        let is_narrowed = !params.rows.is_empty() || params.search.is_some() || params.view_id.is_some() || has_others;
        let collection = self.target.collection();
        let all = if shows_trash { trash::url(&collection) } else { collection };
        let record = labels::singular(entry.meta);
        let is_beyond_first_page = params.page.as_deref().is_some_and(|page| page != "1");
        html! {
            div .empty {
                (layout::logo())
                @if is_beyond_first_page {
                    p { (text!("This page is empty.")) }
                    p { a .button href=(ListParams { page: None, ..params.clone() }.page_url(self.target)) { (text!("Go to the first page")) } }
                } @else if is_narrowed {
                    p {
                        @if shows_trash { (text!("No deleted {record} matches these conditions.", record = record)) }
                        @else { (text!("No {record} matches these conditions.", record = record)) }
                    }
                    p { a .button href=(all) { (text!("Show all")) } }
                } @else if shows_trash {
                    p { (text!("There are no deleted {records}.", records = labels::records(entry.meta))) }
                    p { a .button href=(self.target.collection()) { (text!("Back to the list")) } }
                } @else {
                    p { (text!("There are no {records} yet.", records = labels::records(entry.meta))) }
                    @if !entry.meta.description.is_empty() { p .faint { (label(entry.meta.description)) } }
                    @if self.may_create {
                        p { a .button.primary href={ (self.target.collection()) "/new" } { (text!("Create the first one")) } }
                    }
                }
            }
        }
    }

    fn table(
        &self,
        records: &[ListRecord<'_>],
        display_names: &DisplayNames,
        total: Option<i64>,
        protections: &HashMap<i64, Protection>,
    ) -> Markup {
        let (request, target, entry) = (self.request, self.target, self.target.entry);
        let may = |operation| request.may(entry, operation);
        let shows_trash = self.params.shows_trash();
        // The only operation on deleted records is to restore them.
        let may_edit = !shows_trash && may(Operation::Update);
        let may_delete = !shows_trash && may(Operation::Delete);
        let may_restore = shows_trash && trash::may_view(request, entry);
        let is_selectable = may_edit || may_delete || may_restore;
        let names = (display_names, protections);
        let mut table = Table::new(request, target, self.shown, names, request.raw.path_and_query());
        (table.is_selectable, table.shows_trash) = (is_selectable, shows_trash);
        html! {
            form method="post" action={ (target.collection()) "/bulk" } data-bulk=(bulk::MAX_SELECTED) {
                (layout::csrf_input(request))
                input type="hidden" name="_back" value=(request.raw.path_and_query());
                input type="hidden" name="_query" value=(saved_views::query_string(self.params));
                div .scroll tabindex="0" role="region" aria-label=(labels::plural(entry.meta)) {
                    table .list {
                        thead { tr {
                            @if is_selectable { th .pick scope="col" { label { input type="checkbox" data-all aria-label=(text!("Select all rows on this page")); } } }
                            @for (column, class) in table.columns() { (self.heading(column, class)) }
                        } }
                        tbody {
                            @for record in records { (table.render_row(record)) }
                        }
                        (self.totals.footer(self.request, is_selectable, table.columns()))
                    }
                }
                @if is_selectable {
                    div .bulk data-bulk-bar {
                        span data-chosen role="status" { @if shows_trash { (text!("Select rows to restore them")) } @else { (text!("Select rows to change them")) } }
                        @if let Some(total) = total.filter(|total| *total > records.len() as i64) {
                            label .box { input type="checkbox" name="_all" value="1"; " " (text!("All {count} matching records", count = self.request.locale.numbers.count(total))) }
                        }
                        button name="_step" value="export" { (text!("Export…")) }
                        @if may_edit { button name="_step" value="edit" { (text!("Edit…")) } }
                        @if may_delete { button .danger name="_step" value="delete" { (text!("Delete…")) } }
                        @if may_restore { button name="_step" value="restore" { (text!("Restore…")) } }
                        button type="button" .quiet data-clear hidden { (text!("Clear")) }
                    }
                }
            }
        }
    }

    fn heading(&self, column: &Column, class: Option<&'static str>) -> Markup {
        let sorted = self.params.sort.clone().or_else(|| self.views.sort()).unwrap_or_default();
        let (ascending, descending) = (sorted == column.name, sorted.strip_prefix('-') == Some(column.name.as_str()));
        let order = if ascending {
            Some("ascending")
        } else if descending {
            Some("descending")
        } else {
            None
        };
        let next = if ascending { format!("-{}", column.name) } else { column.name.clone() };
        let resorted = ListParams { sort: Some(next), page: None, ..self.params.clone() };
        html! {
            th scope="col" class=[class] aria-sort=[order] {
                @if column.sortable {
                    a href=(resorted.page_url(self.target)) { (column.label) @if ascending { " ↑" } @else if descending { " ↓" } }
                } @else { (column.label) }
            }
        }
    }

    fn pager(&self, meta: &Value, rows: usize) -> Markup {
        let (page, per_page) = (meta["page"].as_i64().unwrap_or(1), meta["per_page"].as_i64().unwrap_or(20));
        let total = meta["total"].as_i64();
        let first = (page - 1).saturating_mul(per_page) + 1;
        let last = first + rows as i64 - 1;
        let page_url = |page: i64| {
            ListParams { page: (page > 1).then(|| page.to_string()), ..self.params.clone() }.page_url(self.target)
        };
        let has_more = total.map_or(rows as i64 == per_page, |total| last < total);
        let number = |number: i64| self.request.locale.numbers.count(number);
        let (first, last) = (number(first), number(last));
        let range = match total {
            Some(total) => text!("{first}–{last} of {total}", first = first, last = last, total = number(total)),
            None => format!("{first}–{last}"),
        };
        html! {
            nav .pager aria-label=(text!("Pages")) {
                p { (range) (self.totals.link(self.target, self.params)) }
                div {
                    @if page > 1 { a .button href=(page_url(page - 1)) rel="prev" { (text!("Previous")) } }
                    @if has_more { a .button href=(page_url(page + 1)) rel="next" { (text!("Next")) } }
                    @if let Some(total) = total.filter(|_| has_more) {
                        a .button href=(page_url((total + per_page - 1) / per_page)) { (text!("Last")) }
                    }
                }
            }
        }
    }
}

/// A `curl` command for an API request.
pub(super) fn curl_command(request: &PanelRequest<'_>, path: &str) -> String {
    let quoted = path.replace('\'', "%27");
    format!("curl -g -H \"Authorization: Bearer $TOKEN\" '{}{API}{quoted}'", request.state.base_url())
}
