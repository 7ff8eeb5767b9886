//! Saved views of a list: the tabs, the selected view, and saving the current list as a view.

use std::sync::Arc;

use maud::{Markup, html};
use salvo::http::StatusCode;
use serde_json::{Value, json};

use super::columns::Column;
use super::filter_row::{FilterRow, from_json};
use super::params::ListParams;
use super::related_columns;
use crate::language::{html_text, message, text};
use crate::panel::format::labels;
use crate::panel::record::input;
use crate::panel::request::{PanelRequest, form_value, if_match};
use crate::panel::session::flash::Flash;
use crate::panel::target::Target;
use crate::panel::{layout, url};
use crate::server::Response;
use charter_core::error::{Error, Result};
use charter_core::meta::Operation;
use charter_core::query::{Pair, decode, search_fields};
use charter_platform::view::ViewVersion;

/// The action that copies a view, and the form field with the id of the view.
const CLONE: &str = "clone";

/// Limit of a query string, in bytes. The server accepts no longer URL.
const MAX_QUERY_BYTES: usize = 64 << 10;

/// The saved views of one list that the user may see.
#[derive(Debug)]
pub(crate) struct SavedViews {
    views: Arc<Vec<Value>>,
    /// The record of the selected view.
    selected: Option<Value>,
    /// The `ETag` of the selected view.
    version: Option<String>,
}

impl SavedViews {
    /// # Errors
    /// When the database fails.
    pub(crate) async fn load(
        request: &PanelRequest<'_>,
        target: &Target<'_>,
        selected: Option<i64>,
    ) -> Result<SavedViews> {
        let views = load_visible(request, target.entry.meta.plural).await?;
        let (mut view, mut version) = (None, None);
        if let Some(id) = selected {
            let response = request.get(&format!("/custom_views/{id}")).await?;
            if response.is_success() {
                view = Some(response.json()?["custom_view"].clone());
                version = response.etag().map(String::from);
            }
        }
        Ok(SavedViews { views, selected: view, version })
    }

    /// The columns of the selected view, in its order.
    pub(crate) fn columns(&self) -> Option<Vec<String>> {
        let list = self.selected.as_ref()?["columns"].as_array()?;
        Some(list.iter().filter_map(|name| Some(name.as_str()?.to_string())).collect())
    }

    /// The conditions of the selected view; empty if a [`FilterRow`] cannot hold them.
    pub(crate) fn conditions(&self) -> Vec<FilterRow> {
        self.selected.as_ref().and_then(|view| from_json(&view["filters"])).unwrap_or_default()
    }

    /// The sort order of the selected view, as the parameter `sort`.
    pub(crate) fn sort(&self) -> Option<String> {
        let view = self.selected.as_ref()?;
        let column = view["sort_column"].as_str()?;
        let sign = if view["sort_direction"] == "desc" { "-" } else { "" };
        Some(format!("{sign}{column}"))
    }

    /// The name of the selected view.
    pub(crate) fn selected_name(&self) -> Option<String> {
        self.selected.as_ref().map(|view| input::to_text(&view["name"]))
    }

    /// The page size of the selected view.
    pub(crate) fn per_page(&self) -> Option<String> {
        let view = self.selected.as_ref()?;
        Some(input::to_text(&view["per_page"])).filter(|count| !count.is_empty())
    }

    /// The conditions of the selected view and of the list, and whether one list of conditions can express both. As in
    /// a list, `q[...]` replaces the view's condition with the same field and predicate.
    fn merge_conditions(&self, params: &ListParams) -> (Value, bool) {
        let mut filters = params.filters_json().as_array().cloned().unwrap_or_default();
        let Some(own) = self.selected.as_ref().and_then(|view| view["filters"].as_array()) else {
            return (Value::Array(filters), true);
        };
        let same =
            |one: &Value, other: &Value| one["field"] == other["field"] && one["predicate"] == other["predicate"];
        let mut all: Vec<Value> = own.clone();
        all.retain(|one| !filters.iter().skip(params.filters_param_rows()).any(|other| same(one, other)));
        let is_expressible = all.is_empty() || params.rows.iter().all(|row| row.logic == "and");
        all.append(&mut filters);
        (Value::Array(all), is_expressible)
    }

