//! Page of an import: its state, the mapping of its columns, and the report with the first refused rows.

use maud::{Markup, html};
use salvo::http::StatusCode;
use serde_json::{Map, Value, json};

use super::MAPPING;
use super::upload::TOKEN;
use crate::language::{message, text};
use crate::panel::confirmation::deletion;
use crate::panel::format::labels;
use crate::panel::record::{action, input};
use crate::panel::request::{PanelRequest, form_value, if_match};
use crate::panel::session::flash::Flash;
use crate::panel::target::Target;
use crate::panel::{layout, record, redirect};
use crate::server::ApiResponse;
use crate::server::Response;
use charter_core::catalog::Entry;
use charter_core::custom_field;
use charter_core::error::{Error, Result};
use charter_core::meta::{ActionMeta, ActionOn, Operation};
use charter_core::query::Pair;
use charter_model::reserved::DELETE_PAGE;
use charter_platform::import::{IGNORED, targets};

/// Refused rows on the page.
const MAX_ROWS: usize = 20;

/// The name of the buttons that send the mapping and continue with an action.
const NEXT: &str = "_next";

/// Seconds after which the page of an import at work is loaded again.
const REFRESH_SECONDS: &str = "2";

/// The words for a state in which a worker has work.
fn active_words(status: &str) -> Option<String> {
    match status {
        "rehearsing" => Some(text!("Rehearsal in progress")),
        "running" => Some(text!("Import in progress")),
        "undoing" => Some(text!("Undo in progress")),
        _ => None,
    }
}

/// The words for a state.
fn state_words(status: &str) -> String {
    match status {
        "uploaded" => text!("Uploaded"),
        "rehearsing" => text!("Rehearsing"),
        "rehearsed" => text!("Rehearsed"),
        "running" => text!("Running"),
        "done" => text!("Done"),
        "cancelled" => text!("Cancelled"),
        "failed" => text!("Failed"),
        "undoing" => text!("Undoing"),
        "undone" => text!("Undone"),
        other => labels::from_name(other),
    }
}

/// The page of an import.
///
/// # Errors
/// Those of the API.
pub(crate) async fn show(request: &PanelRequest<'_>, target: &Target<'_>) -> Result<Response> {
    show_with(request, target, None).await
}

async fn show_with(request: &PanelRequest<'_>, target: &Target<'_>, refused: Option<&ApiResponse>) -> Result<Response> {
    let response = request.get(&target.path()).await?;
    let import = response.json()?[target.entry.meta.name].clone();
    let version = response.etag().unwrap_or_default().to_string();
    let status = input::to_text(&import["status"]);
    let active = active_words(&status);
    let of = request.state.catalog.by_plural(&input::to_text(&import["entity_type"]));
    let title = input::to_text(&import["file_name"]);
    let has_mapping = of.is_some()
        && ["uploaded", "rehearsed"].contains(&status.as_str())
        && request.may(target.entry, Operation::Update);
    let content = html! {
        (header(request, target, (&title, &status, &version), has_mapping))
        @if let Some(response) = refused { (problems(target, response)) }
        @if let Some(words) = &active {
            div .notice role="status" {
                p { (words) ": " (progress(request, &import)) }
                p { a .button href=(target.path()) { (text!("Reload")) } }
            }
        }
        @if let Some(error) = import["error"].as_str() { div .problem role="alert" { p { (message(error)) } } }
        (facts(request, &import, of))
        @if active.is_none() { (rejected_rows(request, target, &import, of).await?) }
        @if let Some(entry) = of.filter(|_| has_mapping) { (mapping_form(request, target, &import, entry, &version).await?) }
    };
    let status = refused.map_or(StatusCode::OK, |response| response.status);
    let page = layout::page_with_status(request, status, &title, &content);
    // Browsers reload the page by this header without a script.
    Ok(if active.is_some() { page.with_text("refresh", REFRESH_SECONDS) } else { page })
}

/// With a mapping on the page, the buttons of the actions send it too: the action follows what the page shows.
fn header(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
    (title, status, version): (&str, &str, &str),
    has_mapping: bool,
) -> Markup {
    let offered: &[&str] = match status {
        "uploaded" | "rehearsed" => &["rehearse", "run"],
        "rehearsing" | "running" | "undoing" => &["cancel"],
        "cancelled" | "failed" => &["run", "undo"],
        "done" => &["undo"],
        _ => &[],
    };
    let actions = target.entry.meta.actions.iter().filter(|known| {
        known.on == ActionOn::Record && offered.contains(&known.name) && action::may_run(request, target, known)
    });
    let buttons = html! {
        @for known in actions {
            @if has_mapping { button form=(MAPPING) name=(NEXT) value=(known.name) { (mapping_button_label(known)) } } @else { (action::button(request, target, known, version)) }
        }
        @if request.may(target.entry, Operation::Delete) {
            details .menu {
                summary { (text!("More")) }
                div .menu-part {
                    a .button.danger href={ (target.path()) "/" (DELETE_PAGE) } { (deletion::button_label(target.entry)) }
                }
            }
        }
    };
    layout::header(&[(target.collection(), labels::plural(target.entry.meta))], &html! { (title) }, &buttons)
}

