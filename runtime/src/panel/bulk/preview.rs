//! Preview of a bulk operation: the records, the old and new values, and what is atomic.

use maud::{Markup, html};
use serde_json::Value;

use super::change::{self, Change};
use super::edit_field::EditableField;
use super::{BulkRequest, Selection};
use crate::language::{html_text, text};
use crate::panel::display_name::{self, DisplayNames};
use crate::panel::format::labels;
use crate::panel::list::trash;
use crate::panel::{confirmation, layout};
use crate::server::Response;
use charter_core::error::Result;
use charter_core::meta::{FieldMeta, Operation};
use charter_core::ops::consequences::{DELETE, consequences};
use charter_core::query::Pair;

impl BulkRequest<'_> {
    /// The selected records, of a job only a sample. `change` is the operation that follows: records that no longer
    /// exist are left out of the selection.
    async fn load_records(&mut self, change: Change) -> Result<Vec<Value>> {
        match &self.selection {
            Selection::Ids(_) => self.load_existing(change, "").await,
            Selection::AllMatching(job) => Ok(job.sample.clone()),
        }
    }

    pub(crate) async fn preview_delete(&mut self) -> Result<Response> {
        if !self.request.may(self.target.entry, Operation::Delete) {
            return Err(layout::not_permitted());
        }
        let records = self.load_records(Change::Deleted).await?;
        if self.is_empty() {
            return Ok(self.nothing_left_page(Change::Deleted));
        }
        let (entry, found) = (self.target.entry, self.count_found(&records));
        let ids: Vec<i64> = match &self.selection {
            Selection::Ids(_) => records.iter().filter_map(|record| record["id"].as_i64()).collect(),
            Selection::AllMatching(job) => job.ids(self.request, self.target).await?,
        };
        let mut consequences = consequences(&self.request.context(), entry, DELETE, &ids).await?;
        // Each record of a job is deleted on its own, and one that others refer to stays.
        let is_job = matches!(self.selection, Selection::AllMatching(_));
        let some_stay = is_job && (ids.is_empty() || confirmation::forbids(&consequences)) && !entry.meta.soft_delete;
        consequences.retain(|consequence| !is_job || !consequence.effect.forbids);
        let only = records.first().filter(|_| found == 1).and_then(|record| record["id"].as_i64());
        let is_forbidden = confirmation::forbids(&consequences);
        let button = match entry.meta.soft_delete {
            true => text!("Delete {records}", records = self.count_label()),
            false => text!("Delete {records} for good", records = self.count_label()),
        };
        let numbers = &self.request.locale.numbers;
        let content = html! {
            div .notice {
                @if is_forbidden { p { strong { (change::not_deletable(numbers, entry.meta, found)) } } } @else {
                    p { (self.plan(Change::Deleted, found))
                        @if !entry.meta.soft_delete { " " (text!("This cannot be undone.")) } }
                }
                (self.missing_sentence(Change::Deleted))
                (confirmation::render(self.request, (entry, only), &consequences))
                @if is_forbidden { p { (text!("Change or delete them first.")) } }
                @if some_stay { p { (text!("Records that others refer to stay, and the result says which.")) } }
            }
            (self.render_conditions().await?)
            (self.name_list(&records))
            form method="post" action=(self.action_path()) {
                (self.state_inputs("apply-delete"))
                (self.progress_input())
                div .buttons { @if !is_forbidden { button .danger { (button) } } (self.cancel_link()) }
            }
        };
        Ok(self.page(&text!("Delete {records}?", records = self.count_label()), &content))
    }

    pub(crate) async fn preview_restore(&mut self) -> Result<Response> {
        if !trash::may_view(self.request, self.target.entry) {
            return Err(layout::not_permitted());
        }
        let records = self.load_records(Change::Restored).await?;
        if self.is_empty() {
            return Ok(self.nothing_left_page(Change::Restored));
        }
        let found = self.count_found(&records);
        let content = html! {
            div .notice { p { (self.plan(Change::Restored, found)) " "
                @if found == 1 { (text!("It appears in all lists again.")) } @else { (text!("They appear in all lists again.")) } }
                (self.missing_sentence(Change::Restored)) }
            (self.render_conditions().await?)
            (self.name_list(&records))
            form method="post" action=(self.action_path()) {
                (self.state_inputs("apply-restore"))
                (self.progress_input())
                div .buttons { button .primary { (text!("Restore {records}", records = self.count_label())) } (self.cancel_link()) }
            }
        };
        Ok(self.page(&text!("Restore {records}?", records = self.count_label()), &content))
    }

    fn name_list(&self, records: &[Value]) -> Markup {
        html! { ul .card .names { @for record in records { li { (display_name::of(self.target.entry, record)) } } @if let Some(more) = self.more_label(records) { li { (more) } } } }
    }

    pub(crate) async fn preview_edit(&mut self, field: &EditableField, form: &[Pair]) -> Result<Response> {
        let entry = self.target.entry;
        if !self.request.may(entry, Operation::Update) {
            return Err(layout::not_permitted());
        }
        let value = field.decode(self.request, self.target, form)?;
        let new = match field.validate(self.request, self.target, &value) {
            Ok(new) => field.patch(new),
            Err(problem) => return Ok(self.value_form(field, &value, Some(&problem))),
        };
        let records = self.load_records(Change::Changed).await?;
        if self.is_empty() {
            return Ok(self.nothing_left_page(Change::Changed));
        }
        let fields: Vec<&'static FieldMeta> = field.declared().into_iter().collect();
        let mut display_names = DisplayNames::load_for_fields(self.request, entry, &fields, &records).await?;
        display_names
            .extend(DisplayNames::load_for_fields(self.request, entry, &fields, std::slice::from_ref(&new)).await?);
        let found = self.count_found(&records);
        let shown = |record: &Value| field.render_value(self.request, self.target, record, &display_names);
        let content = html! {
            div .notice { p { (self.plan(Change::Changed, found)) } (self.missing_sentence(Change::Changed)) }
            (self.render_conditions().await?)
            div .card.scroll tabindex="0" role="region" aria-label=(text!("Preview")) { table {
                thead { tr { th scope="col" { (labels::record(entry.meta)) } th scope="col" { (text!("Current")) } th scope="col" { (text!("New")) } } }
                tbody { @for record in &records { tr { td { (display_name::of(entry, record)) } td { (shown(record)) } td { strong { (shown(&new)) } } } } }
            } }
            @if let Some(more) = self.more_label(&records) { p { (more) } }
            form method="post" action=(self.action_path()) {
                (self.state_inputs("apply"))
                (self.progress_input())
                (field.value_inputs(form))
                div .buttons { button .primary { (text!("Change {records}", records = self.count_label())) } (self.cancel_link()) }
            }
        };
        let title = text!("Change {field} of {records}?", field = field.label(), records = self.count_label());
        Ok(self.page(&title, &content))
    }

    /// The number of selected records that exist.
    fn count_found(&self, records: &[Value]) -> i64 {
        match &self.selection {
            Selection::Ids(_) => records.len() as i64,
            Selection::AllMatching(job) => job.progress.total,
        }
    }

    /// The records that will be changed, and whether all of them are or none.
    fn plan(&self, change: Change, found: i64) -> Markup {
        let records = change.planned(&self.request.locale.numbers, self.target.entry.meta, found);
        let change = html! { strong { (records) } };
        match &self.selection {
            Selection::Ids(_) if found == 1 => html! { (change) "." },
            Selection::Ids(_) => html_text!("{change}, all or none of them.", change = change),
            Selection::AllMatching(_) => html! {
                (html_text!("{change}, in batches of 100.", change = change)) " "
                (text!("Each record is processed on its own: a rejected record stays unchanged, and stopping does not undo the records that are done."))
                " " (text!("Records created after this preview are not affected."))
            },
        }
    }

    async fn render_conditions(&self) -> Result<Markup> {
        match &self.selection {
            Selection::Ids(_) => Ok(html! {}),
            Selection::AllMatching(job) => job.render_conditions(self.request, self.target).await,
        }
    }

    fn more_label(&self, records: &[Value]) -> Option<String> {
        let more = self.count_found(records) - records.len() as i64;
        (more > 0).then(|| text!("and {count} more", count = self.request.locale.numbers.count(more)))
    }
}
