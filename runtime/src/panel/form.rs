//! The form of a record: made from its fields, answered with the API's own words where something is wrong.

use maud::{Markup, html};
use salvo::http::StatusCode;
use serde_json::{Map, Value};

use super::api::Problem;
use super::input::{self, Given};
use super::place::Place;
use super::said::Said;
use super::title::{self, Titles};
use super::visit::{Visit, is_ours};
use super::{choice, difference, page, sent, view_form, words};
use crate::auth;
use crate::catalog::Entry;
use crate::custom_field::{self, CustomFieldType, Definition};
use crate::error::{Error, Result};
use crate::header;
use crate::meta::{Access, FieldMeta, Kind, Operation};
use crate::query::Pair;
use crate::server::Answer;

/// A form that is about to be shown.
struct Form<'f> {
    visit: &'f Visit<'f>,
    place: &'f Place<'f>,
    definitions: Vec<Definition>,
    /// The values, as the API shows or takes them.
    record: Value,
    titles: Titles,
    problem: Option<Problem>,
    /// The version that is being changed.
    version: Option<String>,
    notice: Option<Markup>,
    /// What makes it safe to send the form of a new record twice.
    key: String,
    /// What a saved view has its own inputs for.
    view: Option<view_form::Inputs>,
}

/// The form of a new record; values in the address fill it in.
pub async fn new(visit: &Visit<'_>, place: &Place<'_>) -> Result<Answer> {
    if !visit.may(place.entry, Operation::Create) {
        return Err(Error::PermissionMissing(String::new()));
    }
    let mut record = sent::defaults(visit, place.entry);
    for Pair { name, value } in visit.asked.pairs()? {
        record.insert(name, Value::String(value));
    }
    let form = Form::of(visit, place, Value::Object(record), None).await?;
    Ok(form.answer(StatusCode::OK))
}

/// The form of a record that is there.
pub async fn edit(visit: &Visit<'_>, place: &Place<'_>) -> Result<Answer> {
    let reply = visit.get(&place.path()).await?;
    let record = reply.json()?[place.entry.meta.name].clone();
    let version = reply.etag().map(String::from);
    let form = Form { version, ..Form::of(visit, place, record, None).await? };
    if !visit.may(place.entry, Operation::Update) && !place.entry.meta.singleton {
        return Err(Error::PermissionMissing(String::new()));
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
    let hidden = |name: &str| form.iter().find(|pair| pair.name == name).map(|pair| pair.value.as_str());
    let version = hidden("_version").filter(|version| !version.is_empty());
    let key = hidden("_key").filter(|key| !key.is_empty());
    let mut headers: Vec<(&str, &str)> = version.map(|version| (header::IF_MATCH, version)).into_iter().collect();
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
        let back = hidden("_back").filter(|back| is_ours(back));
        let said = if is_new { Said::Created } else { Said::Saved };
        let shown = view_form::shown_at(&visit.state.catalog, entry, &saved).unwrap_or_else(|| place.path());
        return Ok(said.at(back.unwrap_or(&shown)));
    }
    record.extend(listed);
    let mut shown = Form::of(visit, place, Value::Object(record), None).await?;
    shown.version = version.map(String::from);
    match reply.status.as_u16() {
        412 => {
            // Who was faster is shown; to save again is to write over it.
            let now = visit.get(path).await?;
            let record = &now.json()?[entry.meta.name];
            shown.notice = Some(difference::told(visit, entry, &shown.definitions, record, &shown.record).await?);
            shown.version = now.etag().map(String::from);
        }
        400..=499 if reply.status.as_u16() != 404 => shown.problem = Some(reply.problem()),
        _ => return Err(reply.error()),
    }
    Ok(shown.answer(reply.status))
}

/// The form filled in with what was sent, which is not saved yet.
pub async fn again(
    visit: &Visit<'_>,
    place: &Place<'_>,
    form: &[Pair],
    notice: Option<Markup>,
    status: StatusCode,
) -> Result<Answer> {
    let definitions = definitions(visit, place.entry).await?;
    let (mut record, listed) = read(visit, place, &definitions, form).await?;
    record.extend(listed);
    let mut shown = Form::of(visit, place, Value::Object(record), view_form::asked_again(form)).await?;
    shown.version = form.iter().find(|pair| pair.name == "_version").map(|pair| pair.value.clone());
    shown.notice = notice;
    Ok(shown.answer(status))
}

/// What a form is, read.
type Read = (Map<String, Value>, Option<(String, Value)>);