/// `Run…` for an action with a question.
fn mapping_button_label(action: &ActionMeta) -> String {
    let label = labels::action(action);
    if action.confirm.is_empty() { label } else { text!("{action}…", action = label) }
}

/// `250 of 1,000 rows`
fn progress(request: &PanelRequest<'_>, import: &Value) -> String {
    let numbers = &request.locale.numbers;
    let count = |name: &str| import[name].as_i64().unwrap_or_default();
    if import["status"] == "undoing" {
        let done = count("undone_count") + count("left_count");
        let all = count("created_count") + count("changed_count");
        return text!("{done} of {all} records", done = numbers.count(done), all = numbers.count(all));
    }
    let (done, all) = (numbers.count(count("rows_done")), numbers.count(count("row_count")));
    text!("{done} of {all} rows", done = done, all = all)
}

/// The state and the counts.
fn facts(request: &PanelRequest<'_>, import: &Value, of: Option<&Entry>) -> Markup {
    let has_run = ["running", "done", "cancelled", "failed", "undoing", "undone"]
        .contains(&import["status"].as_str().unwrap_or_default());
    let count = |name: &str| request.locale.numbers.count(import[name].as_i64().unwrap_or_default());
    let is_counted = import["status"] != "uploaded";
    let columns = import["columns"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let ignored: Vec<&str> = columns.filter(|column| import["mapping"][column].is_null()).collect();
    html! {
        section .card aria-label=(text!("State")) {
            dl .facts {
                div { dt { (text!("Records")) } dd {
                    @match of {
                        Some(entry) if entry.meta.under.is_none() => { a href={ "/" (entry.meta.path) } { (labels::plural(entry.meta)) } }
                        Some(entry) => { (labels::plural(entry.meta)) }
                        None => { (input::to_text(&import["entity_type"])) }
                    }
                } }
                div { dt { (text!("State")) } dd { (state_words(&input::to_text(&import["status"]))) } }
                div { dt { (text!("Rows")) } dd { (count("row_count")) } }
                @if !ignored.is_empty() { div { dt { (text!("Columns that are not imported")) } dd data-ignored { (ignored.join(", ")) } } }
                @if is_counted {
                    @for (name, after, before) in [
                        ("created_count", text!("Created"), text!("Would be created")),
                        ("changed_count", text!("Changed"), text!("Would be changed")),
                        ("unchanged_count", text!("Unchanged"), text!("Unchanged")),
                        ("refused_count", text!("Refused"), text!("Would be refused")),
                    ] {
                        div { dt { (if has_run { after } else { before }) } dd data-count=(name) { (count(name)) } }
                    }
                }
                @if import["undone_count"] != 0 || import["left_count"] != 0 {
                    div { dt { (text!("Undone")) } dd data-count="undone_count" { (count("undone_count")) } }
                    div { dt { (text!("Left as they are")) } dd data-count="left_count" { (count("left_count")) } }
                }
            }
        }
    }
}

/// The first rows that were refused, or whose records were left.
async fn rejected_rows(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
    import: &Value,
    of: Option<&Entry>,
) -> Result<Markup> {
    let is_rejected = |name: &str| import[name].as_i64().is_some_and(|count| count > 0);
    if import["status"] == "uploaded" || !(is_rejected("refused_count") || is_rejected("left_count")) {
        return Ok(html! {});
    }
    let filter = "q[outcome_in]=refused,left&sort=number";
    let body = request.get_json(&format!("{}/rows?{filter}&per_page={MAX_ROWS}", target.path())).await?;
    let rows = body["import_rows"].as_array().cloned().unwrap_or_default();
    let total = body["meta"]["total"].as_i64().unwrap_or_default();
    Ok(html! {
        section .card {
            h2 { (text!("Rows with problems")) " " span .count { (request.locale.numbers.count(total)) } }
            div .scroll tabindex="0" role="region" aria-label=(text!("Rows with problems")) {
                table {
                    thead { tr { th scope="col" { (text!("Row")) } th scope="col" { (text!("Problem")) } } }
                    tbody { @for row in &rows {
                        tr { td { (input::to_text(&row["number"])) } td { (row_problems(of, &row["errors"])) } }
                    } }
                }
            }
            @if total > rows.len() as i64 { p { a .button.small href={ (target.path()) "/rows?" (filter) } { (text!("Show all")) } } }
        }
    })
}

fn row_problems(of: Option<&Entry>, errors: &Value) -> String {
    let fields = errors.as_object().into_iter().flatten();
    let texts = fields.map(|(name, messages)| {
        let messages: Vec<&str> = messages.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        // A sentence stands alone. In another language a capital letter does not tell.
        let is_sentence = messages.first().is_some_and(|first| first.starts_with(char::is_uppercase));
        let messages = messages.into_iter().map(message).collect::<Vec<_>>().join("; ");
        match is_sentence {
            true => messages,
            false => format!("{} {messages}", of.map_or(name.clone(), |entry| labels::error_field(entry.meta, name))),
        }
    });
    texts.collect::<Vec<_>>().join("; ")
}

/// A select with the fields for each column, and one for the key.
async fn mapping_form(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
    import: &Value,
    entry: &Entry,
    version: &str,
) -> Result<Markup> {
    let definitions = match entry.meta.custom_fields {
        true => custom_field::load(request.state.db.reader(), entry.meta.plural).await?,
        false => Vec::new(),
    };
    let mut fields = targets(entry, &definitions);
    fields.retain(|(name, _)| entry.field(name).is_none_or(|field| request.may_set_field(entry, field)));
    for (name, label) in &mut fields {
        *label = entry.field(name).map_or_else(|| std::mem::take(label), labels::field);
    }
    let columns: Vec<&str> = import["columns"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mapped = |column: &str| import["mapping"][column].as_str().unwrap_or(IGNORED);
    let key = import["match_by"].as_str().unwrap_or_default();
    Ok(html! {
        section .card {
            h2 { (text!("Columns")) }
            form #(MAPPING) method="post" action={ (target.path()) "/" (MAPPING) } data-form {
                (layout::csrf_input(request))
                input type="hidden" name="_version" value=(version);
                div .scroll tabindex="0" role="region" aria-label=(text!("Columns")) {
                    table {
                        thead { tr { th scope="col" { (text!("Column of the file")) } th scope="col" { (text!("Field")) } } }
                        tbody { @for (index, column) in columns.iter().enumerate() {
                            tr {
                                td { label for=(format!("column-{index}")) { (column) } }
                                td { select id=(format!("column-{index}")) name=(format!("column.{index}")) {
                                    option value=(IGNORED) { (text!("Not imported")) }
                                    @for (name, label) in &fields { option value=(name) selected[name.as_str() == mapped(column)] { (label) } }
                                } }
                            }
                        } }
                    }
                }
                div .field {
                    label for="match_by" { (text!("Find existing records by")) }
                    select #match_by name="match_by" {
                        option value="" { (text!("Nothing: each row creates a record")) }
                        @for (name, label) in fields.iter().filter(|(name, _)| !name.starts_with("cf.")) {
                            option value=(name) selected[name == key] { (label) }
                        }
                    }
                }
                p { button { (text!("Save")) } }
            }
        }
    })
}

