//! Actions of a resource: buttons, the form of an action with input, and its result.

use maud::{Markup, html};
use salvo::http::StatusCode;
use serde_json::{Map, Value};

use super::field_error::{FieldError, RefusedValue};
use super::form_snapshot::FormSnapshot;
use super::{choices, form_decode, input};
use crate::language::{self, html_text, message, text};
use crate::panel::display_name::{self, DisplayNames};
use crate::panel::format::value::{self, Placement};
use crate::panel::format::{labels, rule_words};
use crate::panel::request::{PanelRequest, if_match, return_path};
use crate::panel::session::flash::Flash;
use crate::panel::target::Target;
use crate::panel::{confirmation, layout, record, redirect, url};
use crate::server::ApiResponse;
use crate::server::Response;
use charter_core::catalog::Entry;
use charter_core::error::{Error, Result};
use charter_core::meta::{ActionMeta, ActionMethod, ActionOn, ActionOutput, FieldMeta, IncludeTarget};
use charter_core::ops::RouteOperation;
use charter_core::ops::consequences::consequences;
use charter_core::ops::protection::Protection;
use charter_core::query::Pair;
use charter_platform::auth::account_mail;

/// Returns true if the result of an action is shown on the page of its record: a GET without input.
pub(crate) fn is_shown_inline(action: &ActionMeta) -> bool {
    let is_get = action.on == ActionOn::Record && action.method == ActionMethod::Get && action.input.is_empty();
    is_get && matches!(action.output, ActionOutput::Fields { .. })
}

/// The results of the inline actions, such as the request of a delivery attempt.
pub(crate) async fn render_inline(request: &PanelRequest<'_>, target: &Target<'_>) -> Result<Markup> {
    let mut results = Vec::new();
    for action in target.entry.meta.actions.iter().filter(|action| is_shown_inline(action)) {
        let ActionOutput::Fields { key, fields } = action.output else { continue };
        if !may_run(request, target, action) {
            continue;
        }
        let response = request.get(&format!("{}/{}", target.path(), action.name)).await?;
        if response.is_success() {
            results.push((labels::action(action), render_result(request, fields, &response.json()?[key])));
        }
    }
    Ok(html! { @for (label, values) in results { section .card { h2 { (label) } (values) } } })
}

/// Returns true if the user may run an action.
pub(crate) fn may_run(request: &PanelRequest<'_>, target: &Target<'_>, action: &'static ActionMeta) -> bool {
    let caller = &request.user.principal;
    // The actions that are limited to administrators. Nobody erases the own account, or removes the own second factor
    // without the password.
    let is_limited = target.entry.meta.name == "user"
        && matches!(action.name, "invite" | "erase" | "remove_second_factor" | "unlink_identity");
    let is_for_others = matches!(action.name, "erase" | "remove_second_factor");
    if is_limited && (!caller.is_admin || (is_for_others && target.id == caller.user_id)) {
        return false;
    }
    // Nobody has an identity to unlink where there is no provider.
    if target.entry.meta.name == "user" && action.name == "unlink_identity" && request.state.oidc.is_none() {
        return false;
    }
    let entry = target.entry;
    request.may_read(entry) && request.may_do(entry, RouteOperation::Action(action).verb())
}

/// Returns true if an action with `until` was already run, by the value of its field.
pub(crate) fn is_done(action: &ActionMeta, record: &Value) -> bool {
    let Some((until, value)) = action.until.and_then(|until| Some((until, record.get(until.field)?))) else {
        return false;
    };
    let is_set = match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        _ => true,
    };
    is_set == until.is
}

/// The record's path with what [`refusal`] reads.
pub(crate) fn with_allowed_actions(target: &Target<'_>) -> String {
    let include = allowed_actions(target.entry);
    include.map_or_else(|| target.path(), |include| format!("{}?include={include}", target.path()))
}

/// The name of the include with the actions that the user may run.
pub(crate) fn allowed_actions(entry: &Entry) -> Option<&'static str> {
    let include = entry.meta.includes.iter().find(|include| include.target == IncludeTarget::AllowedActions);
    include.map(|include| include.name)
}

/// The reason why the state of a record, a condition or a permission does not allow an action.
pub(crate) fn refusal(entry: &Entry, action: &ActionMeta, record: &Value) -> Option<String> {
    let listed = record.get(allowed_actions(entry)?)?.as_array()?;
    let this = listed.iter().find(|one| one["action"] == action.name)?;
    this["why"].as_str().map(|why| rule_words::refusal(entry.meta, why))
}

