//! Form of a record.

use std::collections::HashMap;

use maud::{Markup, html};
use salvo::http::StatusCode;
use serde_json::{Map, Value};

use super::conflict::Choice;
use super::form_snapshot::FormSnapshot;
use super::{form_decode, form_fields, input, protection};
use crate::language::{self, text};
use crate::panel::display_name::{self, DisplayNames};
use crate::panel::format::labels;
use crate::panel::layout;
use crate::panel::list::saved_view_form::SavedViewInputs;
use crate::panel::request::{PanelRequest, return_path};
use crate::panel::target::Target;
use crate::server::Problem;
use crate::server::Response;
use charter_core::catalog::Entry;
use charter_core::custom_field::{self, Definition};
use charter_core::error::Result;
use charter_core::meta::{Access, FieldMeta, Kind, Operation};
use charter_core::ops::protection::Protection;
use charter_core::query::Pair;
use charter_platform::auth;

/// A form to render.
pub(crate) struct RecordForm<'f> {
    pub request: &'f PanelRequest<'f>,
    pub target: &'f Target<'f>,
    pub definitions: Vec<Definition>,
    /// The values, as the API returns or accepts them.
    pub record: Value,
    /// The name of the record as it is stored; none if the values are.
    pub stored_name: Option<String>,
    pub display_names: DisplayNames,
    pub problem: Option<Problem>,
    /// The `ETag` of the edited record.
    pub version: Option<String>,
    pub notice: Option<Markup>,
    /// Why the record does not change: the form of a singleton shows it all the same.
    pub protection: Option<Protection>,
    /// True if the form contains unsaved input: the browser warns before leaving it.
    pub is_unsaved: bool,
    /// `Idempotency-Key` of a new record.
    pub idempotency_key: String,
    pub saved_view: Option<SavedViewInputs>,
    /// The values that the form sends back as those that it was rendered with.
    pub snapshot: FormSnapshot,
    /// The chosen values of the fields with a conflict.
    pub choices: HashMap<String, Choice>,
    /// Breadcrumbs of the parent record.
    pub parents: Vec<(String, String)>,
    /// The page to return to.
    pub return_path: Option<String>,
}

/// The form of a new record. Query parameters are initial values.
pub(crate) async fn new(request: &PanelRequest<'_>, target: &Target<'_>) -> Result<Response> {
    if !request.may(target.entry, Operation::Create) {
        return Err(layout::not_permitted());
    }
    if !protection::may_create(request, target).await? {
        return Err(protection::not_creatable());
    }
    let mut record = form_decode::default_values(request, target.entry);
    let pairs = request.raw.query_pairs()?;
    let return_path = return_path(&pairs).map(String::from);
    for Pair { name, value } in pairs.into_iter().filter(|pair| !pair.name.starts_with('_')) {
        record.insert(name, Value::String(value));
    }
    let form = RecordForm::load(request, target, Value::Object(record), None, None).await?;
    Ok(RecordForm { return_path, ..form }.render(StatusCode::OK))
}

/// The form of an existing record.
pub(crate) async fn edit(request: &PanelRequest<'_>, target: &Target<'_>) -> Result<Response> {
    let response = request.get(&target.path()).await?;
    let record = response.json()?[target.entry.meta.name].clone();
    let version = response.etag().map(String::from);
    let return_path = return_path(&request.raw.query_pairs()?).map(String::from);
    let form = RecordForm { version, return_path, ..RecordForm::load(request, target, record, None, None).await? };
    let may_update =
        request.may(target.entry, Operation::Update) && request.may_change_record(target.entry, &form.record);
    if !may_update && !target.entry.meta.singleton {
        return Err(layout::not_permitted());
    }
    match protection::of(request, target).await? {
        Some(protection) if !target.entry.meta.singleton => Err(protection::error(target.entry.meta, protection)),
        protection => Ok(RecordForm { protection, ..form }.render(StatusCode::OK)),
    }
}

/// The values of a record that its form has inputs for.
pub(super) fn shown_values(request: &PanelRequest<'_>, target: &Target<'_>, record: &Value) -> Map<String, Value> {
    let mut values = Map::new();
    let is_shown = |field: &&FieldMeta| {
        form_decode::is_editable(request, target, field) && !matches!(field.access, Access::WriteOnly | Access::Secret)
    };
    for field in target.entry.meta.fields.iter().filter(is_shown) {
        let Some(value) = record.get(field.name) else { continue };
        let value = match (field.kind, value.as_array()) {
            (Kind::Embedded { resource, by }, Some(rows)) => {
                let referenced = request.state.catalog.linked(resource);
                let names = || form_fields::row_fields(request, referenced, by).map(|field| field.name).chain(["id"]);
                let shown = |row: &Value| -> Value {
                    names()
                        .filter_map(|name| Some((name.to_string(), row.get(name)?.clone())))
                        .collect::<Map<_, _>>()
                        .into()
                };
                rows.iter().map(shown).collect()
            }
            _ => value.clone(),
        };
        values.insert(field.name.to_string(), value);
    }
    values
}