/// Saves the mapping, then continues with the action whose button sent it.
///
/// # Errors
/// Those of the API.
pub(crate) async fn change_plan(request: &PanelRequest<'_>, target: &Target<'_>, form: &[Pair]) -> Result<Response> {
    let import = request.get_json(&target.path()).await?[target.entry.meta.name].clone();
    let columns: Vec<&str> = import["columns"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut mapping = Map::new();
    for (index, column) in columns.iter().enumerate() {
        let name = form_value(form, &format!("column.{index}")).ok_or_else(|| {
            Error::Malformed(text!("The form does not have all columns of the file. Reload the page."))
        })?;
        mapping.insert((*column).to_string(), if name == IGNORED { Value::Null } else { name.into() });
    }
    let body = json!({ "mapping": mapping, "match_by": form_value(form, "match_by").unwrap_or_default() });
    let response = request.send("PATCH", &target.path(), &if_match(form), Some(&body)).await?;
    let next =
        form_value(form, NEXT).and_then(|name| target.entry.meta.actions.iter().find(|known| known.name == name));
    match (response.status.as_u16(), next) {
        (200, Some(next)) if !next.confirm.is_empty() => Ok(redirect(&format!("{}/{}", target.path(), next.name))),
        (200, Some(next)) => {
            // The version of the form is that before the mapping was saved.
            let unversioned: Vec<Pair> = form.iter().filter(|pair| pair.name == TOKEN).cloned().collect();
            action::run(request, target, next.name, &unversioned).await
        }
        (200, None) => Ok(Flash::Saved.redirect(&target.path())),
        (422, _) => show_with(request, target, Some(&response)).await,
        _ => record::error_page(request, target, &text!("The columns were not saved"), &response),
    }
}

fn problems(target: &Target<'_>, response: &ApiResponse) -> Markup {
    let problem = response.problem();
    html! {
        div .problem role="alert" {
            ul { @for (name, messages) in &problem.errors { li { (labels::error_field(target.entry.meta, name)) " " (labels::messages(messages)) } } }
        }
    }
}