    /// The views as tabs, and the menu that saves the current list.
    pub(crate) fn render(
        &self,
        request: &PanelRequest<'_>,
        target: &Target<'_>,
        params: &ListParams,
        shown: &[&Column],
    ) -> Markup {
        let selected = self.selected.as_ref().and_then(|view| view["id"].as_i64());
        let entry = request.state.catalog.linked("custom_view");
        let may_save = request.may(entry, Operation::Create);
        let view_menu =
            self.selected.as_ref().and_then(|view| self.render_view_menu(request, target, params, shown, view));
        html! {
            @if self.is_changed(params) { (self.render_changes(request, target, params, shown)) }
            div .views {
                nav aria-label=(text!("Saved views")) {
                    ul {
                        li { a href=(target.collection()) aria-current=[(selected.is_none() && params.view_id.is_none()).then_some("true")] { (text!("All")) } }
                        @for view in self.views.iter() {
                            @let id = view["id"].as_i64();
                            li { a href={ (target.collection()) "?view_id=" (input::to_text(&view["id"])) } aria-current=[(id == selected).then_some("true")] {
                                (input::to_text(&view["name"]))
                                @if view["visibility"] != "personal" { " " span .badge { (labels::from_name(&input::to_text(&view["visibility"]))) } }
                            } }
                        }
                    }
                }
                @if may_save || view_menu.is_some() {
                    details .menu {
                        summary { @if view_menu.is_some() { (text!("View")) } @else { (text!("Save view")) } }
                        div {
                            (view_menu.unwrap_or_default())
                            @if may_save { (render_save_form(request, target, params, shown)) }
                        }
                    }
                }
            }
        }
    }

    /// Returns true if the list on screen differs from the selected view.
    fn is_changed(&self, params: &ListParams) -> bool {
        let differs = |chosen: Option<&String>, own: Option<String>| chosen.is_some() && chosen != own.as_ref();
        self.selected.is_some()
            && (!params.rows.is_empty()
                || params.search.is_some()
                || params.raw_conditions().next().is_some()
                || differs(params.sort.as_ref(), self.sort())
                || differs(params.per_page.as_ref(), self.per_page())
                || params.columns.is_some() && params.columns != self.columns())
    }

    /// The mark of a changed view, with the ways to keep or to drop the changes.
    fn render_changes(
        &self,
        request: &PanelRequest<'_>,
        target: &Target<'_>,
        params: &ListParams,
        shown: &[&Column],
    ) -> Markup {
        let Some(view) = &self.selected else { return html! {} };
        let id = input::to_text(&view["id"]);
        html! {
            div .changed-view role="status" {
                p { (html_text!("The view {name} is changed on this screen.", name = html! { strong { (input::to_text(&view["name"])) } })) }
                @if may_update(request, view) { (self.update_form(request, target, params, shown, &id, true)) }
                a .button href={ (target.collection()) "?view_id=" (id) } { (text!("Discard the changes")) }
            }
        }
    }

    /// The form that stores the list on screen in the selected view.
    fn update_form(
        &self,
        request: &PanelRequest<'_>,
        target: &Target<'_>,
        params: &ListParams,
        shown: &[&Column],
        id: &str,
        is_primary: bool,
    ) -> Markup {
        html! {
            form method="post" action={ (target.collection()) "/views" } {
                (list_state_inputs(request, params, shown))
                input type="hidden" name="into" value=(id);
                input type="hidden" name="_version" value=[&self.version];
                button .primary[is_primary] { @if is_primary { (text!("Save the view")) } @else { (text!("Update this view")) } }
            }
        }
    }

