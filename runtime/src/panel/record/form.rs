//! Form of a record: rendering, saving through the API, and rendering it again with the errors.

use maud::{Markup, html};
use salvo::http::StatusCode;
use serde_json::{Map, Value};

use super::{conflict, form_decode};
use crate::panel::api::Problem;
use crate::panel::display_name::{self, DisplayNames};
use crate::panel::format::labels;
use crate::panel::layout;
use crate::panel::list::saved_view_form::{self, DecodedView, SavedViewInputs};
use crate::panel::list::trash;
use crate::panel::request::{PanelRequest, form_value, if_match, return_path};
use crate::panel::session::flash::Flash;
use crate::panel::target::Target;
use crate::server::Response;
use charter_core::catalog::Entry;
use charter_core::custom_field::{self, Definition};
use charter_core::error::Result;
use charter_core::header;
use charter_core::meta::{DefaultValue, FieldMeta, Kind, Operation};
use charter_core::query::Pair;
use charter_platform::auth;

/// A form to render.
pub(crate) struct RecordForm<'f> {
    pub request: &'f PanelRequest<'f>,
    pub target: &'f Target<'f>,
    pub definitions: Vec<Definition>,
    /// The values, as the API returns or accepts them.
    pub record: Value,
    pub display_names: DisplayNames,
    pub problem: Option<Problem>,
    /// The `ETag` of the edited record.
    version: Option<String>,
    notice: Option<Markup>,
    /// True if the form contains unsaved input: the browser warns before leaving it.
    is_unsaved: bool,
    /// `Idempotency-Key` of a new record.
    idempotency_key: String,
    pub saved_view: Option<SavedViewInputs>,
    /// Breadcrumbs of the parent record.
    parents: Vec<(String, String)>,
    /// The page to return to.
    return_path: Option<String>,
}

/// The form of a new record. Query parameters are initial values.
pub(crate) async fn new(request: &PanelRequest<'_>, target: &Target<'_>) -> Result<Response> {
    if !request.may(target.entry, Operation::Create) {
        return Err(layout::not_permitted());
    }
    let mut record = form_decode::default_values(request, target.entry);
    let pairs = request.raw.query_pairs()?;
    let return_path = return_path(&pairs).map(String::from);
    for Pair { name, value } in pairs.into_iter().filter(|pair| !pair.name.starts_with('_')) {
        record.insert(name, Value::String(value));
    }
    let form = RecordForm::load(request, target, Value::Object(record), None).await?;
    Ok(RecordForm { return_path, ..form }.render(StatusCode::OK))
}

/// The form of an existing record.
pub(crate) async fn edit(request: &PanelRequest<'_>, target: &Target<'_>) -> Result<Response> {
    let response = request.get(&target.path()).await?;
    let record = response.json()?[target.entry.meta.name].clone();
    let version = response.etag().map(String::from);
    let return_path = return_path(&request.raw.query_pairs()?).map(String::from);
    let form = RecordForm { version, return_path, ..RecordForm::load(request, target, record, None).await? };
    let may_update =
        request.may(target.entry, Operation::Update) && request.may_change_record(target.entry, &form.record);
    if !may_update && !target.entry.meta.singleton {
        return Err(layout::not_permitted());
    }
    Ok(form.render(StatusCode::OK))
}

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
    let definitions = definitions(request, entry).await?;
    let is_new = method == "POST";
    let (mut record, entity_type) = decode(request, target, &definitions, form).await?;
    let key = form_value(form, "_key").filter(|key| !key.is_empty());
    let mut headers = if_match(form);
    headers.extend(key.filter(|_| is_new).map(|key| (header::IDEMPOTENCY_KEY, key)));
    let response = request.send(method, path, &headers, Some(&Value::Object(record.clone()))).await?;
    if response.is_success() {
        let saved = response.json()?[entry.meta.name].clone();
        let target = match saved["id"].as_i64() {
            Some(id) if !entry.meta.singleton => target.record(id),
            _ => *target,
        };
        if super::has_secrets(entry, &saved) {
            return Ok(super::secrets_page(request, &target, &saved, &html! {}));
        }
        let flash = if is_new { Flash::Created } else { Flash::Saved };
        let saved_page =
            saved_view_form::list_url(&request.state.catalog, entry, &saved).unwrap_or_else(|| target.path());
        return Ok(flash.redirect(return_path(form).unwrap_or(&saved_page)));
    }
    record.extend(entity_type);
    let mut again = RecordForm::load(request, target, Value::Object(record), None).await?;
    again.version = form_value(form, "_version").filter(|version| !version.is_empty()).map(String::from);
    again.return_path = return_path(form).map(String::from);
    match response.status.as_u16() {
        412 => {
            // Saving again overwrites the other change, because the form gets the new version.
            let current = request.get(path).await?;
            let record = &current.json()?[entry.meta.name];
            again.notice = Some(conflict::render(request, entry, &again.definitions, record, &again.record).await?);
            again.version = current.etag().map(String::from);
            form_decode::remove_stale_row_ids(&mut again.record, record, entry.meta.fields);
        }
        404 => again.notice = Some(deleted_notice(request, target)),
        // Errors of the server too: the input can be saved again.
        _ => again.problem = Some(response.problem()),
    }
    again.is_unsaved = true;
    Ok(again.render(response.status))
}

