//! Bulk operation on all records that match a list's conditions, in batches, up to the last record at the start.

use chrono::{DateTime, Utc};
use maud::{Markup, html};
use salvo::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::change::{self, Change};
use crate::language::{html_text, message, text};
use crate::panel::confirmation::undo;
use crate::panel::display_name::{self, DisplayNames};
use crate::panel::format::labels;
use crate::panel::format::money::NumberFormat;
use crate::panel::format::rule_words;
use crate::panel::list::params::ListParams;
use crate::panel::list::{filter_form, related_columns};
use crate::panel::request::PanelRequest;
use crate::panel::target::Target;
use crate::panel::url;
use charter_core::error::{Error, Result};
use charter_core::meta::ResourceMeta;
use charter_core::ops::consequences::MAX_COUNTED;
use charter_core::query::{Pair, decode};

/// Records in a batch, which is one request and one transaction: the API's largest page.
const BATCH_RECORDS: usize = 100;
/// Limit of the operations in a batch, in bytes: well below the API's body limit.
const MAX_BATCH_BYTES: usize = 400_000;
/// Records in the preview.
const PREVIEW_RECORDS: usize = 20;
/// Distinct reasons for rejected records that are kept, and the length of each.
const MAX_REASONS: usize = 10;
const MAX_REASON_CHARS: usize = 200;

#[derive(Debug)]
pub(crate) struct BulkJob {
    /// The query string of the list.
    pub query: String,
    params: ListParams,
    /// The records of the preview; empty in a running job.
    pub sample: Vec<Value>,
    pub progress: Progress,
}

/// The state that one page passes to the next, as JSON in a hidden input.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// Matching records at the start.
    pub total: i64,
    /// The greatest id at the start. Records created later are skipped.
    last_id: i64,
    /// The API's cursor after the finished batches; empty at the start.
    cursor: String,
    pub succeeded: i64,
    pub rejected: i64,
    /// Why records were rejected: the reason, the number of records, and the first one.
    pub reasons: Vec<(String, i64, i64)>,
    /// The ids of the requests of the finished batches, and when the first one began, in seconds since 1970.
    #[serde(default)]
    requests: Vec<String>,
    #[serde(default)]
    since: i64,
    /// The conditions of the saved view at the start.
    view_conditions: Value,
    /// The first record of the saved view at the start, and the cursor after it. The cursor detects conditions with
    /// another meaning, because their custom field was replaced.
    view_start: Value,
    /// True if the saved view changed after the preview, which ends the job.
    #[serde(skip)]
    pub has_view_changed: bool,
    #[serde(skip)]
    pub is_finished: bool,
}

impl BulkJob {
    /// Starts a job by counting the records of a list, or resumes it from its progress.
    ///
    /// # Errors
    /// Those of the list, and [`Error::Malformed`].
    pub(crate) async fn start_or_resume(
        request: &PanelRequest<'_>,
        target: &Target<'_>,
        query: &str,
        progress: Option<&str>,
    ) -> Result<BulkJob> {
        let columns = related_columns::load(request, target.entry).await?;
        let params = ListParams::parse(decode(query)?, &columns, request.locale.zone)?;
        let mut job = BulkJob { query: query.into(), params, sample: Vec::new(), progress: Progress::default() };
        if let Some(text) = progress {
            let invalid = |_| Error::Malformed(text!("The form is invalid. Start again from the list."));
            job.progress = serde_json::from_str(text).map_err(invalid)?;
            return Ok(job);
        }
        job.progress.view_conditions = job.view_conditions(request).await?;
        job.progress.view_start = job.view_start(request, target).await?;
        let body =
            request.get_json(&job.list_path(target, "-id", &[("per_page", &PREVIEW_RECORDS.to_string())])).await?;
        job.sample = body[target.entry.meta.plural].as_array().cloned().unwrap_or_default();
        job.progress.total = body["meta"]["total"].as_i64().unwrap_or_default();
        // Records created later have a greater id. The form must not tell of records that the user does not see.
        job.progress.last_id = job.sample.first().and_then(|record| record["id"].as_i64()).unwrap_or_default();
        Ok(job)
    }