/// Returns true if the rule `access.write` keeps the record of an action from the user. [`refusal`] tells it for an action that
/// `can` lists. A frozen record runs an action that leaves it as it is.
pub(crate) fn is_protected(entry: &Entry, action: &ActionMeta, protection: Option<Protection>) -> bool {
    let is_listed = action.rule.is_some() && allowed_actions(entry).is_some();
    protection == Some(Protection::Rule) && action.method != ActionMethod::Get && !is_listed
}

/// The button of an action that is not allowed, with the reason.
pub(crate) fn refused_button(action: &ActionMeta, why: &str) -> Markup {
    // A button with `disabled` has no focus, so that its reason could not be read.
    html! {
        button type="button" aria-disabled="true" title=(why) { (labels::action(action)) span .hidden { " (" (why) ")" } }
    }
}

/// The button that runs an action, or the link to its form or its question.
pub(crate) fn button(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
    action: &'static ActionMeta,
    version: &str,
) -> Markup {
    let label = labels::action(action);
    // The page of a record has the list that the user came from.
    let back = request.list_before(target).map(|_| request.raw.path_and_query());
    if action.input.is_empty() && action.confirm.is_empty() && action.method == ActionMethod::Post {
        return html! {
            form .one method="post" action={ (target.path()) "/" (action.name) } {
                (layout::csrf_input(request))
                @if let Some(back) = &back { input type="hidden" name="_back" value=(back); }
                @if matches!(action.output, ActionOutput::Record) { input type="hidden" name="_version" value=(version); }
                button title=[(!action.description.is_empty()).then(|| language::label(action.description))] { (label) }
            }
        };
    }
    let to = format!("{}/{}", target.path(), action.name);
    let to = match back.filter(|_| action.method == ActionMethod::Post) {
        Some(back) => url::with_back(&to, &back),
        None => to,
    };
    html! { a .button href=(to) { (text!("{action}…", action = label)) } }
}

/// Runs an action, or shows its form.
pub(crate) async fn run(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
    name: &str,
    form: &[Pair],
) -> Result<Response> {
    let on = if target.is_list() { ActionOn::Collection } else { ActionOn::Record };
    let action = target.entry.meta.actions.iter().find(|action| action.name == name && action.on == on);
    let action = action.ok_or(Error::NotFound)?;
    if !may_run(request, target, action) {
        return Err(layout::not_permitted());
    }
    if is_shown_inline(action) {
        return Ok(redirect(&target.path()));
    }
    let path = format!("{}/{name}", target.path());
    let is_get = action.method == ActionMethod::Get;
    let sent = if is_get { request.raw.query_pairs()? } else { form.to_vec() };
    let catalog = &request.state.catalog;
    let snapshot = FormSnapshot::parse(&sent, &request.locale)?;
    let values = form_decode::decode(catalog, action.input, &[], &snapshot, &sent, true)?;
    if form.is_empty() && values.is_empty() {
        // A question about a record tells nothing about one that the user may not see.
        if target.id.is_some() && !request.get(&target.path()).await?.is_success() {
            return Err(Error::NotFound);
        }
        return action_page(request, target, action, &values, None, &html! {}, StatusCode::OK).await;
    }
    let response = match is_get {
        true => {
            let pairs: Vec<Pair> =
                values.iter().map(|(name, value)| Pair { name: name.clone(), value: input::to_text(value) }).collect();
            request.get(&url::with_query(&path, &pairs)).await?
        }
        false => request.send("POST", &path, &if_match(&sent), Some(&Value::Object(values.clone()))).await?,
    };
    if !response.is_success() {
        if response.status.as_u16() == 422 && !action.input.is_empty() {
            return action_page(request, target, action, &values, Some(&response), &html! {}, response.status).await;
        }
        return record::error_page(
            request,
            target,
            &text!("{action} failed", action = labels::action(action)),
            &response,
        );
    }
    let body = response.json()?;
    match action.output {
        ActionOutput::Fields { key, fields } => {
            let result = html! { section .card role="status" { (render_result(request, fields, &body[key])) } };
            action_page(request, target, action, &values, None, &result, StatusCode::OK).await
        }
        ActionOutput::Record | ActionOutput::Created => {
            let record = &body[target.entry.meta.name];
            let target = record["id"].as_i64().map_or(*target, |id| target.record(id));
            let back = return_path(form).map_or_else(|| target.path(), String::from);
            if record::has_secrets(target.entry, record) {
                let note = mail_note(request, &target, action, record).await;
                Ok(record::secrets_page(request, &target, record, &note))
            } else {
                Ok(Flash::Done.redirect(&back))
            }
        }
    }
}

