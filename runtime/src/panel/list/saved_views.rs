//! Saved views of a list: those that the user sees, the one that is chosen, and how one is made from what is on screen.

use std::sync::Arc;

use maud::{Markup, html};
use salvo::http::StatusCode;
use serde_json::{Value, json};

use super::columns::{self, Column};
use super::condition::Wish;
use super::place::Place;
use super::row::{Row, from_json};
use super::said::Said;
use super::visit::{Visit, field, if_match};
use super::{input, page, words};
use crate::error::{Error, Result};
use crate::query::{Pair, decode};
use crate::server::Answer;

/// No address that the server reads is longer.
const LONGEST_QUERY: usize = 64 << 10;

/// The views of one list.
#[derive(Debug)]
pub struct Shelf {
    views: Arc<Vec<Value>>,
    /// The whole record of the one that is chosen.
    pub chosen: Option<Value>,
    /// Its version.
    version: Option<String>,
}

impl Shelf {
    /// Reads the views that the user sees.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn load(visit: &Visit<'_>, place: &Place<'_>, chosen: Option<i64>) -> Result<Shelf> {
        let views = seen(visit, place.entry.meta.plural).await?;
        let (mut view, mut version) = (None, None);
        if let Some(id) = chosen {
            let reply = visit.get(&format!("/custom_views/{id}")).await?;
            if reply.is_success() {
                view = Some(reply.json()?["custom_view"].clone());
                version = reply.etag().map(String::from);
            }
        }
        Ok(Shelf { views, chosen: view, version })
    }

    /// The columns of the chosen view, in its order.
    pub fn columns(&self) -> Option<Vec<String>> {
        let list = self.chosen.as_ref()?["columns"].as_array()?;
        Some(list.iter().filter_map(|name| Some(name.as_str()?.to_string())).collect())
    }

    /// The conditions of the chosen view, as far as they can be said.
    pub fn conditions(&self) -> Vec<Row> {
        self.chosen.as_ref().and_then(|view| from_json(&view["filters"])).unwrap_or_default()
    }

    /// The order of the chosen view, as `sort` says it.
    pub fn sort(&self) -> Option<String> {
        let view = self.chosen.as_ref()?;
        let column = view["sort_column"].as_str()?;
        let sign = if view["sort_direction"] == "desc" { "-" } else { "" };
        Some(format!("{sign}{column}"))
    }

    /// How many rows a page of the chosen view has.
    pub fn per_page(&self) -> Option<String> {
        let view = self.chosen.as_ref()?;
        Some(input::text(&view["per_page"])).filter(|count| !count.is_empty())
    }

    /// The conditions of the chosen view with those of the list, and whether one list of them can say both. As in a list,
    /// what `q[...]` asks of the same field in the same way takes the place of the view's.
    fn joined(&self, wish: &Wish) -> (Value, bool) {
        let mut filters = wish.filters().as_array().cloned().unwrap_or_default();
        let Some(own) = self.chosen.as_ref().and_then(|view| view["filters"].as_array()) else {
            return (Value::Array(filters), true);
        };
        let same =
            |one: &Value, other: &Value| one["field"] == other["field"] && one["predicate"] == other["predicate"];
        let mut all: Vec<Value> = own.clone();
        all.retain(|one| !filters.iter().skip(wish.listed()).any(|other| same(one, other)));
        let joined = all.is_empty() || wish.rows.iter().all(|row| row.logic == "and");
        all.append(&mut filters);
        (Value::Array(all), joined)
    }

    /// The views as tabs, and the form that saves what is on screen.
    pub fn bar(&self, visit: &Visit<'_>, place: &Place<'_>, wish: &Wish, shown: &[&Column]) -> Markup {
        let chosen = self.chosen.as_ref().and_then(|view| view["id"].as_i64());
        html! {
            div .views {
                nav aria-label="Saved views" {
                    ul {
                        li { a href=(place.collection()) aria-current=[(chosen.is_none() && wish.view_id.is_none()).then_some("true")] { "All" } }
                        @for view in self.views.iter() {
                            @let id = view["id"].as_i64();
                            li { a href={ (place.collection()) "?view_id=" (input::text(&view["id"])) } aria-current=[(id == chosen).then_some("true")] {
                                (input::text(&view["name"]))
                                @if view["visibility"] != "personal" { " " span .badge { (words::label(&input::text(&view["visibility"]))) } }
                            } }
                        }
                    }
                }
                details .menu {
                    summary { @if self.chosen.is_some() { "View" } @else { "Save as a view" } }
                    div {
                        @if let Some(view) = &self.chosen { (self.changes(visit, place, wish, shown, view)) }
                        (save(visit, place, wish, shown))
                    }
                }
            }
        }
    }

    /// What can be done with the chosen view.
    fn changes(&self, visit: &Visit<'_>, place: &Place<'_>, wish: &Wish, shown: &[&Column], view: &Value) -> Markup {
        let caller = &visit.user.principal;
        let own = view["user_id"].as_i64() == caller.user_id;
        let id = input::text(&view["id"]);
        html! {
            div .menu-part {
                @if own || caller.is_admin {
                    form method="post" action={ (place.collection()) "/views" } {
                        (kept(visit, wish, shown))
                        input type="hidden" name="into" value=(id);
                        input type="hidden" name="_version" value=[&self.version];
                        button { "Save into this view" }
                    }
                    a .button href={ "/custom_views/" (id) "/edit" } { "Edit the view" }
                }
                form method="post" action={ (place.collection()) "/views" } {
                    (page::token(visit))
                    input type="hidden" name="_query" value=(query(wish));
                    input type="hidden" name="clone" value=(id);
                    button { "Make a copy of my own" }
                }
            }
        }
    }
}

