//! Saves the form of a record through the API, and shows it again with the errors or a conflict.

use std::collections::HashMap;

use maud::{Markup, html};
use salvo::http::StatusCode;
use serde_json::{Map, Value};

use super::conflict::{self, Choice};
use super::form::{RecordForm, definitions, shown_values};
use super::form_snapshot::FormSnapshot;
use super::{form_decode, form_merge, input};
use crate::language::text;
use crate::panel::display_name;
use crate::panel::layout;
use crate::panel::list::saved_view_form::{self, DecodedView};
use crate::panel::list::trash;
use crate::panel::request::{PanelRequest, form_value, if_match, return_path};
use crate::panel::session::flash::Flash;
use crate::panel::suggestion;
use crate::panel::target::Target;
use crate::server::Problem;
use crate::server::Response;
use charter_core::error::Result;
use charter_core::header;
use charter_core::meta::{DefaultValue, FieldMeta, Operation};
use charter_core::query::Pair;

/// Concurrent changes with which a form is merged before the user must save again.
const MAX_MERGES: usize = 5;

pub(crate) async fn create(request: &PanelRequest<'_>, target: &Target<'_>, form: &[Pair]) -> Result<Response> {
    save(request, target, form, "POST", &target.collection()).await
}

pub(crate) async fn update(request: &PanelRequest<'_>, target: &Target<'_>, form: &[Pair]) -> Result<Response> {
    save(request, target, form, "PUT", &target.path()).await
}

async fn save(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
    form: &[Pair],
    method: &str,
    path: &str,
) -> Result<Response> {
    if saved_view_form::reload_trigger(form).is_some() {
        return show_unsaved(request, target, form, None, StatusCode::OK).await;
    }
    let entry = target.entry;
    let is_new = method == "POST";
    let mut sent = SentForm::decode(request, target, form).await?;
    if let Some(problem) = sent.unchosen(entry.meta.fields) {
        let again = RecordForm { problem: Some(problem), ..sent.show(request, target, form).await? };
        return Ok(again.render(StatusCode::UNPROCESSABLE_ENTITY));
    }
    sent.snapshot.conflicts.clear();
    let mut body = match is_new {
        true => sent.record.clone(),
        false => form_merge::changes(entry.meta.fields, &sent.record, sent.snapshot.record.as_ref()),
    };
    let key = form_value(form, "_key").filter(|key| !key.is_empty());
    let mut headers = if_match(form);
    headers.extend(key.filter(|_| is_new).map(|key| (header::IDEMPOTENCY_KEY, key)));
    let mut response = request.send(method, path, &headers, Some(&Value::Object(body))).await?;
    let (mut is_merged, mut notice) = (false, None);
    for _ in 0..MAX_MERGES {
        if response.status != StatusCode::PRECONDITION_FAILED {
            break;
        }
        let current = request.get(path).await?;
        if !current.is_success() {
            response = current;
            break;
        }
        let version = current.etag().unwrap_or_default().to_string();
        let record = current.json()?[entry.meta.name].clone();
        let theirs = shown_values(request, target, &record);
        let fields = entry.meta.fields;
        let merged = form_merge::merge(fields, &sent.record, sent.snapshot.record.as_ref(), &theirs);
        let mut values = Value::Object(merged.record);
        form_decode::remove_stale_row_ids(&mut values, &record, fields);
        if let Value::Object(values) = values {
            sent.record = values;
        }
        sent.version = Some(version);
        sent.snapshot.record = Some(theirs);
        if !merged.conflicts.is_empty() {
            sent.snapshot.conflicts = merged.conflicts;
            let mut again = sent.show(request, target, form).await?;
            again.notice = Some(conflict::notice(&again, &merged.theirs));
            return Ok(again.render(StatusCode::PRECONDITION_FAILED));
        }
        is_merged = true;
        body = form_merge::changes(fields, &sent.record, sent.snapshot.record.as_ref());
        let headers = sent.version.as_deref().map(|version| (header::IF_MATCH, version));
        response = request.send(method, path, headers.as_slice(), Some(&Value::Object(body))).await?;
    }
    if response.is_success() {
        let saved = response.json()?[entry.meta.name].clone();
        let target = match saved["id"].as_i64() {
            Some(id) if !entry.meta.singleton => target.record(id),
            _ => *target,
        };
        if super::has_secrets(entry, &saved) {
            return Ok(super::secrets_page(request, &target, &saved, &html! {}));
        }
        let flash = match (is_new, is_merged) {
            (true, _) => Flash::Created,
            (false, true) => Flash::Merged,
            (false, false) => Flash::Saved,
        };
        let saved_page =
            saved_view_form::list_url(&request.state.catalog, entry, &saved).unwrap_or_else(|| target.path());
        return Ok(flash.redirect(return_path(form).unwrap_or(&saved_page)));
    }
    let mut problem = None;
    match response.status.as_u16() {
        404 => notice = Some(deleted_notice(request, target)),
        412 => {
            notice = Some(
                html! { p { strong { (text!("Others are saving this record at the moment.")) } " " (text!("Save again.")) } },
            )
        }
        // Errors of the server too: the input can be saved again.
        _ => problem = Some(response.problem()),
    }
    let again = RecordForm { notice, problem, ..sent.show(request, target, form).await? };
    Ok(again.render(response.status))
}

/// The notice above the form of a record that was deleted meanwhile.
fn deleted_notice(request: &PanelRequest<'_>, target: &Target<'_>) -> Markup {
    html! {
        p { strong { (text!("Somebody deleted this record.")) } " " (text!("Your changes were not saved.")) }
        @if !target.is_list() && trash::may_view(request, target.entry) { p { a href=(target.path()) { (text!("Open the deleted record to restore it")) } } }
    }
}