/// The notice above the form of a record that was deleted meanwhile.
fn deleted_notice(request: &PanelRequest<'_>, target: &Target<'_>) -> Markup {
    html! {
        p { strong { "Somebody deleted this record." } " Your changes were not saved." }
        @if !target.is_list() && trash::may_view(request, target.entry) { p { a href=(target.path()) { "Open the deleted record to restore it" } } }
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
    let definitions = definitions(request, target.entry).await?;
    let (mut record, entity_type) = decode(request, target, &definitions, form).await?;
    record.extend(entity_type);
    let mut again =
        RecordForm::load(request, target, Value::Object(record), saved_view_form::reload_trigger(form)).await?;
    again.version = form_value(form, "_version").map(String::from);
    again.notice = notice;
    again.is_unsaved = true;
    again.return_path = return_path(form).map(String::from);
    Ok(again.render(status))
}

/// The record that a form sends, and the `entity_type` of a saved view, which an existing view does not send.
type Decoded = (Map<String, Value>, Option<(String, Value)>);

async fn decode(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
    definitions: &[Definition],
    form: &[Pair],
) -> Result<Decoded> {
    let (form, view) = saved_view_form::decode(request, target.entry, form).await?;
    let (catalog, fields) = (&request.state.catalog, target.entry.meta.fields);
    let mut record = form_decode::decode(catalog, fields, definitions, request.locale.zone, &form, target.is_list())?;
    if target.is_list() {
        // A hook sets the default of a field that is left empty.
        let has_default = |name: &str| target.entry.field(name).is_some_and(|f| f.default == DefaultValue::Hook);
        record.retain(|name, value| {
            !(has_default(name) && (form_decode::is_empty(value) || value.as_array().is_some_and(Vec::is_empty)))
        });
    }
    let entity_type = view.map(|DecodedView { filters, plural }| {
        record.extend(filters.map(|filters| (saved_view_form::FILTERS.to_string(), filters)));
        ("entity_type".to_string(), Value::from(plural))
    });
    Ok((record, entity_type))
}

async fn definitions(request: &PanelRequest<'_>, entry: &Entry) -> Result<Vec<Definition>> {
    match entry.meta.custom_fields {
        true => custom_field::load(request.state.db.reader(), entry.meta.plural).await,
        false => Ok(Vec::new()),
    }
}

impl<'f> RecordForm<'f> {
    /// `pressed` is the button that requested the form again.
    async fn load(
        request: &'f PanelRequest<'f>,
        target: &'f Target<'f>,
        record: Value,
        pressed: Option<String>,
    ) -> Result<RecordForm<'f>> {
        let fields: Vec<&'static FieldMeta> = target.entry.meta.fields.iter().collect();
        let mut display_names = DisplayNames::load_for_fields(
            request,
            target.entry,
            &fields,
            &[form_decode::with_numeric_ids(&fields, &record)],
        )
        .await?;
        for field in &fields {
            if let (Kind::Embedded { resource, .. }, Some(rows)) = (field.kind, record[field.name].as_array()) {
                let referenced = request.state.catalog.linked(resource);
                let inner: Vec<&'static FieldMeta> = referenced.meta.fields.iter().collect();
                let rows: Vec<Value> = rows.iter().map(|row| form_decode::with_numeric_ids(&inner, row)).collect();
                display_names.extend(DisplayNames::load_for_fields(request, referenced, &inner, &rows).await?);
            }
        }
        let definitions = definitions(request, target.entry).await?;
        let saved_view = SavedViewInputs::load(request, target, &record, pressed.as_deref()).await?;
        Ok(RecordForm {
            saved_view,
            request,
            target,
            definitions,
            record,
            display_names,
            problem: None,
            version: None,
            notice: None,
            parents: display_name::parent_breadcrumbs(request, target).await?,
            return_path: None,
            is_unsaved: false,
            idempotency_key: auth::random_base62(24)?,
        })
    }

    fn render(&self, status: StatusCode) -> Response {
        let (target, entry) = (self.target, self.target.entry);
        let is_new = target.is_list();
        let title = match (is_new, entry.meta.singleton) {
            (true, _) => format!("New {}", labels::singular(entry.meta)),
            (_, true) => labels::plural(entry.meta),
            _ => format!("Edit {}", display_name::of(entry, &self.record)),
        };
        let mut breadcrumbs = self.parents.clone();
        if !entry.meta.singleton {
            breadcrumbs.push((target.collection(), labels::plural(entry.meta)));
        }
        let action = if is_new { target.collection() } else { target.path() };
        let cancel = self.return_path.as_ref().unwrap_or(&action);
        let is_read_only = !is_new && !self.request.may(entry, Operation::Update);
        let content = html! {
            (layout::header(&breadcrumbs, &html! { (title) }, &html! {}))
            @if let Some(notice) = &self.notice { div .notice role="alert" { (notice) } }
            @if let Some(problem) = &self.problem { (self.render_summary(problem)) }
            form .record method="post" action=(action) data-form data-unsaved[self.is_unsaved] data-begin[is_new && self.problem.is_none()] novalidate {
                (layout::csrf_input(self.request))
                input type="hidden" name="_version" value=(self.version.as_deref().unwrap_or_default());
                @if let Some(back) = &self.return_path { input type="hidden" name="_back" value=(back); }
                @if is_new { input type="hidden" name="_key" value=(self.idempotency_key); }
                @for (group, fields) in labels::group_fields(entry.meta.fields.iter().filter(|field| form_decode::is_editable(self.request, target, field))) {
                    @if group.is_empty() { @for field in fields { (self.render_field(field)) } } @else {
                        fieldset { legend { (group) } @for field in fields { (self.render_field(field)) } }
                    }
                }
                @if !self.definitions.is_empty() {
                    fieldset { legend { "Custom fields" } @for definition in &self.definitions { (self.render_custom_field(definition)) } }
                }
                @if !is_read_only {
                    div .buttons.sticky {
                        button .primary { @if is_new { "Create" } @else { "Save" } }
                        @if !entry.meta.singleton { a .button href=(cancel) { "Cancel" } }
                    }
                }
            }
        };
        layout::page_with_status(self.request, status, &title, &content)
    }
}
