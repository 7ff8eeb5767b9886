//! The form of a record: made from its fields, answered with the API's own words where something is wrong.

use maud::{Markup, html};
use salvo::http::StatusCode;
use serde_json::{Map, Value};

use super::api::Problem;
use super::place::Place;
use super::said::Said;
use super::title::{self, Titles};
use super::visit::{Visit, field, if_match, sent_back};
use super::{deleted, difference, page, sent, view_form, words};
use crate::auth;
use crate::catalog::Entry;
use crate::custom_field::{self, Definition};
use crate::error::Result;
use crate::header;
use crate::meta::{FieldMeta, Kind, Operation};
use crate::query::Pair;
use crate::server::Answer;

/// A form that is about to be shown.
pub struct Form<'f> {
    pub visit: &'f Visit<'f>,
    pub place: &'f Place<'f>,
    pub definitions: Vec<Definition>,
    /// The values, as the API shows or takes them.
    pub record: Value,
    pub titles: Titles,
    pub problem: Option<Problem>,
    /// The version that is being changed.
    version: Option<String>,
    notice: Option<Markup>,
    /// Whether it holds what was written and is not saved, so that leaving it is warned of.
    is_unsaved: bool,
    /// What makes it safe to send the form of a new record twice.
    key: String,
    /// What a saved view has its own inputs for.
    pub view: Option<view_form::Inputs>,
    /// The record under which it stands.
    parents: Vec<(String, String)>,
    /// The page that leads here, and to which it leads back.
    back: Option<String>,
}

/// The form of a new record; values in the address fill it in.
pub async fn new(visit: &Visit<'_>, place: &Place<'_>) -> Result<Answer> {
    if !visit.may(place.entry, Operation::Create) {
        return Err(page::not_permitted());
    }
    let mut record = sent::defaults(visit, place.entry);
    let asked = visit.asked.pairs()?;
    let back = sent_back(&asked).map(String::from);
    for Pair { name, value } in asked.into_iter().filter(|pair| !pair.name.starts_with('_')) {
        record.insert(name, Value::String(value));
    }
    let form = Form::of(visit, place, Value::Object(record), None).await?;
    Ok(Form { back, ..form }.answer(StatusCode::OK))
}

/// The form of a record that is there.
pub async fn edit(visit: &Visit<'_>, place: &Place<'_>) -> Result<Answer> {
    let reply = visit.get(&place.path()).await?;
    let record = reply.json()?[place.entry.meta.name].clone();
    let version = reply.etag().map(String::from);
    let back = sent_back(&visit.asked.pairs()?).map(String::from);
    let form = Form { version, back, ..Form::of(visit, place, record, None).await? };
    let changeable = visit.may(place.entry, Operation::Update) && visit.may_change(place.entry, &form.record);
    if !changeable && !place.entry.meta.singleton {
        return Err(page::not_permitted());
    }
    Ok(form.answer(StatusCode::OK))
}

/// Takes the form of a new record.
pub async fn create(visit: &Visit<'_>, place: &Place<'_>, form: &[Pair]) -> Result<Answer> {
    save(visit, place, form, "POST", &place.collection()).await
}

/// Takes the form of a record that is there.
pub async fn update(visit: &Visit<'_>, place: &Place<'_>, form: &[Pair]) -> Result<Answer> {
    save(visit, place, form, "PUT", &place.path()).await
}

async fn save(visit: &Visit<'_>, place: &Place<'_>, form: &[Pair], method: &str, path: &str) -> Result<Answer> {
    if view_form::asked_again(form).is_some() {
        return again(visit, place, form, None, StatusCode::OK).await;
    }
    let entry = place.entry;
    let definitions = definitions(visit, entry).await?;
    let is_new = method == "POST";
    let (mut record, listed) = read(visit, place, &definitions, form).await?;
    let key = field(form, "_key").filter(|key| !key.is_empty());
    let mut headers = if_match(form);
    headers.extend(key.filter(|_| is_new).map(|key| (header::IDEMPOTENCY_KEY, key)));
    let reply = visit.send(method, path, &headers, Some(&Value::Object(record.clone()))).await?;
    if reply.is_success() {
        let saved = reply.json()?[entry.meta.name].clone();
        let place = match saved["id"].as_i64() {
            Some(id) if !entry.meta.singleton => place.of(id),
            _ => *place,
        };
        if super::record::reveals(entry, &saved) {
            return Ok(super::record::revealed(visit, &place, &saved));
        }
        let said = if is_new { Said::Created } else { Said::Saved };
        let shown = view_form::shown_at(&visit.state.catalog, entry, &saved).unwrap_or_else(|| place.path());
        return Ok(said.at(sent_back(form).unwrap_or(&shown)));
    }
    record.extend(listed);
    let mut shown = Form::of(visit, place, Value::Object(record), None).await?;
    shown.version = field(form, "_version").filter(|version| !version.is_empty()).map(String::from);
    shown.back = sent_back(form).map(String::from);
    match reply.status.as_u16() {
        412 => {
            // Who was faster is shown; to save again is to write over it.
            let now = visit.get(path).await?;
            let record = &now.json()?[entry.meta.name];
            shown.notice = Some(difference::told(visit, entry, &shown.definitions, record, &shown.record).await?);
            shown.version = now.etag().map(String::from);
            sent::forget(&mut shown.record, record, entry.meta.fields);
        }
        404 => shown.notice = Some(gone(visit, place)),
        // Also what is the server's own problem: what was written can be saved again.
        _ => shown.problem = Some(reply.problem()),
    }
    shown.is_unsaved = true;
    Ok(shown.answer(reply.status))
}