/// The form with the input that was sent and not saved.
pub(crate) async fn show_unsaved(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
    form: &[Pair],
    notice: Option<Markup>,
    status: StatusCode,
) -> Result<Response> {
    let operation = if target.is_list() { Operation::Create } else { Operation::Update };
    if !request.may(target.entry, operation) {
        return Err(layout::not_permitted());
    }
    let again = SentForm::decode(request, target, form).await?.show(request, target, form).await?;
    Ok(RecordForm { notice, ..again }.render(status))
}

/// Replaces the title of exactly one record by its id, as the script does before it sends a form. The server reports any
/// other text.
async fn resolve_titles(request: &PanelRequest<'_>, fields: &[FieldMeta], record: &mut Map<String, Value>) {
    for field in fields {
        let (Some(resource), Some(value)) = (field.kind.referred(), record.get_mut(field.name)) else { continue };
        let Some(title) = input::unmatched_name(field.kind, value).map(String::from) else { continue };
        let Some(id) = suggestion::id_of(request, request.state.catalog.linked(resource), &title).await else {
            continue;
        };
        match value {
            Value::Array(list) => list.iter_mut().filter(|one| **one == *title).for_each(|one| *one = id.clone()),
            one => *one = id,
        }
    }
}

/// The name of an existing record, unless it was deleted meanwhile.
async fn stored_name(request: &PanelRequest<'_>, target: &Target<'_>) -> Result<Option<String>> {
    if target.id.is_none() {
        return Ok(None);
    }
    let response = request.get(&target.path()).await?;
    let stored = response.is_success().then(|| response.json()).transpose()?;
    Ok(stored.map(|body| display_name::of(target.entry, &body[target.entry.meta.name])))
}

/// A form that was sent.
struct SentForm {
    record: Map<String, Value>,
    /// The `entity_type` of a saved view, which an existing view does not send.
    entity_type: Option<(String, Value)>,
    snapshot: FormSnapshot,
    /// The chosen values of the fields with a conflict.
    choices: HashMap<String, Choice>,
    version: Option<String>,
}

impl SentForm {
    async fn decode(request: &PanelRequest<'_>, target: &Target<'_>, form: &[Pair]) -> Result<SentForm> {
        let definitions = definitions(request, target.entry).await?;
        let (pairs, view) = saved_view_form::decode(request, target.entry, form).await?;
        let (catalog, fields) = (&request.state.catalog, target.entry.meta.fields);
        let snapshot = FormSnapshot::parse(form, &request.locale)?;
        let mut record = form_decode::decode(catalog, fields, &definitions, &snapshot, &pairs, target.is_list())?;
        if target.is_list() {
            // A hook or an expression sets the default of a field that is left empty.
            let is_set = |default| matches!(default, DefaultValue::Hook | DefaultValue::Expression(_));
            let has_default = |name: &str| target.entry.field(name).is_some_and(|field| is_set(field.default));
            record.retain(|name, value| {
                !(has_default(name) && (form_decode::is_empty(value) || value.as_array().is_some_and(Vec::is_empty)))
            });
        }
        let entity_type = view.map(|DecodedView { columns, filters, plural }| {
            record.extend(columns.map(|columns| (saved_view_form::COLUMNS.to_string(), columns)));
            record.extend(filters.map(|filters| (saved_view_form::FILTERS.to_string(), filters)));
            ("entity_type".to_string(), Value::from(plural))
        });
        let mut choices = HashMap::new();
        for (name, before) in &snapshot.conflicts {
            let Some(choice) = Choice::from_form(form, fields, name) else { continue };
            choices.insert(name.clone(), choice);
            let value = match choice {
                Choice::Before => before.first().cloned(),
                Choice::Theirs => Some(snapshot.value(name).cloned().unwrap_or_default()),
                Choice::Mine => None,
            };
            if let Some(value) = value {
                form_merge::set(&mut record, name, value);
            }
        }
        resolve_titles(request, fields, &mut record).await;
        let version = form_value(form, "_version").filter(|version| !version.is_empty()).map(String::from);
        Ok(SentForm { record, entity_type, snapshot, choices, version })
    }

    /// The errors of the fields with a conflict for which no value is chosen.
    fn unchosen(&self, fields: &[FieldMeta]) -> Option<Problem> {
        let with_choice = self.snapshot.conflicts.keys().filter(|name| conflict::choice_name(fields, name) == *name);
        let unchosen = with_choice.filter(|name| !self.choices.contains_key(*name));
        let message = text!("needs a choice: the value before, theirs or yours");
        let errors = unchosen.map(|name| (name.clone(), vec![message.clone()])).collect();
        let problem = Problem { errors, ..Problem::default() };
        (!problem.errors.is_empty()).then_some(problem)
    }

    /// The form with the input that was not saved.
    async fn show<'f>(
        self,
        request: &'f PanelRequest<'f>,
        target: &'f Target<'f>,
        form: &[Pair],
    ) -> Result<RecordForm<'f>> {
        let mut record = self.record;
        record.extend(self.entity_type);
        // A new record has no values that somebody else could change: the snapshot is what is rendered now.
        let snapshot = (!target.is_list()).then(|| self.snapshot.in_locale(&request.locale));
        let pressed = saved_view_form::reload_trigger(form);
        let again = RecordForm::load(request, target, Value::Object(record), snapshot, pressed).await?;
        let return_path = return_path(form).map(String::from);
        let stored_name = stored_name(request, target).await?;
        Ok(RecordForm {
            stored_name,
            version: self.version,
            choices: self.choices,
            return_path,
            is_unsaved: true,
            ..again
        })
    }
}