    /// The ids of all matching records; none if there are more than counts go to.
    ///
    /// # Errors
    /// Those of the list.
    pub(crate) async fn ids(&self, request: &PanelRequest<'_>, target: &Target<'_>) -> Result<Vec<i64>> {
        let (mut ids, mut cursor) = (Vec::new(), String::new());
        if self.progress.total > MAX_COUNTED {
            return Ok(ids);
        }
        let size = BATCH_RECORDS.to_string();
        loop {
            let parameters = [("fields", "id"), ("per_page", size.as_str()), ("cursor", cursor.as_str())];
            let body = request.get_json(&self.list_path(target, "id", &parameters)).await?;
            let found = body[target.entry.meta.plural].as_array().into_iter().flatten();
            ids.extend(found.filter_map(|record| record["id"].as_i64()));
            match body["meta"]["next_cursor"].as_str() {
                Some(next) if ids.len() <= MAX_COUNTED as usize => cursor = next.to_string(),
                _ => return Ok(ids),
            }
        }
    }

    /// The path of the API's list with a sort order and further parameters.
    fn list_path(&self, target: &Target<'_>, sort: &str, parameters: &[(&str, &str)]) -> String {
        let (sort, page, per_page, columns) = (Some(sort.to_string()), None, None, None);
        let mut params = ListParams { sort, page, per_page, columns, shows_totals: false, ..self.params.clone() };
        params.passthrough.retain(|pair| !["include", "include[]", "count"].contains(&pair.name.as_str()));
        let mut pairs = params.pairs();
        pairs.extend(parameters.iter().map(|(name, value)| Pair { name: (*name).into(), value: (*value).into() }));
        url::with_query(&target.collection(), &pairs)
    }

    /// The current conditions of the list's saved view; null without a view.
    async fn view_conditions(&self, request: &PanelRequest<'_>) -> Result<Value> {
        let Some(id) = self.params.view_id else { return Ok(Value::Null) };
        let response = request.get(&format!("/custom_views/{id}")).await?;
        if response.status == StatusCode::NOT_FOUND {
            return Ok(Value::Null);
        }
        Ok(response.json()?["custom_view"]["filters"].take())
    }

    /// The current first record of the list's saved view and the cursor after it; null without a view, and if the view
    /// cannot be applied.
    async fn view_start(&self, request: &PanelRequest<'_>, target: &Target<'_>) -> Result<Value> {
        if self.params.view_id.is_none() {
            return Ok(Value::Null);
        }
        let parameters = [("fields", "id"), ("per_page", "1"), ("cursor", "")];
        let response = request.get(&self.list_path(target, "id", &parameters)).await?;
        if response.status == StatusCode::UNPROCESSABLE_ENTITY {
            return Ok(Value::Null);
        }
        let body = response.json()?;
        Ok(json!([body[target.entry.meta.plural][0]["id"], body["meta"]["next_cursor"]]))
    }

    /// The conditions in words.
    pub(crate) async fn render_conditions(&self, request: &PanelRequest<'_>, target: &Target<'_>) -> Result<Markup> {
        let columns = related_columns::load(request, target.entry).await?;
        let display_names = DisplayNames::load_for_filters(request, &self.params.rows, &columns).await?;
        Ok(html! {
            @if !self.params.rows.is_empty() || self.params.search.is_some() || self.params.view_id.is_some() || self.params.raw_conditions().next().is_some() {
                ul .chips aria-label=(text!("Conditions")) {
                    @if self.params.view_id.is_some() { li { (text!("Conditions of the view")) } }
                    @for condition in filter_form::describe_all(request, &self.params.rows, &columns, &display_names) { li { (condition) } }
                    @for pair in self.params.raw_conditions() { li { code { (pair.name) "=" (pair.value) } } }
                    @if let Some(text) = &self.params.search { li { (text!("Search: “{words}”", words = text)) } }
                }
            }
        })
    }