/// The display names of the records that the values of a form refer to, and those of a conflict.
async fn load_names(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
    record: &Value,
    snapshot: &FormSnapshot,
) -> Result<DisplayNames> {
    let fields: Vec<&'static FieldMeta> = target.entry.meta.fields.iter().collect();
    let mut records = vec![form_decode::with_numeric_ids(&fields, record)];
    if !snapshot.conflicts.is_empty() {
        records.extend(snapshot.record.clone().map(Value::Object));
        let before =
            snapshot.conflicts.iter().filter_map(|(name, values)| Some((name.clone(), values.first()?.clone())));
        records.push(Value::Object(before.collect()));
    }
    let mut names = DisplayNames::load_for_fields(request, target.entry, &fields, &records).await?;
    for field in &fields {
        if let (Some(resource), Some(title)) =
            (field.kind.referred(), input::unmatched_name(field.kind, &record[field.name]))
        {
            names.look_up_shared(request, resource, title).await;
        }
        let Kind::Embedded { resource, .. } = field.kind else { continue };
        let referenced = request.state.catalog.linked(resource);
        let inner: Vec<&'static FieldMeta> = referenced.meta.fields.iter().collect();
        let rows = records.iter().filter_map(|record| record[field.name].as_array()).flatten();
        let rows: Vec<Value> = rows.map(|row| form_decode::with_numeric_ids(&inner, row)).collect();
        names.extend(DisplayNames::load_for_fields(request, referenced, &inner, &rows).await?);
    }
    Ok(names)
}

pub(super) async fn definitions(request: &PanelRequest<'_>, entry: &Entry) -> Result<Vec<Definition>> {
    match entry.meta.custom_fields {
        true => custom_field::load(request.state.db.reader(), entry.meta.plural).await,
        false => Ok(Vec::new()),
    }
}

impl<'f> RecordForm<'f> {
    /// `snapshot` is that of the form that was sent, otherwise the form is rendered for the first time. `pressed` is the
    /// button that requested the form again.
    pub(super) async fn load(
        request: &'f PanelRequest<'f>,
        target: &'f Target<'f>,
        record: Value,
        snapshot: Option<FormSnapshot>,
        pressed: Option<String>,
    ) -> Result<RecordForm<'f>> {
        let snapshot = snapshot.unwrap_or_else(|| FormSnapshot {
            record: Some(shown_values(request, target, &record)),
            ..FormSnapshot::of_locale(&request.locale)
        });
        let definitions = definitions(request, target.entry).await?;
        let saved_view = SavedViewInputs::load(request, target, &record, pressed.as_deref()).await?;
        Ok(RecordForm {
            display_names: load_names(request, target, &record, &snapshot).await?,
            saved_view,
            request,
            target,
            definitions,
            record,
            stored_name: None,
            problem: None,
            version: None,
            notice: None,
            protection: None,
            snapshot,
            choices: HashMap::new(),
            parents: display_name::parent_breadcrumbs(request, target).await?,
            return_path: None,
            is_unsaved: false,
            idempotency_key: auth::random_base62(24)?,
        })
    }

    pub(super) fn render(&self, status: StatusCode) -> Response {
        let (target, entry) = (self.target, self.target.entry);
        let is_new = target.is_list();
        let title = match (is_new, entry.meta.singleton) {
            (true, _) => text!("New {record}", record = labels::singular(entry.meta)),
            (_, true) => labels::plural(entry.meta),
            _ => {
                let name = self.stored_name.clone().unwrap_or_else(|| display_name::of(entry, &self.record));
                text!("Edit {name}", name = name)
            }
        };
        let mut breadcrumbs = self.parents.clone();
        if !entry.meta.singleton {
            breadcrumbs.push((target.collection(), labels::plural(entry.meta)));
        }
        let action = if is_new { target.collection() } else { target.path() };
        let cancel = self.return_path.as_ref().unwrap_or(&action);
        let is_read_only = !is_new && (self.protection.is_some() || !self.request.may(entry, Operation::Update));
        let content = html! {
            (layout::header(&breadcrumbs, &html! { (title) }, &html! {}))
            (protection::notice(entry.meta, self.protection))
            @if let Some(notice) = &self.notice { div .notice role="alert" tabindex="-1" data-focus { (notice) } }
            @if let Some(problem) = &self.problem { (self.render_summary(problem)) }
            form .record method="post" action=(action) data-form data-unsaved[self.is_unsaved] data-begin[is_new && self.problem.is_none()] novalidate {
                (layout::csrf_input(self.request))
                input type="hidden" name="_version" value=(self.version.as_deref().unwrap_or_default());
                (self.snapshot.render())
                @if let Some(back) = &self.return_path { input type="hidden" name="_back" value=(back); }
                @if is_new { input type="hidden" name="_key" value=(self.idempotency_key); }
                @for (group, fields) in labels::group_fields(entry.meta.fields.iter().filter(|field| form_decode::is_editable(self.request, target, field))) {
                    @if group.is_empty() { @for field in fields { (self.render_field(field)) } } @else {
                        fieldset { legend { (language::label(group)) } @for field in fields { (self.render_field(field)) } }
                    }
                }
                @if !self.definitions.is_empty() {
                    fieldset { legend { (text!("Custom fields")) } @for definition in &self.definitions { (self.render_custom_field(definition)) } }
                }
                @if !is_read_only {
                    div .buttons.sticky {
                        button .primary { (if is_new { text!("Create") } else { text!("Save") }) }
                        @if !entry.meta.singleton { a .button href=(cancel) { (text!("Cancel")) } }
                    }
                }
            }
        };
        layout::page_with_status(self.request, status, &title, &content)
    }
}