    /// Operations on the selected view; `None` if the user may use none.
    fn render_view_menu(
        &self,
        request: &PanelRequest<'_>,
        target: &Target<'_>,
        params: &ListParams,
        shown: &[&Column],
        view: &Value,
    ) -> Option<Markup> {
        let may_update = may_update(request, view);
        let may_copy = request.may_do(request.state.catalog.linked("custom_view"), CLONE);
        let id = input::to_text(&view["id"]);
        (may_update || may_copy).then(|| {
            html! {
                div .menu-part {
                    @if may_update {
                        (self.update_form(request, target, params, shown, &id, false))
                        a .button href={ "/custom_views/" (id) "/edit" } { (text!("Edit view")) }
                    }
                    @if may_copy {
                        form method="post" action={ (target.collection()) "/views" } {
                            (layout::csrf_input(request))
                            input type="hidden" name="_query" value=(query_string(params));
                            input type="hidden" name=(CLONE) value=(id);
                            button { (text!("Copy this view")) }
                        }
                    }
                }
            }
        })
    }
}

/// Returns true if the user may change this view.
fn may_update(request: &PanelRequest<'_>, view: &Value) -> bool {
    let entry = request.state.catalog.linked("custom_view");
    request.may(entry, Operation::Update) && request.may_change_record(entry, view)
}

/// The saved views of a resource that the user may see, cached.
async fn load_visible(request: &PanelRequest<'_>, plural: &'static str) -> Result<Arc<Vec<Value>>> {
    let caller = &request.user.principal;
    let key = (caller.user_id, caller.role_ids.clone(), plural);
    let read = async {
        let query = "fields=id,name,visibility,user_id&sort=name&per_page=100&count=none";
        let response = request.get(&format!("/custom_views?q[entity_type_eq]={plural}&{query}")).await?;
        match response.status {
            StatusCode::FORBIDDEN => Ok(Vec::new()),
            _ => Ok(response.json()?["custom_views"].as_array().cloned().unwrap_or_default()),
        }
    };
    let version = request.state.extension::<ViewVersion>()?.current() + request.state.db.server_changes();
    // If the views cannot be read, the list is shown without them. Errors are not cached.
    Ok(request.cache.views.get(key, version, &request.state.clock, read).await.unwrap_or_default())
}

/// The current list as hidden inputs.
fn list_state_inputs(request: &PanelRequest<'_>, params: &ListParams, shown: &[&Column]) -> Markup {
    let names: Vec<&str> = shown.iter().map(|column| column.name.as_str()).collect();
    html! {
        (layout::csrf_input(request))
        input type="hidden" name="_query" value=(query_string(params));
        input type="hidden" name="columns" value=(names.join(","));
    }
}

fn render_save_form(request: &PanelRequest<'_>, target: &Target<'_>, params: &ListParams, shown: &[&Column]) -> Markup {
    let caller = &request.user.principal;
    html! {
        form .menu-part method="post" action={ (target.collection()) "/views" } {
            (list_state_inputs(request, params, shown))
            label .field { span { (text!("Name")) } input name="name" required maxlength="255" autocomplete="off"; }
            label .field { span { (text!("Visibility")) }
                select name="visibility" {
                    option value="personal" { (text!("Personal: visible to me")) }
                    @if !caller.role_ids.is_empty() { option value="shared" { (text!("Shared: visible to my roles")) } }
                    @if caller.is_admin { option value="system" { (text!("System: visible to everyone")) } }
                }
            }
            button .primary { @if params.view_id.is_some() { (text!("Save as a new view")) } @else { (text!("Save this list")) } }
        }
    }
}

/// The query string of a list.
pub(crate) fn query_string(params: &ListParams) -> String {
    url::with_query("", &params.pairs()).trim_start_matches('?').to_string()
}