    /// Runs the next batch. Each operation succeeds or fails on its own.
    ///
    /// # Errors
    /// When the whole batch fails. The progress stays unchanged.
    pub(crate) async fn run_batch(
        &mut self,
        request: &PanelRequest<'_>,
        target: &Target<'_>,
        operation: impl Fn(i64) -> Value,
    ) -> Result<()> {
        let size = (MAX_BATCH_BYTES / operation(i64::MAX).to_string().len()).clamp(1, BATCH_RECORDS).to_string();
        let parameters = [("fields", "id"), ("per_page", size.as_str()), ("cursor", &self.progress.cursor)];
        let page = request.get_json(&self.list_path(target, "id", &parameters)).await;
        // Checked after the records were read, so that they belong to the original conditions. The API rejects a cursor
        // of other conditions.
        let is_first = self.progress.cursor.is_empty();
        if self.view_conditions(request).await? != self.progress.view_conditions
            || is_first && self.view_start(request, target).await? != self.progress.view_start
        {
            self.progress.has_view_changed = true;
            return Ok(());
        }
        let body = page?;
        let found = body[target.entry.meta.plural].as_array().into_iter().flatten();
        let found: Vec<i64> = found.filter_map(|record| record["id"].as_i64()).collect();
        let ids: Vec<i64> = found.iter().copied().filter(|id| *id <= self.progress.last_id).collect();
        if !ids.is_empty() {
            if self.progress.requests.is_empty() {
                self.progress.since = undo::now(request).timestamp();
            }
            // More of them cannot be undone together.
            if self.progress.requests.len() <= undo::MAX_REQUESTS {
                self.progress.requests.extend(request.raw.request_id.clone());
            }
            let operations: Vec<Value> = ids.iter().map(|id| operation(*id)).collect();
            let body = json!({ "atomic": false, "operations": operations });
            let response = request.send("POST", &format!("{}/bulk", target.collection()), &[], Some(&body)).await?;
            let response = response.json()?;
            let results = response["results"].as_array().map_or(&[][..], Vec::as_slice);
            for (id, result) in ids.iter().zip(results) {
                match result["status"].as_u64() {
                    Some(200..300) => self.progress.succeeded += 1,
                    _ => self.progress.record_rejection(*id, rejection_reason(target.entry.meta, &result["error"])),
                }
            }
        }
        let next = body["meta"]["next_cursor"].as_str();
        self.progress.is_finished = next.is_none() || ids.len() < found.len();
        self.progress.cursor = next.unwrap_or_default().to_string();
        Ok(())
    }
}

impl Progress {
    fn record_rejection(&mut self, id: i64, reason: String) {
        self.rejected += 1;
        let has_room = self.reasons.len() < MAX_REASONS;
        match self.reasons.iter_mut().find(|(known, ..)| *known == reason) {
            Some((_, count, _)) => *count += 1,
            None if has_room => self.reasons.push((reason, 1, id)),
            None => {}
        }
    }

    /// The requests of the job, and when the first one began.
    pub(crate) fn requests(&self) -> (&[String], DateTime<Utc>) {
        (&self.requests, DateTime::from_timestamp(self.since, 0).unwrap_or_default())
    }

    /// The result so far.
    pub(super) fn summary(&self, numbers: &NumberFormat, target: &Target<'_>, change: Change) -> Markup {
        let skipped = self.total - self.succeeded - self.rejected;
        let meta = target.entry.meta;
        html! {
            div .notice role="status" {
                p { (change.done(&numbers.records(meta, self.succeeded), self.succeeded)) }
                @if self.is_finished && skipped > 0 {
                    p { (change::skipped(numbers, meta, skipped)) }
                }
            }
            @if self.rejected > 0 {
                div .problem role="alert" {
                    p { strong { (change::rejected(numbers, meta, self.rejected)) } }
                    ul { @for (reason, count, first) in &self.reasons {
                        @let record = html! { a href=(target.record(*first).path()) { (display_name::unnamed(meta, *first)) } };
                        li { (html_text!("{reason}: {records}, first {record}", reason = reason, records = numbers.records(meta, *count), record = record)) }
                    } }
                    @if self.reasons.len() == MAX_REASONS { p { (text!("Only the first {count} reasons are listed.", count = MAX_REASONS)) } }
                }
            }
        }
    }
}

/// The error of an operation, in the words of the API.
fn rejection_reason(meta: &'static ResourceMeta, error: &Value) -> String {
    let problems = labels::field_problems(meta, &error["errors"]);
    let text = match problems.is_empty() {
        // The message names the record, so that each would have its own reason.
        true if error["code"] == "frozen" => {
            let because = meta.frozen.map(|frozen| rule_words::because_frozen(meta, frozen)).unwrap_or_default();
            because.trim_end_matches('.').to_string()
        }
        true => {
            let text = error["message"].as_str().map_or_else(|| text!("The request failed."), message);
            text.trim_end_matches('.').to_string()
        }
        false => problems.join("; "),
    };
    text.chars().take(MAX_REASON_CHARS).collect()
}