/// The views of a list that the user sees.
async fn seen(visit: &Visit<'_>, plural: &'static str) -> Result<Arc<Vec<Value>>> {
    let caller = &visit.user.principal;
    let key = (caller.user_id, caller.role_ids.clone(), plural);
    let read = async {
        let query = "fields=id,name,visibility,user_id&sort=name&per_page=100&count=none";
        let reply = visit.get(&format!("/custom_views?q[entity_type_eq]={plural}&{query}")).await?;
        match reply.status {
            StatusCode::FORBIDDEN => Ok(Vec::new()),
            _ => Ok(reply.json()?["custom_views"].as_array().cloned().unwrap_or_default()),
        }
    };
    // A list is a list without its views; but what was refused for a moment is not remembered.
    Ok(visit
        .remembered
        .views
        .get(key, visit.state.views_changed.count(), &visit.state.clock, read)
        .await
        .unwrap_or_default())
}

/// What is on screen, as a form sends it.
fn kept(visit: &Visit<'_>, wish: &Wish, shown: &[&Column]) -> Markup {
    let names: Vec<&str> = shown.iter().map(|column| column.name.as_str()).collect();
    html! {
        (page::token(visit))
        input type="hidden" name="_query" value=(query(wish));
        input type="hidden" name="columns" value=(names.join(","));
    }
}

fn save(visit: &Visit<'_>, place: &Place<'_>, wish: &Wish, shown: &[&Column]) -> Markup {
    let caller = &visit.user.principal;
    html! {
        form .menu-part method="post" action={ (place.collection()) "/views" } {
            (kept(visit, wish, shown))
            label .field { span { "Name" } input name="name" required maxlength="255" autocomplete="off"; }
            label .field { span { "Visibility" }
                select name="visibility" {
                    option value="personal" { "Personal: only I see it" }
                    @if !caller.role_ids.is_empty() { option value="shared" { "Shared: my roles see it" } }
                    @if caller.is_admin { option value="system" { "System: everybody sees it" } }
                }
            }
            button .primary { @if wish.view_id.is_some() { "Save as another view" } @else { "Save what is shown" } }
        }
    }
}

/// The list's address without its path.
pub fn query(wish: &Wish) -> String {
    let address = super::condition::address("", &wish.pairs());
    address.trim_start_matches('?').to_string()
}

/// Saves what is on screen, or copies a view.
pub async fn save_or_clone(visit: &Visit<'_>, place: &Place<'_>, form: &[Pair]) -> Result<Answer> {
    let sent = |name: &str| field(form, name);
    let entry = place.entry;
    let reply = if let Some(id) = sent("clone") {
        let id: i64 = id.parse().map_err(|_| Error::NotFound)?;
        visit.send("POST", &format!("/custom_views/{id}/clone"), &[], None).await?
    } else {
        let columns = columns::all(visit, entry).await?;
        let query = sent("_query").unwrap_or_default();
        if query.len() > LONGEST_QUERY {
            return Err(Error::Malformed("The list's address is too long.".into()));
        }
        let wish = Wish::read(decode(query)?, &columns, visit.locale.zone)?;
        let shelf = Shelf::load(visit, place, wish.view_id).await?;
        let (filters, joined) = shelf.joined(&wish);
        if !joined {
            let said = "A view cannot keep these conditions: its own, and others that are joined by “or”.";
            return Err(Error::Malformed(said.into()));
        }
        let sort = wish.sort.clone().or_else(|| shelf.sort()).unwrap_or_default();
        let names: Vec<&str> = sent("columns").unwrap_or_default().split(',').filter(|name| !name.is_empty()).collect();
        let mut view = json!({
            "columns": names,
            "filters": filters,
            "sort_column": sort.trim_start_matches('-'),
            "sort_direction": if sort.starts_with('-') { "desc" } else { "asc" },
            "per_page": wish.per_page.clone().or_else(|| shelf.per_page()).unwrap_or_else(|| "20".into()),
        });
        match sent("into") {
            Some(id) => {
                let id: i64 = id.parse().map_err(|_| Error::NotFound)?;
                visit.send("PUT", &format!("/custom_views/{id}"), &if_match(form), Some(&trimmed(view))).await?
            }
            None => {
                view["name"] = json!(sent("name"));
                view["entity_type"] = json!(entry.meta.plural);
                view["visibility"] = json!(sent("visibility").unwrap_or("personal"));
                view["role_ids"] = json!(visit.user.principal.role_ids);
                visit.send("POST", "/custom_views", &[], Some(&trimmed(view))).await?
            }
        }
    };
    if !reply.is_success() {
        let problem = reply.problem();
        let content = html! {
            (page::head(&[(place.collection(), words::plural(entry.meta))], &html! { "The view was not saved" }, &html! {}))
            div .problem role="alert" {
                ul { @for (name, said) in &problem.errors { li { (words::label(name)) " " (said.join("; ")) } } }
                @if reply.status == StatusCode::PRECONDITION_FAILED { p { "Somebody else has changed it meanwhile: look at it again first." } }
                @else if problem.errors.is_empty() { p { (problem.message) } }
            }
            p { a .button href={ (place.collection()) "?" (sent("_query").unwrap_or_default()) } { "Back to the list" } }
        };
        return Ok(page::with_status(visit, reply.status, "The view was not saved", &content));
    }
    let made = reply.json()?["custom_view"]["id"].clone();
    Ok(Said::Saved.at(&format!("{}?view_id={}", place.collection(), input::text(&made))))
}

/// Without an order there is no column of one.
fn trimmed(mut view: Value) -> Value {
    if view["sort_column"] == ""
        && let Some(fields) = view.as_object_mut()
    {
        fields.remove("sort_column");
        fields.remove("sort_direction");
    }
    view
}
