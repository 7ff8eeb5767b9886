//! Named actions: their buttons, the form of those that have an input, and what they answer.

use maud::{Markup, html};
use salvo::http::StatusCode;
use serde_json::{Map, Value};

use super::api::Reply;
use super::cell::{self, Room};
use super::place::Place;
use super::said::Said;
use super::title::Titles;
use super::visit::{Visit, if_match, sent_back};
use super::{choice, input, page, record, see, sent, title, words};
use crate::error::{Error, Result};
use crate::meta::{ActionMeta, ActionMethod, ActionOn, ActionOutput, FieldMeta};
use crate::query::Pair;
use crate::server::Answer;

/// Whether an action asks nothing, changes nothing and answers something: that stands on the page of its record.
pub fn is_answered_in_place(action: &ActionMeta) -> bool {
    let asks = action.on == ActionOn::Record && action.method == ActionMethod::Get && action.input.is_empty();
    asks && matches!(action.output, ActionOutput::Fields { .. })
}

/// What can be asked of a record without saying more: what an attempt at a delivery sent.
pub async fn answers(visit: &Visit<'_>, place: &Place<'_>) -> Result<Markup> {
    let mut shown = Vec::new();
    for action in place.entry.meta.actions.iter().filter(|action| is_answered_in_place(action)) {
        let ActionOutput::Fields { key, fields } = action.output else { continue };
        if !may(visit, place, action) {
            continue;
        }
        let reply = visit.get(&format!("{}/{}", place.path(), action.name)).await?;
        if reply.is_success() {
            shown.push((words::action(action), answered(visit, fields, &reply.json()?[key])));
        }
    }
    Ok(html! { @for (label, values) in shown { section .card { h2 { (label) } (values) } } })
}

/// Whether the user may do this with the place's record.
pub fn may(visit: &Visit<'_>, place: &Place<'_>, action: &ActionMeta) -> bool {
    // The one action that needs more than a permission.
    if place.entry.meta.name == "user" && action.name == "invite" && !visit.user.principal.is_admin {
        return false;
    }
    match action.method {
        ActionMethod::Get if !action.needs_write => visit.may_read(place.entry),
        ActionMethod::Get | ActionMethod::Post => visit.may_write(place.entry),
    }
}

/// Whether the record tells that it is done already.
pub fn is_done(action: &ActionMeta, record: &Value) -> bool {
    let Some((until, value)) = action.until.and_then(|until| Some((until, record.get(until.field)?))) else {
        return false;
    };
    let is = match value {
        Value::Null => false,
        Value::Bool(is) => *is,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        _ => true,
    };
    is == until.is
}

/// What runs it, or leads to its form.
pub fn button(visit: &Visit<'_>, place: &Place<'_>, action: &'static ActionMeta, version: &str) -> Markup {
    let label = words::action(action);
    if action.input.is_empty() && action.method == ActionMethod::Post {
        return html! {
            form .one method="post" action={ (place.path()) "/" (action.name) } {
                (page::token(visit))
                @if matches!(action.output, ActionOutput::Record) { input type="hidden" name="_version" value=(version); }
                button title=[(!action.description.is_empty()).then_some(action.description)] { (label) }
            }
        };
    }
    html! { a .button href={ (place.path()) "/" (action.name) } { (label) "…" } }
}

