//! Preview of a bulk operation: the records, the old and new values, and what is atomic.

use maud::{Markup, html};
use serde_json::Value;

use super::edit_field::EditableField;
use super::{BulkRequest, Selection};
use crate::panel::display_name::{self, DisplayNames};
use crate::panel::list::trash;
use crate::panel::{confirmation, fetch_many, layout};
use crate::server::Response;
use charter_core::error::Result;
use charter_core::meta::{FieldMeta, Operation};
use charter_core::ops::consequences::{DELETE, consequences};
use charter_core::query::Pair;

impl BulkRequest<'_> {
    /// The selected records, of a job only a sample. `parameters` is appended to the query string.
    async fn load_records(&self, parameters: &str) -> Result<Vec<Value>> {
        let ids = match &self.selection {
            Selection::Ids(ids) => ids,
            Selection::AllMatching(job) => return Ok(job.sample.clone()),
        };
        let entry = self.target.entry;
        let responses = fetch_many::fetch(self.request, entry, &self.target.collection(), ids, parameters).await?;
        let records =
            responses.iter().map(|response| fetch_many::records(entry, response)).collect::<Result<Vec<_>>>()?;
        Ok(records.into_iter().flatten().collect())
    }

    pub(crate) async fn preview_delete(&self) -> Result<Response> {
        if !self.request.may(self.target.entry, Operation::Delete) {
            return Err(layout::not_permitted());
        }
        let records = self.load_records("").await?;
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
        let button = format!("Delete {}{}", self.count_label(), if entry.meta.soft_delete { "" } else { " for good" });
        let content = html! {
            div .notice {
                @if is_forbidden { p { strong { (self.request.locale.numbers.records(entry.meta, found)) " cannot be deleted." } } } @else {
                    p { strong { (self.request.locale.numbers.records(entry.meta, found)) " will be deleted" } (self.atomicity_note(found))
                        @if !entry.meta.soft_delete { " This cannot be undone." } }
                }
                (confirmation::render(self.request, (entry, only), &consequences))
                @if is_forbidden { p { "Change or delete them first." } }
                @if some_stay { p { "Records that others refer to stay, and the result says which." } }
            }
            (self.render_conditions().await?)
            (self.name_list(&records))
            form method="post" action=(self.action_path()) {
                (self.state_inputs("apply-delete"))
                (self.progress_input())
                div .buttons { @if !is_forbidden { button .danger { (button) } } (self.cancel_link()) }
            }
        };
        Ok(self.page(&format!("Delete {}?", self.count_label()), &content))
    }

    pub(crate) async fn preview_restore(&self) -> Result<Response> {
        if !trash::may_view(self.request, self.target.entry) {
            return Err(layout::not_permitted());
        }
        let records = self.load_records(trash::QUERY_PARAMETER).await?;
        let (entry, found) = (self.target.entry, self.count_found(&records));
        let content = html! {
            div .notice { p { strong { (self.request.locale.numbers.records(entry.meta, found)) " will be restored" } (self.atomicity_note(found))
                @if found == 1 { " It appears in all lists again." } @else { " They appear in all lists again." } } }
            (self.render_conditions().await?)
            (self.name_list(&records))
            form method="post" action=(self.action_path()) {
                (self.state_inputs("apply-restore"))
                (self.progress_input())
                div .buttons { button .primary { "Restore " (self.count_label()) } (self.cancel_link()) }
            }
        };
        Ok(self.page(&format!("Restore {}?", self.count_label()), &content))
    }

    fn name_list(&self, records: &[Value]) -> Markup {
        html! { ul .card .names { @for record in records { li { (display_name::of(self.target.entry, record)) } } @if let Some(more) = self.more_label(records) { li { (more) } } } }
    }

    pub(crate) async fn preview_edit(&self, field: &EditableField, form: &[Pair]) -> Result<Response> {
        let entry = self.target.entry;
        if !self.request.may(entry, Operation::Update) {
            return Err(layout::not_permitted());
        }
        let value = field.decode(self.request, self.target, form)?;
        let new = match field.validate(self.request, self.target, &value) {
            Ok(new) => field.patch(new),
            Err(problem) => return Ok(self.value_form(field, &value, Some(&problem))),
        };
        let records = self.load_records("").await?;
        let fields: Vec<&'static FieldMeta> = field.declared().into_iter().collect();
        let mut display_names = DisplayNames::load_for_fields(self.request, entry, &fields, &records).await?;
        display_names
            .extend(DisplayNames::load_for_fields(self.request, entry, &fields, std::slice::from_ref(&new)).await?);
        let found = self.count_found(&records);
        let shown = |record: &Value| field.render_value(self.request, self.target, record, &display_names);
        let content = html! {
            div .notice { p { strong { (self.request.locale.numbers.records(entry.meta, found)) " will be changed" } (self.atomicity_note(found)) } }
            (self.render_conditions().await?)
            div .card.scroll tabindex="0" role="region" aria-label="Preview" { table {
                thead { tr { th scope="col" { (entry.meta.label) } th scope="col" { "Current" } th scope="col" { "New" } } }
                tbody { @for record in &records { tr { td { (display_name::of(entry, record)) } td { (shown(record)) } td { strong { (shown(&new)) } } } } }
            } }
            @if let Some(more) = self.more_label(&records) { p { (more) } }
            form method="post" action=(self.action_path()) {
                (self.state_inputs("apply"))
                (self.progress_input())
                (field.value_inputs(form))
                div .buttons { button .primary { "Change " (self.count_label()) } (self.cancel_link()) }
            }
        };
        Ok(self.page(&format!("Change {} of {}?", field.label(), self.count_label()), &content))
    }

    /// The number of selected records that exist.
    fn count_found(&self, records: &[Value]) -> i64 {
        match &self.selection {
            Selection::Ids(_) => records.len() as i64,
            Selection::AllMatching(job) => job.progress.total,
        }
    }

    fn atomicity_note(&self, found: i64) -> &'static str {
        match &self.selection {
            Selection::Ids(_) if found == 1 => ".",
            Selection::Ids(_) => ", all or none of them.",
            Selection::AllMatching(_) => {
                ", in batches of 100. Each record is processed on its own: a rejected record stays unchanged, and stopping does not undo \
                 the records that are done. Records created after this preview are not affected."
            }
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
        (more > 0).then(|| format!("and {} more", self.request.locale.numbers.count(more)))
    }
}
