//! Bulk operations on selected records: edit a field, delete or restore, each with a preview, and export.

mod change;
mod edit_field;
mod job;
mod missing;
mod preview;

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use maud::{Markup, html};
use salvo::http::StatusCode;
use serde_json::{Value, json};

use crate::language::{message, text};
use crate::panel::confirmation::undo;
use crate::panel::display_name::DisplayNames;
use crate::panel::format::{labels, rule_words};
use crate::panel::list::{export, filter_form};
use crate::panel::record::protection;
use crate::panel::request::{PanelRequest, form_value, return_path};
use crate::panel::target::Target;
use crate::panel::{layout, redirect};
use crate::server::Response;
use change::Change;
use charter_core::error::{Error, Result};
use charter_core::ops::protection::Protection;
use charter_core::query::{Pair, decode};
use charter_model::reserved::EXPORT_PAGE;
use edit_field::EditableField;
use job::BulkJob;

/// Records that can be selected by their checkboxes: as many as the largest page has. A script selects them over pages.
pub(super) const MAX_SELECTED: usize = 100;

/// The name of the button that ends a job between two batches.
const STOP: &str = "_stop";

/// Handles a step: choose a field, enter its value, preview, apply.
pub(super) async fn handle(request: &PanelRequest<'_>, target: &Target<'_>, form: &[Pair]) -> Result<Response> {
    let sent = |name: &str| form_value(form, name);
    let back = return_path(form).map_or_else(|| target.collection(), String::from);
    let selection = match sent("_all") {
        Some(_) => {
            let query = sent("_query").unwrap_or_default();
            Selection::AllMatching(Box::new(BulkJob::start_or_resume(request, target, query, sent("_progress")).await?))
        }
        None => Selection::Ids(
            form.iter().filter(|pair| pair.name == "id").filter_map(|pair| pair.value.parse().ok()).collect(),
        ),
    };
    match &selection {
        Selection::Ids(ids) if ids.is_empty() => return Ok(redirect(&back)),
        Selection::Ids(ids) if ids.len() > MAX_SELECTED => {
            return Err(Error::Malformed(text!("Select at most {count} records.", count = MAX_SELECTED)));
        }
        _ => {}
    }
    let mut fields = edit_field::editable_fields(request, target).await?;
    let index = sent("_field").and_then(|name| fields.iter().position(|field| field.name() == name));
    let field = index.map(|index| fields.swap_remove(index));
    let is_stopped = sent(STOP).is_some();
    let mut bulk = BulkRequest { request, target, selection, missing: 0, return_path: &back, is_stopped };
    match (sent("_step").unwrap_or_default(), field) {
        ("export", _) => {
            Ok(bulk.page(&text!("Export {records}", records = bulk.count_label()), &bulk.export_form(sent("_query"))?))
        }
        ("delete", _) => bulk.preview_delete().await,
        ("restore", _) => bulk.preview_restore().await,
        ("edit", None) => Ok(bulk.page(&text!("Choose a field to change"), &bulk.field_form(&fields))),
        ("edit", Some(field)) => Ok(bulk.value_form(&field, &Value::Null, None)),
        ("preview", Some(field)) => bulk.preview_edit(&field, form).await,
        ("apply", Some(field)) => bulk.apply_edit(&field, form).await,
        ("apply-delete", _) => bulk.apply_delete().await,
        ("apply-restore", _) => bulk.apply_restore().await,
        _ => Err(Error::NotFound),
    }
}

/// The selected records.
pub(super) enum Selection {
    Ids(Vec<i64>),
    /// All records that match the conditions of the list.
    AllMatching(Box<BulkJob>),
}

/// A step of a bulk operation.
pub(super) struct BulkRequest<'b> {
    pub request: &'b PanelRequest<'b>,
    pub target: &'b Target<'b>,
    pub selection: Selection,
    /// Selected records that were left out, because they no longer exist.
    missing: i64,
    return_path: &'b str,
    /// True if the user ends a job between two batches.
    is_stopped: bool,
}