/// Runs a named action, or shows its form and what it answers.
pub async fn run(visit: &Visit<'_>, place: &Place<'_>, name: &str, form: &[Pair]) -> Result<Answer> {
    let on = if place.is_list() { ActionOn::Collection } else { ActionOn::Record };
    let action = place.entry.meta.actions.iter().find(|action| action.name == name && action.on == on);
    let action = action.ok_or(Error::NotFound)?;
    if !may(visit, place, action) {
        return Err(page::not_permitted());
    }
    if is_answered_in_place(action) {
        return Ok(see(&place.path()));
    }
    let path = format!("{}/{name}", place.path());
    let reads = action.method == ActionMethod::Get;
    let sent = if reads { visit.asked.pairs()? } else { form.to_vec() };
    let catalog = &visit.state.catalog;
    let values = sent::read(catalog, action.input, &[], visit.locale.zone, &sent, true)?;
    if form.is_empty() && values.is_empty() {
        return asking(visit, place, action, &values, None, &html! {}, StatusCode::OK).await;
    }
    let reply = match reads {
        true => {
            let pairs: Vec<Pair> =
                values.iter().map(|(name, value)| Pair { name: name.clone(), value: input::text(value) }).collect();
            visit.get(&super::condition::address(&path, &pairs)).await?
        }
        false => visit.send("POST", &path, &if_match(&sent), Some(&Value::Object(values.clone()))).await?,
    };
    if !reply.is_success() {
        if reply.status.as_u16() == 422 && !action.input.is_empty() {
            return asking(visit, place, action, &values, Some(&reply), &html! {}, reply.status).await;
        }
        return record::refused(visit, place, &format!("{} did not work", words::action(action)), &reply);
    }
    let body = reply.json()?;
    match action.output {
        ActionOutput::Fields { key, fields } => {
            let shown = html! { section .card role="status" { (answered(visit, fields, &body[key])) } };
            asking(visit, place, action, &values, None, &shown, StatusCode::OK).await
        }
        ActionOutput::Record | ActionOutput::Created => {
            let shown = &body[place.entry.meta.name];
            let place = shown["id"].as_i64().map_or(*place, |id| place.of(id));
            let back = sent_back(form).map_or_else(|| place.path(), String::from);
            if record::reveals(place.entry, shown) {
                Ok(record::revealed(visit, &place, shown))
            } else {
                Ok(Said::Done.at(&back))
            }
        }
    }
}

/// The page of an action: its form, and below it what came of it.
async fn asking(
    visit: &Visit<'_>,
    place: &Place<'_>,
    action: &'static ActionMeta,
    values: &Map<String, Value>,
    refusal: Option<&Reply>,
    shown: &Markup,
    status: StatusCode,
) -> Result<Answer> {
    let entry = place.entry;
    let problem = refusal.map(Reply::problem).unwrap_or_default();
    let label = words::action(action);
    let mut trail = vec![(place.collection(), words::plural(entry.meta))];
    if let Some(id) = place.id {
        trail.push((place.path(), title::by_id(visit, entry, id).await?));
    }
    let titles = Titles::default();
    let content = html! {
        (page::head(&trail, &html! { (label) }, &html! {}))
        @if !action.description.is_empty() { p .lead-text { (words::described(action.description)) } }
        (shown)
        form .record method=(if action.method == ActionMethod::Get { "get" } else { "post" }) action={ (place.path()) "/" (action.name) } novalidate {
            @if action.method == ActionMethod::Post { (page::token(visit)) }
            @for field in action.input {
                @let problems = problem.errors.get(field.name);
                @let id = format!("field-{}", field.name);
                @let value = values.get(field.name).cloned().unwrap_or_default();
                @let given = input::Given {
                    id: id.clone(), name: field.name.into(), required: field.required, clearable: !field.required, value: &value,
                    choices: choice::of_kind(&visit.state.catalog, field.kind), described: problems.map(|_| format!("{id}-error")),
                    invalid: problems.is_some(), titles: &titles, search: input::places(visit, Some(field)), shown: None, widget: None,
                };
                div .field .invalid[problems.is_some()] {
                    label for=(id) { (words::field(field)) @if field.required { " " span .required { "*" } } }
                    (input::of(visit, field.kind, field.rules, &given))
                    @if let Some(said) = problems { p .error id={ (id) "-error" } { (words::field(field)) " " (said.join("; ")) } }
                    @if !words::help(field).is_empty() { p .help { (words::described(words::help(field))) } }
                }
            }
            div .buttons { button .primary { (label) } a .button href=(place.path()) { "Back" } }
        }
    };
    Ok(page::with_status(visit, status, &label, &content))
}

/// What an action answers.
fn answered(visit: &Visit<'_>, fields: &'static [FieldMeta], answer: &Value) -> Markup {
    html! {
        dl .facts { @for field in fields {
            div .wide[cell::is_long(field.kind, &answer[field.name])] { dt { (words::field(field)) } dd { (cell::alone(visit, field, field.kind, &answer[field.name], Room::Page)) } }
        } }
    }
}