/// What is said over the form of a record that is not there any more.
fn gone(visit: &Visit<'_>, place: &Place<'_>) -> Markup {
    html! {
        p { strong { "Somebody has deleted this meanwhile." } " Nothing was saved." }
        @if !place.is_list() && deleted::may(visit, place.entry) { p { a href=(place.path()) { "See whether it can be restored" } } }
    }
}

/// The form filled in with what was sent, which is not saved yet.
pub async fn again(
    visit: &Visit<'_>,
    place: &Place<'_>,
    form: &[Pair],
    notice: Option<Markup>,
    status: StatusCode,
) -> Result<Answer> {
    let operation = if place.is_list() { Operation::Create } else { Operation::Update };
    if !visit.may(place.entry, operation) {
        return Err(page::not_permitted());
    }
    let definitions = definitions(visit, place.entry).await?;
    let (mut record, listed) = read(visit, place, &definitions, form).await?;
    record.extend(listed);
    let mut shown = Form::of(visit, place, Value::Object(record), view_form::asked_again(form)).await?;
    shown.version = field(form, "_version").map(String::from);
    shown.notice = notice;
    shown.is_unsaved = true;
    shown.back = sent_back(form).map(String::from);
    Ok(shown.answer(status))
}

/// What a form is, read.
type Read = (Map<String, Value>, Option<(String, Value)>);

/// The record that a form sends, and what a form of a saved view needs to know of it beside.
async fn read(visit: &Visit<'_>, place: &Place<'_>, definitions: &[Definition], form: &[Pair]) -> Result<Read> {
    let (form, view) = view_form::read(visit, place.entry, form).await?;
    let (catalog, fields) = (&visit.state.catalog, place.entry.meta.fields);
    let mut record = sent::read(catalog, fields, definitions, visit.locale.zone, &form, place.is_list())?;
    let listed = view.map(|view_form::Sent { filters, plural }| {
        record.extend(filters.map(|filters| (view_form::FILTERS.to_string(), filters)));
        ("entity_type".to_string(), Value::from(plural))
    });
    Ok((record, listed))
}

async fn definitions(visit: &Visit<'_>, entry: &Entry) -> Result<Vec<Definition>> {
    match entry.meta.custom_fields {
        true => custom_field::load(visit.state.db.reader(), entry.meta.plural).await,
        false => Ok(Vec::new()),
    }
}

impl<'f> Form<'f> {
    /// `pressed` is what asked for the form again.
    async fn of(
        visit: &'f Visit<'f>,
        place: &'f Place<'f>,
        record: Value,
        pressed: Option<String>,
    ) -> Result<Form<'f>> {
        let fields: Vec<&'static FieldMeta> = place.entry.meta.fields.iter().collect();
        let mut titles = Titles::load(visit, place.entry, &fields, &[sent::numbered(&fields, &record)]).await?;
        for field in &fields {
            if let (Kind::Embedded { resource, .. }, Some(rows)) = (field.kind, record[field.name].as_array()) {
                let target = visit.state.catalog.linked(resource);
                let inner: Vec<&'static FieldMeta> = target.meta.fields.iter().collect();
                let rows: Vec<Value> = rows.iter().map(|row| sent::numbered(&inner, row)).collect();
                titles.extend(Titles::load(visit, target, &inner, &rows).await?);
            }
        }
        let definitions = definitions(visit, place.entry).await?;
        let view = view_form::Inputs::of(visit, place, &record, pressed.as_deref()).await?;
        Ok(Form {
            view,
            visit,
            place,
            definitions,
            record,
            titles,
            problem: None,
            version: None,
            notice: None,
            parents: title::parents(visit, place).await?,
            back: None,
            is_unsaved: false,
            key: auth::random(24)?,
        })
    }

    fn answer(&self, status: StatusCode) -> Answer {
        let (place, entry) = (self.place, self.place.entry);
        let is_new = place.is_list();
        let title = match (is_new, entry.meta.singleton) {
            (true, _) => format!("New {}", words::singular(entry.meta)),
            (_, true) => words::plural(entry.meta),
            _ => format!("Edit {}", title::of(entry, &self.record)),
        };
        let mut trail = self.parents.clone();
        if !entry.meta.singleton {
            trail.push((place.collection(), words::plural(entry.meta)));
        }
        let action = if is_new { place.collection() } else { place.path() };
        let back = self.back.as_ref().unwrap_or(&action);
        let read_only = !is_new && !self.visit.may(entry, Operation::Update);
        let content = html! {
            (page::head(&trail, &html! { (title) }, &html! {}))
            @if let Some(notice) = &self.notice { div .notice role="alert" { (notice) } }
            @if let Some(problem) = &self.problem { (self.summary(problem)) }
            form .record method="post" action=(action) data-form data-unsaved[self.is_unsaved] data-begin[is_new && self.problem.is_none()] novalidate {
                (page::token(self.visit))
                input type="hidden" name="_version" value=(self.version.as_deref().unwrap_or_default());
                @if let Some(back) = &self.back { input type="hidden" name="_back" value=(back); }
                @if is_new { input type="hidden" name="_key" value=(self.key); }
                @for (group, fields) in words::grouped(entry.meta.fields.iter().filter(|field| sent::is_given(self.visit, place, field))) {
                    @if group.is_empty() { @for field in fields { (self.field(field)) } } @else {
                        fieldset { legend { (group) } @for field in fields { (self.field(field)) } }
                    }
                }
                @if !self.definitions.is_empty() {
                    fieldset { legend { "Custom fields" } @for definition in &self.definitions { (self.custom(definition)) } }
                }
                @if !read_only {
                    div .buttons.sticky {
                        button .primary { @if is_new { "Create" } @else { "Save" } }
                        @if !entry.meta.singleton { a .button href=(back) { "Cancel" } }
                    }
                }
            }
        };
        page::with_status(self.visit, status, &title, &content)
    }
}