impl BulkRequest<'_> {
    pub(super) fn page(&self, title: &str, content: &Markup) -> Response {
        self.page_with_status(StatusCode::OK, title, content)
    }

    fn page_with_status(&self, status: StatusCode, title: &str, content: &Markup) -> Response {
        let entry = self.target.entry;
        let content = html! {
            (layout::header(&[(self.return_path.to_string(), labels::plural(entry.meta))], &html! { (title) }, &html! {}))
            (content)
        };
        layout::page_with_status(self.request, status, title, &content)
    }

    pub(super) fn cancel_link(&self) -> Markup {
        html! { a .button href=(self.return_path) { (text!("Cancel")) } }
    }

    /// Hidden inputs that every step passes to the next.
    pub(super) fn state_inputs(&self, step: &str) -> Markup {
        html! {
            (layout::csrf_input(self.request))
            input type="hidden" name="_back" value=(self.return_path);
            input type="hidden" name="_step" value=(step);
            @match &self.selection {
                Selection::Ids(ids) => { @for id in ids { input type="hidden" name="id" value=(id); } }
                Selection::AllMatching(job) => {
                    input type="hidden" name="_all" value="1";
                    input type="hidden" name="_query" value=(job.query);
                }
            }
        }
    }

    pub(super) fn action_path(&self) -> String {
        format!("{}/bulk", self.target.collection())
    }

    fn count(&self) -> i64 {
        match &self.selection {
            Selection::Ids(ids) => ids.len() as i64,
            Selection::AllMatching(job) => job.progress.total,
        }
    }

    pub(super) fn count_label(&self) -> String {
        self.request.locale.numbers.records(self.target.entry.meta, self.count())
    }

    /// The form of an export of the selected records, with the order and the columns of the list.
    fn export_form(&self, query: Option<&str>) -> Result<Markup> {
        let mut pairs = decode(query.unwrap_or_default())?;
        if let Selection::Ids(ids) = &self.selection {
            let value = ids.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
            pairs.push(Pair { name: export::IDS.into(), value });
        }
        Ok(html! {
            form .record method="get" action={ (self.target.collection()) "/" (EXPORT_PAGE) } {
                (filter_form::hidden_inputs(&pairs))
                (export::inputs())
                (self.cancel_link())
            }
        })
    }

    fn field_form(&self, fields: &[EditableField]) -> Markup {
        let option = |field: &EditableField| html! { option value=(field.name()) { (field.label()) } };
        html! {
            form .record method="post" action=(self.action_path()) {
                (self.state_inputs("edit"))
                div .field { label for="_field" { (text!("Field to change in {records}", records = self.count_label())) }
                    select #_field name="_field" {
                        @for field in fields.iter().filter(|field| field.declared().is_some()) { (option(field)) }
                        @if fields.iter().any(|field| field.declared().is_none()) {
                            optgroup label=(text!("Custom fields")) { @for field in fields.iter().filter(|field| field.declared().is_none()) { (option(field)) } }
                        }
                    } }
                div .buttons { button .primary { (text!("Next")) } (self.cancel_link()) }
            }
        }
    }

    /// The page with the input of the new value, and the error if the entered value is invalid.
    pub(super) fn value_form(&self, field: &EditableField, value: &Value, problem: Option<&str>) -> Response {
        let label = field.label();
        let content = html! {
            form .record method="post" action=(self.action_path()) novalidate {
                (self.state_inputs("preview"))
                input type="hidden" name="_field" value=(field.name());
                div .field .invalid[problem.is_some()] { label for="value" { (label) }
                    (field.render_input(self.request, self.target, value, problem.is_some()))
                    @if let Some(message) = problem { p .error #value-error { (message) } }
                    p .help {
                        (text!("The new value for {records}.", records = self.count_label()))
                        @if field.is_clearable() { " " (text!("Leave the field empty to clear it.")) }
                    } }
                div .buttons { button .primary { (text!("Preview")) } (self.cancel_link()) }
            }
        };
        let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
        self.page_with_status(status, &text!("Change {field}", field = label), &content)
    }

    /// The button that undoes these requests, if what they did to `count` records can be undone.
    fn undo_button(&self, change: Change, requests: (&[String], DateTime<Utc>), count: i64) -> Result<Markup> {
        let offer = match change.can_be_undone(self.target.entry.meta) {
            true => undo::seal(self.request, self.target, requests, count, "")?,
            false => None,
        };
        Ok(html! { @if let Some(offer) = offer { (undo::button(self.request, &offer, self.return_path)) } })
    }

    /// The progress of a job, with which the next batch starts.
    pub(super) fn progress_input(&self) -> Markup {
        match &self.selection {
            Selection::Ids(_) => html! {},
            Selection::AllMatching(job) => html! { input type="hidden" name="_progress" value=(json!(job.progress)); },
        }
    }

    async fn apply_edit(&mut self, field: &EditableField, form: &[Pair]) -> Result<Response> {
        let (patch, name) = (field.patch(field.decode(self.request, self.target, form)?), self.target.entry.meta.name);
        let operation = |id: i64| json!({ "method": "update", "id": id, name: patch });
        self.apply(operation, Change::Changed, "apply", field.value_inputs(form)).await
    }

    async fn apply_delete(&mut self) -> Result<Response> {
        let operation = |id: i64| json!({ "method": "delete", "id": id });
        self.apply(operation, Change::Deleted, "apply-delete", html! {}).await
    }

    async fn apply_restore(&mut self) -> Result<Response> {
        let operation = |id: i64| json!({ "method": "restore", "id": id });
        self.apply(operation, Change::Restored, "apply-restore", html! {}).await
    }

    async fn apply(
        &mut self,
        operation: impl Fn(i64) -> Value,
        change: Change,
        step: &str,
        value_inputs: Markup,
    ) -> Result<Response> {
        self.leave_out_missing(change).await?;
        let ids = match &mut self.selection {
            Selection::Ids(ids) if ids.is_empty() => return Ok(self.nothing_left_page(change)),
            Selection::Ids(ids) => ids.clone(),
            // The records that are done stay done, and can be undone.
            Selection::AllMatching(_) if self.is_stopped => {
                return self.progress_page(Ok(()), change, step, &value_inputs);
            }
            Selection::AllMatching(job) => {
                let outcome = job.run_batch(self.request, self.target, operation).await;
                return self.progress_page(outcome, change, step, &value_inputs);
            }
        };
        let operations: Vec<Value> = ids.iter().map(|id| operation(*id)).collect();
        let (body, since) = (json!({ "operations": operations }), undo::now(self.request));
        let response = self.request.send("POST", &self.action_path(), &[], Some(&body)).await?;
        if response.is_success() {
            let content = html! {
                div .notice role="status" {
                    p { (change.done(&self.count_label(), self.count())) }
                    (self.missing_sentence(change))
                    (self.undo_button(change, (self.request.raw.request_id.as_slice(), since), self.count())?)
                }
                p { a .button.primary href=(self.return_path) { (text!("Back to the list")) } }
            };
            return Ok(self.page(&text!("Done"), &content));
        }
        if response.status.as_u16() == 403 {
            return Err(response.error());
        }
        let problem = response.problem();
        let record = |name: &str| {
            let index: Option<usize> = name.strip_prefix("operations.")?.split('.').next()?.parse().ok();
            index.and_then(|index| ids.get(index)).copied()
        };
        let entry = self.target.entry;
        let refused: BTreeSet<i64> = problem.errors.keys().filter_map(|name| record(name)).collect();
        let names = DisplayNames::load_for_ids(self.request, entry, &refused).await?;
        let protections = protection::of_records(self.request, entry, refused).await?;
        let reason = |id: Option<i64>, messages: &[String]| match id.and_then(|id| protections.get(&id)) {
            Some(Protection::Frozen(condition)) => rule_words::because_frozen(entry.meta, condition),
            _ => labels::messages(messages),
        };
        let content = html! {
            div .problem role="alert" {
                p { strong { (text!("Nothing was changed.")) } @if problem.errors.is_empty() { " " (message(&problem.message)) } }
                ul { @for (name, messages) in &problem.errors {
                    @let id = record(name);
                    li { @if let Some(id) = id { a href=(self.target.record(id).path()) { (names.get_or_unnamed(entry.meta, id)) } ": " } (reason(id, messages)) }
                } }
            }
            p { a .button href=(self.return_path) { (text!("Back to the list")) } }
        };
        Ok(self.page(&text!("Nothing was changed"), &content))
    }
}