/// The note about the mail of an invitation, if mail is set.
async fn mail_note(request: &PanelRequest<'_>, target: &Target<'_>, action: &ActionMeta, record: &Value) -> Markup {
    let ("user", "invite", Some(id)) = (target.entry.meta.name, action.name, target.id) else { return html! {} };
    // The link is shown without the note rather than not at all.
    let result = account_mail::invitation_result(&request.context(), id).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "the result of a mail could not be read");
        None
    });
    match result {
        Some(Ok(())) => {
            let user = html! { strong { (record["email"].as_str().map_or_else(|| text!("the user"), String::from)) } };
            html! { div .notice role="status" { p { (html_text!("Sent to {user}.", user = user)) } } }
        }
        Some(Err(reason)) => {
            let advice = text!(
                "The mail could not be sent: {reason}. Give the link to the user yourself.",
                reason = message(&reason)
            );
            html! { div .problem role="alert" { p { (advice) } } }
        }
        None => html! {},
    }
}

/// The page of an action: its result, and its form.
async fn action_page(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
    action: &'static ActionMeta,
    values: &Map<String, Value>,
    error: Option<&ApiResponse>,
    result: &Markup,
    status: StatusCode,
) -> Result<Response> {
    let entry = target.entry;
    let problem = error.map(ApiResponse::problem).unwrap_or_default();
    let label = labels::action(action);
    let mut breadcrumbs = vec![(target.collection(), labels::plural(entry.meta))];
    if let Some(id) = target.id {
        breadcrumbs.push((target.path(), display_name::by_id(request, entry, id).await?));
    }
    let display_names = DisplayNames::default();
    let is_question = action.method == ActionMethod::Post && error.is_none();
    let consequences = match target.id.filter(|_| is_question) {
        Some(id) => consequences(&request.context(), entry, action.name, &[id]).await?,
        None => Vec::new(),
    };
    let has_question = !action.confirm.is_empty() || !consequences.is_empty();
    let back = return_path(&request.raw.query_pairs()?).map(String::from);
    let content = html! {
        (layout::header(&breadcrumbs, &html! { (label) }, &html! {}))
        @if !action.description.is_empty() { p .lead-text { (labels::render_code(&language::label(action.description))) } }
        @if has_question {
            div .notice {
                @if !action.confirm.is_empty() { p { strong { (labels::render_code(&language::label(action.confirm))) } } }
                (confirmation::render(request, (entry, target.id), &consequences))
            }
        }
        (result)
        form .record method=(if action.method == ActionMethod::Get { "get" } else { "post" }) action={ (target.path()) "/" (action.name) } novalidate {
            @if action.method == ActionMethod::Post {
                (layout::csrf_input(request))
                @if let Some(back) = &back { input type="hidden" name="_back" value=(back); }
            }
            @if !action.input.is_empty() { (FormSnapshot::of_locale(&request.locale).render()) }
            @for field in action.input {
                @let errors = problem.errors.get(field.name);
                @let id = format!("field-{}", field.name);
                @let value = values.get(field.name).cloned().unwrap_or_default();
                @let options = input::InputOptions {
                    id: id.clone(), name: field.name.into(), required: field.required, clearable: !field.required, value: &value,
                    choices: choices::for_kind(&request.state.catalog, field.kind), described_by: errors.map(|_| format!("{id}-error")),
                    invalid: errors.is_some(), display_names: &display_names, suggestion_url: input::input_suggestion_url(request, Some(field)), referenced_name: None, display: Some(field),
                };
                div .field .invalid[errors.is_some()] {
                    label for=(id) { (labels::field(field)) @if field.required { " " span .required { "*" } } }
                    (input::render(request, field.kind, field.rules, &options))
                    @if let Some(messages) = errors { p .error id={ (id) "-error" } { @let refused = RefusedValue { fields: action.input, field: Some(field), kind: field.kind, value: &value }; (FieldError::of(request, &refused, &display_names, messages).at_input(&labels::field(field))) } }
                    @if !labels::help(field).is_empty() { p .help { (labels::render_code(&labels::help(field))) } }
                }
            }
            div .buttons {
                @if has_question { button .danger { (label) } } @else { button .primary { (label) } }
                a .button href=(back.unwrap_or_else(|| target.path())) { (if has_question { text!("Cancel") } else { text!("Back") }) }
            }
        }
    };
    Ok(layout::page_with_status(request, status, &label, &content))
}

/// The fields of a result.
fn render_result(request: &PanelRequest<'_>, fields: &'static [FieldMeta], result: &Value) -> Markup {
    html! {
        dl .facts { @for field in fields {
            div .wide[value::is_full_width(field.kind, &result[field.name])] { dt { (labels::field(field)) } dd { (value::render_unlinked(request, field, field.kind, &result[field.name], Placement::Page)) } }
        } }
    }
}