/// Saves the current list as a new or an existing view, or copies a view.
pub(crate) async fn save_or_clone(request: &PanelRequest<'_>, target: &Target<'_>, form: &[Pair]) -> Result<Response> {
    let sent = |name: &str| form_value(form, name);
    let entry = target.entry;
    let response = if let Some(id) = sent(CLONE) {
        let id: i64 = id.parse().map_err(|_| Error::NotFound)?;
        request.send("POST", &format!("/custom_views/{id}/{CLONE}"), &[], None).await?
    } else {
        let columns = related_columns::load(request, entry).await?;
        let query = sent("_query").unwrap_or_default();
        if query.len() > MAX_QUERY_BYTES {
            return Err(Error::Malformed(text!("The URL of the list is too long.")));
        }
        let params = ListParams::parse(decode(query)?, &columns, request.locale.zone)?;
        let views = SavedViews::load(request, target, params.view_id).await?;
        let (mut filters, is_expressible) = views.merge_conditions(&params);
        if let Some(filters) = filters.as_array_mut() {
            filters.extend(params.search_conditions(&search_fields(entry, &request.user.principal)));
        }
        if !is_expressible {
            let message = text!("The conditions of the view cannot be combined with conditions that contain “or”.");
            return Err(Error::Malformed(message));
        }
        let sort = params.sort.clone().or_else(|| views.sort()).unwrap_or_default();
        let direction = match sort.starts_with('-') {
            true => "desc",
            false => "asc",
        };
        let names: Vec<&str> = sent("columns").unwrap_or_default().split(',').filter(|name| !name.is_empty()).collect();
        let mut view = json!({
            "columns": names,
            "filters": filters,
            "sort_column": sort.trim_start_matches('-'),
            "sort_direction": direction,
            "per_page": params.per_page.clone().or_else(|| views.per_page()).unwrap_or_else(|| "20".into()),
        });
        match sent("into") {
            Some(id) => {
                let id: i64 = id.parse().map_err(|_| Error::NotFound)?;
                request
                    .send("PUT", &format!("/custom_views/{id}"), &if_match(form), Some(&without_empty_sort(view)))
                    .await?
            }
            None => {
                view["name"] = json!(sent("name"));
                view["entity_type"] = json!(entry.meta.plural);
                view["visibility"] = json!(sent("visibility").unwrap_or("personal"));
                view["role_ids"] = json!(request.user.principal.role_ids);
                request.send("POST", "/custom_views", &[], Some(&without_empty_sort(view))).await?
            }
        }
    };
    if !response.is_success() {
        let problem = response.problem();
        let title = text!("The view was not saved");
        let view_meta = request.state.catalog.linked("custom_view").meta;
        let content = html! {
            (layout::header(&[(target.collection(), labels::plural(entry.meta))], &html! { (title) }, &html! {}))
            div .problem role="alert" {
                ul { @for (name, messages) in &problem.errors { li { (labels::error_field(view_meta, name)) " " (labels::messages(messages)) } } }
                @if response.status == StatusCode::PRECONDITION_FAILED { p { (text!("Somebody else changed this view. Reload it and try again.")) } }
                @else if problem.errors.is_empty() { p { (message(&problem.message)) } }
            }
            p { a .button href={ (target.collection()) "?" (sent("_query").unwrap_or_default()) } { (text!("Back to the list")) } }
        };
        return Ok(layout::page_with_status(request, response.status, &title, &content));
    }
    let id = response.json()?["custom_view"]["id"].clone();
    Ok(Flash::Saved.redirect(&format!("{}?view_id={}", target.collection(), input::to_text(&id))))
}

/// Removes the sort fields if the list is not sorted.
fn without_empty_sort(mut view: Value) -> Value {
    if view["sort_column"] == ""
        && let Some(fields) = view.as_object_mut()
    {
        fields.remove("sort_column");
        fields.remove("sort_direction");
    }
    view
}