impl BulkRequest<'_> {
    /// The page after a batch. A script submits its form for the next batch; without scripts the user presses the
    /// button.
    fn progress_page(
        &self,
        outcome: Result<()>,
        change: Change,
        step: &str,
        value_inputs: &Markup,
    ) -> Result<Response> {
        let Selection::AllMatching(job) = &self.selection else { return Err(Error::NotFound) };
        let progress = &job.progress;
        let error = match outcome {
            Err(error @ (Error::Forbidden(_) | Error::NotFound)) => return Err(error),
            Err(error) => Some(error.message(self.request.raw.request_id.as_deref().unwrap_or("-"))),
            Ok(()) => None,
        };
        let processed = progress.succeeded + progress.rejected;
        if progress.has_view_changed {
            return Ok(self.page(&text!("The view has changed"), &self.view_changed_notice(change)));
        }
        let has_ended = progress.is_finished || self.is_stopped;
        let continues = error.is_none() && !has_ended;
        let title = if progress.is_finished {
            text!("Done")
        } else if self.is_stopped {
            text!("Stopped")
        } else {
            let done = self.request.locale.numbers.count(processed);
            text!("{done} of {records}", done = done, records = self.count_label())
        };
        let content = html! {
            @if !has_ended { progress max=(progress.total) value=(processed) aria-label=(text!("Progress")) {} }
            @if let Some(error) = &error { div .problem role="alert" { p { strong { (text!("The operation was interrupted:")) " " } (message(error)) } } }
            (progress.summary(&self.request.locale.numbers, self.target, change))
            @if has_ended { (self.undo_button(change, progress.requests(), progress.succeeded)?) }
            @if has_ended { p { a .button.primary href=(self.return_path) { (text!("Back to the list")) } } } @else {
                form method="post" action=(self.action_path()) data-continue[continues] {
                    (self.state_inputs(step))
                    (self.progress_input())
                    (value_inputs)
                    div .buttons { button .primary { (text!("Continue")) } button name=(STOP) value="1" data-stopping=(text!("The operation stops after this batch.")) { (text!("Stop")) } }
                }
            }
        };
        Ok(self.page(&title, &content))
    }
}

impl BulkRequest<'_> {
    /// The notice that the list's saved view changed after the preview.
    fn view_changed_notice(&self, change: Change) -> Markup {
        let Selection::AllMatching(job) = &self.selection else { return html! {} };
        html! {
            div .problem role="alert" {
                p {
                    strong { (text!("Somebody changed the view, or its first record, after the preview.")) }
                    " " (text!("The remaining records were left unchanged."))
                }
            }
            (job.progress.summary(&self.request.locale.numbers, self.target, change))
            p { a .button.primary href=(self.return_path) { (text!("Reload the list")) } }
        }
    }
}