/// The record that a form sends, and what a form of a saved view needs to know of it beside.
async fn read(visit: &Visit<'_>, place: &Place<'_>, definitions: &[Definition], form: &[Pair]) -> Result<Read> {
    let (form, view) = view_form::read(visit, place.entry, form).await?;
    let (catalog, fields) = (&visit.state.catalog, place.entry.meta.fields);
    let mut record = sent::read(catalog, fields, definitions, visit.zone, &form, place.is_list())?;
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
        let mut titles = Titles::load(visit, &fields, &[sent::numbered(&fields, &record)]).await?;
        for field in &fields {
            if let (Kind::Embedded { resource, .. }, Some(rows)) = (field.kind, record[field.name].as_array()) {
                let inner: Vec<&'static FieldMeta> = visit.state.catalog.get(resource).meta.fields.iter().collect();
                let rows: Vec<Value> = rows.iter().map(|row| sent::numbered(&inner, row)).collect();
                titles.extend(Titles::load(visit, &inner, &rows).await?);
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
        let mut trail = Vec::new();
        if let Some((parent, id)) = place.parent {
            trail.push((format!("/{}/{id}", parent.meta.path), format!("{} {id}", parent.meta.label)));
        }
        if !entry.meta.singleton {
            trail.push((place.collection(), words::plural(entry.meta)));
        }
        let action = if is_new { place.collection() } else { place.path() };
        let read_only = !is_new && !self.visit.may(entry, Operation::Update);
        let content = html! {
            (page::head(&trail, &html! { (title) }, &html! {}))
            @if let Some(notice) = &self.notice { div .notice role="alert" { (notice) } }
            @if let Some(problem) = &self.problem { (self.summary(problem)) }
            form .record method="post" action=(action) data-form novalidate {
                (page::token(self.visit))
                input type="hidden" name="_version" value=(self.version.as_deref().unwrap_or_default());
                @if is_new { input type="hidden" name="_key" value=(self.key); }
                @for (group, fields) in words::grouped(entry.meta.fields.iter().filter(|field| sent::is_given(place, field))) {
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
                        @if !entry.meta.singleton { a .button href=(if is_new { place.collection() } else { place.path() }) { "Cancel" } }
                    }
                }
            }
        };
        page::with_status(self.visit, status, &title, &content)
    }

    /// Problems that stand at no field.
    fn summary(&self, problem: &Problem) -> Markup {
        let shown = |name: &str| {
            let first = name.split('.').next().unwrap_or_default();
            self.place.entry.meta.fields.iter().any(|field| field.name == first && sent::is_given(self.place, field))
        };
        let called = |name: &str| self.place.entry.field(name).map_or_else(|| words::label(name), words::field);
        let others: Vec<_> = problem.errors.iter().filter(|(name, _)| !shown(name)).collect();
        html! {
            div .problem role="alert" tabindex="-1" data-focus {
                @if problem.errors.is_empty() { p { (problem.message) } } @else { p { strong { "It was not saved: something is not right yet." } } }
                ul {
                    @for (name, said) in &problem.errors {
                        @if shown(name) { li { a href={ "#" (id_of(name)) } { (called(name)) } " " (said.join("; ")) } }
                    }
                    @for (name, said) in others { li { (called(name)) " " (said.join("; ")) } }
                }
            }
        }
    }

    fn said(&self, name: &str) -> Vec<String> {
        self.problem.as_ref().and_then(|problem| problem.errors.get(name)).cloned().unwrap_or_default()
    }

    fn field(&self, field: &'static FieldMeta) -> Markup {
        if field.kind == Kind::CustomFields {
            return html! {};
        }
        if let Kind::Embedded { resource, by } = field.kind {
            return self.embedded(field, self.visit.state.catalog.get(resource), by);
        }
        if let Some(inputs) = self.view.as_ref().and_then(|view| view.field(field.name, &self.said(field.name))) {
            return inputs;
        }
        // What is never shown is kept where it is left out.
        let is_hidden = matches!(field.access, Access::WriteOnly | Access::Secret);
        let required = field.required && (self.place.is_list() || !is_hidden);
        let value = self.record.get(field.name).cloned().unwrap_or_default();
        let choices = choice::of_field(self.visit, self.place.entry, field);
        self.labelled(
            &words::field(field),
            words::help(field),
            field.name,
            field.kind,
            field,
            required,
            &value,
            choices,
        )
    }

    #[expect(clippy::too_many_arguments, reason = "a field of a form has as many sides")]
    fn labelled(
        &self,
        label: &str,
        help: &str,
        name: &str,
        kind: Kind,
        field: &'static FieldMeta,
        required: bool,
        value: &Value,
        choices: Option<Vec<choice::Choice>>,
    ) -> Markup {
        let problems = self.said(name);
        let (id, help_id, error_id) = (id_of(name), format!("{}-help", id_of(name)), format!("{}-error", id_of(name)));
        let mut described = Vec::new();
        if !help.is_empty() {
            described.push(help_id.clone());
        }
        if !problems.is_empty() {
            described.push(error_id.clone());
        }
        let given = Given {
            id: id.clone(),
            name: sent::bracketed(name),
            required,
            clearable: field.nullable && !required,
            value,
            choices,
            described: (!described.is_empty()).then(|| described.join(" ")),
            invalid: !problems.is_empty(),
            titles: &self.titles,
            search: input::places(self.visit, Some(field)),
            shown: self.polymorphic(field, value),
            // A row of many is made of inputs that take little room.
            widget: field.widget.filter(|_| !name.contains('.')),
        };
        let called = html! { (label) @if required { " " span .required title="Required" { "*" } } };
        let inner = html! {
            (input::of(self.visit, kind, field.rules, &given))
            @if !problems.is_empty() { p .error id=(error_id) { (label) " " (problems.join("; ")) } }
            @if !help.is_empty() { p .help id=(help_id) { (words::described(help)) } }
        };
        let invalid = !problems.is_empty();
        html! {
            @if given.is_radio() {
                fieldset .field.radio .invalid[invalid] aria-describedby=[&given.described] { legend #(id) tabindex="-1" { (called) } (inner) }
            } @else {
                div .field .invalid[invalid] .check[kind == Kind::Boolean] { label for=(id) { (called) } (inner) }
            }
        }
    }

    fn polymorphic(&self, field: &'static FieldMeta, value: &Value) -> Option<String> {
        let Kind::PolymorphicRef { type_field } = field.kind else { return None };
        let target = self.visit.state.catalog.by_type(self.record[type_field].as_str()?)?;
        let id = value.as_i64().or_else(|| value.as_str()?.parse().ok())?;
        self.titles.get(target.meta.name, id).map(String::from)
    }

    fn custom(&self, definition: &Definition) -> Markup {
        const PLAIN: &FieldMeta = &FieldMeta { nullable: true, ..FieldMeta::new("", Kind::Text) };
        let Some(kind) = CustomFieldType::from_name(&definition.field_type) else { return html! {} };
        let value = self.record["custom_fields"][definition.name.as_str()].clone();
        let choices = (!definition.choices.is_empty())
            .then(|| definition.choices.iter().map(|word| (word.clone(), word.clone())).collect());
        let (kind, name) = (kind.kind(), format!("custom_fields.{}", definition.name));
        // Three answers: yes, no, and none.
        let choices = choices
            .or_else(|| if kind == Kind::Boolean { choice::of_kind(&self.visit.state.catalog, kind) } else { None });
        let kind = if kind == Kind::Boolean { Kind::Enum { values: &[] } } else { kind };
        self.labelled(&definition.label, "", &name, kind, PLAIN, definition.required, &value, choices)
    }

    /// The records that belong in this one, a row each, and one more to be filled in.
    fn embedded(&self, field: &'static FieldMeta, target: &Entry, by: &str) -> Markup {
        let empty = Vec::new();
        let rows = self.record[field.name].as_array().unwrap_or(&empty);
        let given =
            |inner: &&'static FieldMeta| inner.name != by && inner.name != "id" && inner.access == Access::Writable;
        let inner: Vec<&'static FieldMeta> = target.meta.fields.iter().filter(given).collect();
        let blank = Value::Null;
        html! {
            fieldset data-rows {
                legend { (words::field(field)) }
                @for problem in self.said(field.name) { p .error { (words::field(field)) " " (problem) } }
                @for (index, row) in rows.iter().chain([&blank]).enumerate() {
                    @let place = format!("{}.{index}", field.name);
                    div .embedded data-embedded {
                        @if let Some(id) = row["id"].as_i64() { input type="hidden" name=(sent::bracketed(&format!("{place}.id"))) value=(id); }
                        @for field in &inner {
                            @let name = format!("{place}.{}", field.name);
                            @let value = row.get(field.name).cloned().unwrap_or_default();
                            @let choices = choice::of_field(self.visit, target, field);
                            (self.labelled(&words::field(field), "", &name, field.kind, field, field.required, &value, choices))
                        }
                        @if index < rows.len() { button type="button" .quiet data-remove-row { "Remove" } }
                    }
                }
            }
        }
    }
}

fn id_of(name: &str) -> String {
    format!("field-{}", name.replace('.', "-"))
}
