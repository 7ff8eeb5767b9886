//! Toolbar of a list: search box, filter, columns, and the active conditions.

use maud::{Markup, html};

use super::columns::Column;
use super::filter_inputs::INCOMPLETE;
use super::filter_row::{self, FilterRow};
use super::params::ListParams;
use super::saved_views::SavedViews;
use super::{column_picker, filter_form};
use crate::language::text;
use crate::panel::display_name::DisplayNames;
use crate::panel::format::labels;
use crate::panel::request::PanelRequest;
use crate::panel::target::Target;
use crate::panel::url;
use charter_core::query::search_fields;

/// A form above a list, loaded lazily: a closed tool is a link to the page with the tool open. A script fetches that
/// page and takes the form out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tool {
    Filter,
    Columns,
}

impl Tool {
    /// The value of the parameter `tool`, and the id of the element.
    fn id(self) -> &'static str {
        match self {
            Tool::Filter => "filter",
            Tool::Columns => "columns",
        }
    }

    /// The link that opens the tool without scripts.
    fn link_label(self) -> String {
        match self {
            Tool::Filter => text!("Open the filter"),
            Tool::Columns => text!("Open the columns"),
        }
    }

    pub(crate) fn from_id(id: &str) -> Option<Tool> {
        [Tool::Filter, Tool::Columns].into_iter().find(|tool| tool.id() == id)
    }
}

/// The URL of the list with a tool open.
pub(super) fn url_with_open_tool(target: &Target<'_>, params: &ListParams, tool: Tool) -> String {
    let list = params.page_url(target);
    format!("{list}{}tool={}", if list.contains('?') { '&' } else { '?' }, tool.id())
}

/// The URL of the list after its form. The filter form is open if it has incomplete conditions.
pub(super) fn url_after_form(target: &Target<'_>, params: &ListParams) -> String {
    if params.incomplete.is_empty() {
        return params.page_url(target);
    }
    let incomplete = filter_row::to_json(&params.incomplete).to_string();
    format!("{}&{INCOMPLETE}={}", url_with_open_tool(target, params, Tool::Filter), url::encode(&incomplete))
}

/// The toolbar, and the active conditions with a link to remove each.
pub(super) fn render(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
    params: &ListParams,
    columns: &[Column],
    shown: &[&Column],
    views: &SavedViews,
    display_names: &DisplayNames,
) -> Markup {
    let count = params.rows.len();
    let describe = |rows: &[FilterRow]| filter_form::describe_all(request, rows, columns, display_names);
    let (of_view, of_list) = (describe(&views.conditions()), describe(&params.rows));
    html! {
        div .tools {
            (search_box(request, target, params))
            (render_tool(target, params, Tool::Filter, &html! { (text!("Filter")) @if count > 0 { " " span .count { (count) } } },
                || filter_form::render(request, target, params, columns, display_names)))
            (render_tool(target, params, Tool::Columns, &html! { (text!("Columns")) }, || column_picker::render(request, target, params, columns, shown, views.per_page())))
        }
        @if count > 0 || params.search.is_some() || !of_view.is_empty() || params.raw_conditions().next().is_some() {
            ul .chips aria-label=(text!("Conditions")) {
                @for condition in &of_view { li .faint { (text!("{condition} (from the view)", condition = condition)) } }
                @for (index, condition) in of_list.iter().enumerate() {
                    li { (condition) " " a href=(params.without_filter(index).page_url(target)) aria-label=(text!("Remove: {condition}", condition = condition)) { "×" } }
                }
                @for pair in params.raw_conditions() {
                    li { code { (pair.name) "=" (pair.value) } " " a href=(params.without_raw_condition(pair).page_url(target)) aria-label=(text!("Remove: {condition}", condition = pair.name)) { "×" } }
                }
                @if let Some(text) = &params.search {
                    li { (text!("Search: “{words}”", words = text)) " " a href=(params.without_search().page_url(target)) aria-label=(text!("Remove the search")) { "×" } }
                }
            }
        }
    }
}

fn render_tool(
    target: &Target<'_>,
    params: &ListParams,
    tool: Tool,
    summary: &Markup,
    form: impl FnOnce() -> Markup,
) -> Markup {
    let is_open = params.open_tool == Some(tool);
    html! {
        details .tool id=(tool.id()) open[is_open] {
            summary { (summary) }
            @if is_open { (form()) } @else { a data-tool href=(url_with_open_tool(target, params, tool)) { (tool.link_label()) } }
        }
    }
}

/// The search box, if the user may read a text of the records.
fn search_box(request: &PanelRequest<'_>, target: &Target<'_>, params: &ListParams) -> Markup {
    let fields = search_fields(target.entry, &request.user.principal);
    let rest = params.without_search().pairs();
    let names: Vec<String> = fields.iter().map(|field| labels::field_within_sentence(field)).collect();
    let label = match names.split_last() {
        Some((last, [])) => text!("Search by {field}", field = last),
        Some((last, others)) => text!("Search by {fields} or {last}", fields = others.join(", "), last = last),
        None => return Markup::default(),
    };
    html! {
        form .search method="get" action=(target.collection()) role="search" {
            (filter_form::hidden_inputs(&rest))
            input #search type="search" name="search" value=[params.search.as_deref()] placeholder=(label) aria-label=(label);
        }
    }
}
